// Package tools holds what a program may call, and the rules for calling it.
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
//	// denyVIP is a policy: it stands around every call.
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
// A [Tool] is one thing to call: a name, schemas, and a [Handler]. [Func] makes
// one of a typed Go function; package mcptools has those of MCP servers. Both
// are a [Source] of a [Set], the immutable snapshot that a run works with, in
// which every tool has a valid and unique JavaScript name.
//
// A [Caller] performs calls, and a [Policy] wraps it: to refuse, to ask, to
// limit, to retry. A [Attempt] remembers what was done, so that a rewritten
// program does not do it again; package journal has one. A [Dispatcher], which
// the sandbox uses, takes each call down the whole chain: validate, look up in
// the journal, policies, record, handler, record.
//
// What goes wrong with a call is a [ToolError], which the program can catch and
// the model reads, unless the handler marked its error as [Fatal].
package tools
