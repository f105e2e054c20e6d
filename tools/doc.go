// Package tools defines the functions that programs may call, and performs the calls.
//
//	package main
//
//	import (
//		"context"
//		"encoding/json"
//		"fmt"
//
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
//		run := set.With(denyVIP).Dispatcher(nil)
//		for _, args := range []string{`{"id":"a1"}`, `{"id":"vip"}`, `{"idd":"a1"}`} {
//			call := run.Issue(tools.Call{Args: json.RawMessage(args)}, 0)
//			result, err := call.Perform(ctx)
//			fmt.Println(string(result), err)
//		}
//	}
//
// A [Tool] has a name, schemas and a [Handler]. [Func] makes one from a typed Go function.
// Package mcptools provides the tools of MCP servers. Both are a [Source] of a [Set], the
// immutable snapshot of tools that a run uses. In a Set, every tool has a valid and unique
// JavaScript name.
//
// A [Caller] performs calls. A [Policy] wraps it to refuse, approve, limit or retry calls. An
// [Attempt] records calls, so that a rewritten program does not repeat them; package journal
// implements it. The sandbox uses a [Dispatcher], which validates each call, looks it up in
// the journal, and takes it through the policies to the handler.
//
// If a call fails, the program gets a [ToolError], which it can catch and the model reads. A
// [Fatal] error ends the run instead.
package tools
