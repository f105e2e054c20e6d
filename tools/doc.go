// Package tools defines the functions that programs may call, and performs the calls.
//
//	package main
//
//	import (
//		"context"
//		"encoding/json"
//		"fmt"
//
//		"github.com/writ-go/writ/sandbox"
//		"github.com/writ-go/writ/tools"
//	)
//
//	type Order struct {
//		ID string `json:"id"`
//	}
//
//	func refund(ctx context.Context, o Order) (string, error) {
//		return "refunded " + o.ID, nil
//	}
//
//	// denyVIP is a policy: it wraps every call.
//	func denyVIP(next tools.Caller) tools.Caller {
//		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
//			if string(c.Args) == `{"id":"vip"}` {
//				return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "ask a person first"}
//			}
//			return next.Call(ctx, c)
//		})
//	}
//
//	func main() {
//		ctx := context.Background()
//		set, err := tools.NewSet(ctx, tools.Func("refund", "Refund one order.", refund, nil))
//		if err != nil {
//			panic(err)
//		}
//		box, err := sandbox.New(nil)
//		if err != nil {
//			panic(err)
//		}
//		defer box.Close()
//		for _, id := range []string{"a1", "vip"} {
//			out, err := box.Run(ctx, sandbox.Program{
//				Source: `await refund({id})`, Inputs: map[string]any{"id": id}, Tools: set.With(denyVIP),
//			})
//			if err != nil {
//				panic(err)
//			}
//			fmt.Println(string(out.Value), out.Calls[0].Error)
//		}
//	}
//
// A [Tool] has a name, schemas and a [Handler]. [Func] makes one from a typed Go function.
// Package mcptools provides the tools of MCP servers. Both are a [Source] of a [Set], the
// immutable snapshot of tools that a run uses. In a Set, every tool has a valid and unique
// JavaScript name.
//
// A sandbox validates each of a program's calls, looks it up in the journal, and takes it through the policies to the
// handler. A [Caller] performs calls. A [Policy] wraps it to refuse, approve, limit or retry calls. Package journal
// records calls, so that a rewritten program does not repeat them.
//
// If a call fails, the program gets a [ToolError], which it can catch and the model reads. A
// [Fatal] error ends the run instead.
package tools
