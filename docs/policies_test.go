package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// These examples are shown in policies.md. Each makes a set and runs a program that calls it.

type order struct {
	ID string `json:"id"`
}

type file struct {
	Path string `json:"path"`
}

type customers struct {
	IDs []string `json:"ids"`
}

// shop returns a set with a tool of each class and one that fails every other time.
func shop() *tools.Set {
	busy := true
	set, err := tools.NewSet(context.Background(),
		tools.Func("read_file", "Reads a file.", func(_ context.Context, f file) (string, error) {
			return "the password of " + f.Path + " is correct horse battery", nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("refund", "Refunds an order.", func(_ context.Context, o order) (string, error) {
			return "refunded " + o.ID, nil
		}, &tools.Hints{Destructive: true}),
		tools.Func("invite", "Invites customers.", func(_ context.Context, c customers) (int, error) {
			return len(c.IDs), nil
		}, nil),
		tools.Func("stock", "How many there are.", func(context.Context, struct{}) (int, error) {
			if busy = !busy; !busy {
				return 0, &tools.ToolError{Kind: tools.KindUnavailable, Message: "come back later"}
			}
			return 7, nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("report", "Takes a minute.", func(ctx context.Context, _ struct{}) (string, error) {
			select {
			case <-time.After(time.Minute):
				return "done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}, &tools.Hints{Class: tools.Read}),
	)
	if err != nil {
		log.Fatal(err)
	}
	return set
}

// run runs a program with a set and prints its outcome.
func run(ctx context.Context, set *tools.Set, source string) {
	box, err := sandbox.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	out, err := box.Run(ctx, sandbox.Program{Source: source, Tools: set})
	switch {
	case err != nil:
		fmt.Println("error:", err)
	case out.Failure != nil:
		fmt.Println(out.Failure.Message)
	default:
		fmt.Println(string(out.Value))
	}
}

func Example_with() {
	ctx := context.Background()
	set := shop()
	guarded := set.With(
		policy.Deny(policy.Tools("refund"), "refunds are made by the shop; give the order's id in your answer"),
	)
	run(ctx, set, `await refund({id: "a1"})`)
	run(ctx, guarded, `await refund({id: "a1"})`)
	// Output:
	// "refunded a1"
	// ToolError: refund: refunds are made by the shop; give the order's id in your answer
}

func Example_allow() {
	ctx := context.Background()
	set := shop()
	home := policy.Argument("path", regexp.MustCompile(`^/home/ann/[^.]`).MatchString)
	few := policy.Argument("ids", func(ids []string) bool { return len(ids) <= 10 })
	guarded := set.With(
		policy.Allow(policy.Tools("read_file", "invite"), "you may read files and invite"),
		policy.If(policy.Tools("read_file"), policy.Allow(home, "only the files of /home/ann")),
		policy.If(policy.Tools("invite"), policy.Allow(few, "at most ten at a time")),
	)
	run(ctx, guarded, `await refund({id: "a1"})`)
	run(ctx, guarded, `await read_file({path: "/etc/shadow"})`)
	run(ctx, guarded, `await invite({ids: Array.from({length: 11}, (_, i) => String(i))})`)
	run(ctx, guarded, `await invite({ids: ["7"]})`)
	// Output:
	// ToolError: refund: you may read files and invite
	// ToolError: read_file: only the files of /home/ann
	// ToolError: invite: at most ten at a time
	// 1
}

func Example_approve() {
	ctx := context.Background()
	set := shop()
	ask := func(ctx context.Context, r policy.Request) (policy.Decision, error) {
		fmt.Println("may I?", r) // its strings are safe to display
		if strings.Contains(r.Args, "vip") {
			return policy.Decision{Reason: "leave this one to the shop"}, nil
		}
		return policy.Decision{Approved: true}, nil
	}
	fmt.Println(set.Warnings())
	guarded := set.With(policy.If(policy.Destructive(), policy.Approve(ask)))
	fmt.Println(guarded.Warnings())
	run(ctx, guarded, `await refund({id: "vip1"})`)
	// Output:
	// [destructive tools can be called without approval: refund; add policy.Approve to the set, or policy.AllowDestructive if that is intended]
	// []
	// may I? refund (unclassified, destructive)
	// {
	//   "id": "vip1"
	// }
	// line 1: await refund({id: "vip1"})
	// ToolError: refund: not approved: leave this one to the shop
}

func Example_grants() {
	ctx := context.Background()
	set := shop()
	var grants policy.Grants
	ask := func(ctx context.Context, r policy.Request) (policy.Decision, error) {
		fmt.Println("may I?", r)
		return policy.Decision{Approved: true, By: "ann", Grant: &policy.Grant{
			Tool:  r.Tool,
			Args:  map[string]json.RawMessage{"id": json.RawMessage(`"a1"`)}, // nil: any arguments
			Calls: 20,
			Until: time.Now().Add(time.Hour),
		}}, nil
	}
	guarded := set.With(policy.If(policy.Destructive(), policy.Approve(grants.Approver(ask))))
	run(ctx, guarded, `let last; for (let i = 0; i < 21; i++) last = await refund({id: "a1"}); return last`)
	run(ctx, guarded, `await refund({id: "a2"})`)
	// Output:
	// may I? refund (unclassified, destructive)
	// {
	//   "id": "a1"
	// }
	// line 1: let last; for (let i = 0; i < 21; i++) last = await refund({id: "a1"}); return last
	// "refunded a1"
	// may I? refund (unclassified, destructive)
	// {
	//   "id": "a2"
	// }
	// line 1: await refund({id: "a2"})
	// "refunded a2"
}

// decided is a Desk that has a decision about every call.
type decided struct{ policy.Decision }

func (d decided) Decide(_ context.Context, r policy.Request) (policy.Decision, bool) {
	fmt.Println("may I?", r)
	return d.Decision, true
}

func Example_later() {
	set := shop()
	guarded := set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
	fmt.Println(guarded.Warnings())
	run(context.Background(), guarded, `await refund({id: "a1"})`)
	desk := decided{policy.Decision{Reason: "leave this one to the shop"}}
	run(policy.WithDesk(context.Background(), desk), guarded, `await refund({id: "a1"})`)
	// Output:
	// []
	// error: sandbox: tool refund: policy: nobody can approve the call of refund; start a durable run, or pass an Approver to Approve
	// may I? refund (unclassified, destructive)
	// {
	//   "id": "a1"
	// }
	// line 1: await refund({id: "a1"})
	// ToolError: refund: not approved: leave this one to the shop
}

func Example_rate() {
	ctx := context.Background()
	set := shop()
	guarded := set.With(
		policy.Rate(2, time.Hour, time.Second),
	)
	run(ctx, guarded, `await invite({ids: []}); await invite({ids: []}); try { await invite({ids: []}) } catch (e) { return e.message.split(";")[0] }`)
	// Output:
	// "at most 2 calls in 1h0m0s are allowed"
}

func Example_retry() {
	ctx := context.Background()
	set := shop()
	guarded := set.With(
		policy.Retry(&policy.RetryOptions{Tries: 2, Delay: 10 * time.Millisecond}),
		policy.Timeout(200*time.Millisecond),
	)
	run(ctx, set, `await stock({})`)
	run(ctx, set, `await stock({})`)
	run(ctx, guarded, `await stock({})`)
	run(ctx, guarded, `await report({})`)
	// Output:
	// ToolError: stock: come back later
	// 7
	// 7
	// ToolError: report: no answer within 200ms (tried 2 times)
}

func Example_redact() {
	ctx := context.Background()
	set := shop()
	secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{"correct horse battery"}})
	if err != nil {
		log.Fatal(err)
	}
	guarded := set.With(
		policy.Redact(secrets),
		policy.DenySecrets(secrets),
	)
	run(ctx, guarded, `await read_file({path: "/home/ann/keys"})`)
	run(ctx, guarded, `await refund({id: "correct horse " + "battery"})`)
	// Output:
	// "the password of /home/ann/keys is [redacted]"
	// ToolError: refund: an argument contains a secret, such as a key or a password; leave it out
}

func Example_audit() {
	ctx := context.Background()
	set := shop()
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: withoutTimes}))
	guarded := set.With(policy.Audit(logger, nil))
	run(ctx, guarded, `await refund({id: "a1"})`)
	fmt.Print(out.String())
	// Output:
	// "refunded a1"
	// level=INFO msg="tool call" tool=refund class=unclassified call=1 line=1 column=7 outcome=ok args_bytes=11 result_bytes=13
}

func withoutTimes(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == "duration" {
		return slog.Attr{}
	}
	return a
}

// dryRun allows reads and refuses everything else.
func dryRun(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if c.Tool.Hints.Class == tools.Read {
			return next.Call(ctx, c)
		}
		return nil, &tools.ToolError{Kind: tools.KindDenied,
			Message: "this is a dry run; say in your answer what you would have done"}
	})
}

// quota limits the number of effects. Its state is outside of the Caller, because each call
// gets a new Caller.
func quota(most int64) tools.Policy {
	var made atomic.Int64
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if c.Tool.Hints.Class != tools.Read && made.Add(1) > most {
				return nil, tools.Fatal(errors.New("the quota of effects is used up"))
			}
			return next.Call(ctx, c)
		})
	}
}

func Example_own() {
	ctx := context.Background()
	set := shop()
	run(ctx, set.With(dryRun), `await refund({id: "a1"})`)
	run(ctx, set.With(quota(1)), `await refund({id: "a1"}); try { await refund({id: "a2"}) } catch {}`)
	// Output:
	// ToolError: refund: this is a dry run; say in your answer what you would have done
	// error: sandbox: tool refund: the quota of effects is used up
}
