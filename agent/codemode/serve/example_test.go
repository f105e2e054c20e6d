package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
)

// A server whose clients have tokens and see only their own tools.
func Example() {
	known, err := serve.Tokens([]byte(`{"tokens": [
	  {"principal": "ada", "token": "ada-0123456789abcdefghij"},
	  {"principal": "bob", "token": "bob-0123456789abcdefghij", "tools": ["greet"]}
	]}`)) // or serve.TokenFile("tokens.json")
	if err != nil {
		log.Fatal(err)
	}
	queue := queue.New(nil) // fair between the clients

	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	add := func(name string, greet func(name string) string) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type": "object"}`)},
			func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				who, _ := serve.PrincipalOf(ctx)
				var text string
				if err := queue.Do(ctx, who.Name, func(context.Context) error {
					text = greet(who.Name)
					return nil
				}); err != nil {
					text = err.Error() // such as queue.ErrBusy
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
			})
	}
	add("greet", func(name string) string { return "Hello, " + name + "!" })
	add("dismiss", func(name string) string { return "Goodbye, " + name + "!" })
	newServer := func(serve.Principal) *mcp.Server { return server } // for all: each sees its own tools

	ctx, stop := context.WithCancel(context.Background())
	l, err := net.Listen("tcp", "127.0.0.1:0") // or Options.Addr
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error)
	go func() {
		served <- serve.Run(ctx, newServer, &serve.Options{Transport: serve.HTTP, Listener: l, Auth: known})
	}()

	for _, token := range []string{"ada-0123456789abcdefghij", "bob-0123456789abcdefghij"} {
		ask(ctx, "http://"+l.Addr().String()+"/mcp", token)
	}
	stop()
	fmt.Println(<-served)
	// Output:
	// 2 tools: Hello, ada!
	// 1 tools: Hello, bob!
	// <nil>
}

// A program that serves tools in its own http.Server, and authenticates clients itself.
func ExampleNewHandler() {
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "greet", InputSchema: json.RawMessage(`{"type": "object"}`)},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			who, _ := serve.PrincipalOf(ctx)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + who.Name + "!"}}}, nil
		})
	tools, err := serve.NewHandler(func(serve.Principal) *mcp.Server { return server }, nil)
	if err != nil {
		log.Fatal(err)
	}
	authenticated := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, ok := map[string]string{"Bearer adas-key": "ada"}[r.Header.Get("Authorization")]
		if !ok {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r.WithContext(serve.WithPrincipal(r.Context(), serve.Principal{Name: user})))
	})
	mux := http.NewServeMux()
	mux.Handle("/tools/", http.StripPrefix("/tools", authenticated))
	api := httptest.NewServer(mux)

	ask(context.Background(), api.URL+"/tools/mcp", "adas-key")

	fmt.Println(tools.Shutdown(context.Background()))
	api.Close() // or http.Server.Shutdown
	// Output:
	// 1 tools: Hello, ada!
	// <nil>
}

// ask calls a tool like any MCP client.
func ask(ctx context.Context, url, token string) {
	carrier := &http.Transport{}
	defer carrier.CloseIdleConnections()
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer{token, carrier}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	text, err := call(ctx, session, "greet")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d tools: %s\n", len(list.Tools), text)
}
