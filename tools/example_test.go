package tools_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

type Order struct {
	ID string `json:"id"`
}

func refund(_ context.Context, o Order) (string, error) { return "refunded " + o.ID, nil }

// denyVIP is a policy: it wraps every call.
func denyVIP(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if string(c.Args) == `{"id":"vip"}` {
			return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "ask a person first"}
		}
		return next.Call(ctx, c)
	})
}

func Example() {
	ctx := context.Background()
	set, err := tools.NewSet(ctx, tools.Func("refund", "Refund one order.", refund, nil))
	if err != nil {
		panic(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	for _, id := range []string{"a1", "vip"} {
		out, err := box.Run(ctx, sandbox.Program{
			Source: `await refund({id})`, Inputs: map[string]any{"id": id}, Tools: set.With(denyVIP),
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(out.Value), out.Calls[0].Error)
	}
	// Output:
	// "refunded a1" <nil>
	//  tool refund: ask a person first
}

// The host states what the tools of a server do. The server's own claims are not trusted.
func ExampleWithHints() {
	list := &tools.Tool{
		Namespace: "files", Name: "list",
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`[]`), nil },
	}
	set, err := tools.NewSet(context.Background(), tools.WithHints(list, func(t *tools.Tool) tools.Hints {
		if t.Name == "list" {
			return tools.Hints{Class: tools.Read}
		}
		return t.Hints
	}))
	if err != nil {
		panic(err)
	}
	fmt.Println(set.Bindings()[0].Path(), set.Bindings()[0].Hints.Class == tools.Read)
	// Output: files.list true
}
