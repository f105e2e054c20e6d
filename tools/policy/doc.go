// Package policy controls tool calls: which are allowed or need approval, how often and how long they may run, and what
// is redacted and logged.
//
// Each policy is a [tools.Policy] that does one thing. A call passes the policies in the
// order in which they are given, and its result passes them in reverse:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"log/slog"
//		"os"
//		"strings"
//		"time"
//
//		"github.com/writ-go/writ/sandbox"
//		"github.com/writ-go/writ/tools"
//		"github.com/writ-go/writ/tools/policy"
//	)
//
//	type Order struct {
//		ID string `json:"id"`
//	}
//
//	const key = "correct horse battery staple"
//
//	func refund(_ context.Context, o Order) (string, error) {
//		return "refunded " + o.ID + " with the key " + key, nil
//	}
//
//	// ask would ask a person.
//	func ask(_ context.Context, r policy.Request) (policy.Decision, error) {
//		fmt.Println("may I?", r)
//		vip := strings.Contains(r.Args, "vip")
//		return policy.Decision{Approved: !vip, Reason: "leave this one to the shop"}, nil
//	}
//
//	func main() {
//		ctx := context.Background()
//		secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{key}})
//		if err != nil {
//			log.Fatal(err)
//		}
//		logger := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: secrets.Attr}))
//		hints := &tools.Hints{Destructive: true}
//		set, err := tools.NewSet(ctx, tools.Func("refund", "Refund one order.", refund, hints))
//		if err != nil {
//			log.Fatal(err)
//		}
//		set = set.With(
//			policy.Audit(logger, nil),                                      // logs the result that the program gets
//			policy.Redact(secrets),                                         // policies above see no secrets
//			policy.Deny(policy.Tools("shell.*"), "there is no shell here"), // before approval
//			policy.DenySecrets(secrets),                                    // in arguments
//			policy.If(policy.Destructive(), policy.Approve(ask)),      // once for all tries
//			policy.Retry(nil),
//			policy.Rate(60, time.Minute, 0), // counts each try
//			policy.Timeout(10*time.Second),    // of each try
//		)
//		fmt.Println(set.Warnings())
//
//		box, err := sandbox.New(nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		defer box.Close()
//		for _, id := range []string{"a1", "vip"} {
//			out, err := box.Run(ctx, sandbox.Program{
//				Source: `await refund({id})`, Inputs: map[string]any{"id": id}, Tools: set,
//			})
//			if err != nil {
//				log.Fatal(err)
//			}
//			fmt.Println(string(out.Value), out.Calls[0].Error)
//		}
//	}
//
// A [Match] selects calls. [If] applies policies to them, [Deny] refuses them, and [Allow]
// refuses all other calls. The program gets an error of kind [tools.KindDenied] for a refused call, and
// the model reads its message.
//
// # The order
//
// A call is validated and looked up in the journal before it reaches a policy. Calls that are answered from the journal
// do not reach policies. The journal, the sandbox's Outcome and the program get the outermost policy's result: if
// [Redact] is among the first policies, no journal, trace or log contains a secret from a tool. The journal records the
// arguments with which the tool was called, and records each try before it is dispatched.
//
// # Shared state
//
// All sets and runs with a [Rate] policy share its count of calls.
//
// # Errors
//
// A policy with invalid options, such as a rate of zero, ends every run at its first call with an error that says
// why. [tools.Set.Warnings] reports the error earlier, and also reports patterns of [Tools] that match no tool.
package policy
