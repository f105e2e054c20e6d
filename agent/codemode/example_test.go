package codemode_test

import (
	"context"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

type city struct {
	Name string `json:"name"`
}

func rain(_ context.Context, c city) (float64, error) {
	return map[string]float64{"Bergen": 12.5, "Oslo": 1.5, "Tromsø": 4}[c.Name], nil
}

// A service adds code mode over one function to its MCP server. A client's program calls the function
// three times in one call of execute_code.
func Example() {
	ctx := context.Background()
	set, err := tools.NewSet(ctx, tools.Func("rain", "Rain in mm today.", rain, &tools.Hints{Class: tools.Read}))
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	code, err := codemode.New(&codemode.Options{Tools: set, Sandbox: box})
	if err != nil {
		log.Fatal(err)
	}
	defer code.Close()
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, nil)
	if err := code.AddTo(server, serve.Principal{Name: "local"}); err != nil {
		log.Fatal(err)
	}

	result := call(ctx, server, "execute_code", map[string]any{"code": `
		const cities = ["Bergen", "Oslo", "Tromsø"];
		const rains = await Promise.all(cities.map(name => rain({name})));
		cities.filter((_, i) => rains[i] > 2)`})
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	result = call(ctx, server, "execute_code", map[string]any{"code": `await rain({town: "Bergen"})`})
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output:
	// ["Bergen","Tromsø"]
	// failed: INVALID_ARGUMENT
	//
	// line 1, column 7: rain: name is required; town is not a known property (known: name)
	// 1 | await rain({town: "Bergen"})
	//   |       ^
	// hint: it is declared as rain(args: {name: string})
}

// call calls a tool as an MCP client does.
func call(ctx context.Context, server *mcp.Server, tool string, args any) *mcp.CallToolResult {
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	result, err := client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		log.Fatal(err)
	}
	return result
}
