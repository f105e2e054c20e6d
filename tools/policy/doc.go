// Package policy has what stands around every call of a tool: who may make it,
// who is asked, how often, how long, and what is told of it.
//
// Each is a [tools.Policy] and does one thing. The order in which they are given
// is that in which a call passes them, and its result passes them backwards:
//
//	package main
//
//	import (
//		"context"
//		"encoding/json"
//		"fmt"
//		"log"
//		"log/slog"
//		"os"
//		"strings"
//		"time"
//
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
//	// ask is where a person would be asked.
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
//		set, err := tools.NewSet(ctx, tools.Func("refund", "Refund one order.", refund, &tools.Hints{Destructive: true}))
//		if err != nil {
//			log.Fatal(err)
//		}
//		set = set.With(
//			policy.Audit(logger, nil),                                      // sees how a call ends for the program
//			policy.MaxResult(64<<10),                                       // of what redaction leaves
//			policy.Redact(secrets),                                         // nothing further out sees a secret
//			policy.Deny(policy.Tools("shell.*"), "there is no shell here"), // before anybody is asked
//			policy.DenySecrets(secrets),                                    // in arguments
//			policy.If(policy.Destructive(), policy.Approve(ask, nil)),    // once, however many tries follow
//			policy.Retry(nil),                                              // mostly of what only reads
//			policy.Rate(60, time.Minute, nil),                              // each try counts
//			policy.Timeout(10*time.Second),                                 // of one try
//		)
//		fmt.Println(set.Warnings())
//
//		run := set.Dispatcher(nil) // what a sandbox does with the calls of a program
//		for _, args := range []string{`{"id":"a1"}`, `{"id":"vip"}`} {
//			result, err := run.Issue(tools.Call{Args: json.RawMessage(args)}, 0).Perform(ctx)
//			fmt.Println(string(result), err)
//		}
//	}
//
// In an agent, a sandbox does what the last lines do: it is given the set, and the
// programs call the tools.
//
//	out, err := box.Run(ctx, sandbox.Program{Source: `await refund({id: "a1"})`, Tools: set})
//
// Without one, calls are issued by the index of the tool in [tools.Set.Bindings],
// which is 0 for the only tool here.
//
// A [Match] says which calls a policy is for: [If] confines any policy to
// them, [Allow] and [Deny] refuse. What refuses a call gives the program an error
// of kind [tools.KindDenied], whose message the model reads.
//
// # What the order means
//
// A call is validated and looked up in the record of what was done before it
// reaches any policy; calls that are answered from the record reach none. What
// comes out of the outermost policy is what is recorded as the result, what the
// sandbox's Outcome holds, and what the program sees. So where [Redact] is among
// the first, no journal, trace or log has a secret that came from a tool. The
// arguments are recorded as they were performed. An intent is recorded when a
// call leaves the innermost policy, for every try.
//
// # What is counted
//
// Policies that count or queue ([Rate], [Approve]) do so for all sets and runs
// that they are used in. A policy that was made wrongly, such as a rate of zero,
// lets nothing pass: its first call ends the run with an error that says why.
// [tools.Set.Warnings] says so before, and tells of misspelt names in [Tools].
package policy
