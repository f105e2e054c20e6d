package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// tool returns a tool that accepts any arguments.
func tool(path string, h tools.Hints, handler tools.Handler) *tools.Tool {
	t := &tools.Tool{Name: path, Hints: h, Handler: handler}
	for i := range path {
		if path[i] == '.' {
			t.Namespace, t.Name = path[:i], path[i+1:]
		}
	}
	return t
}

func answer(result string, err error) tools.Handler {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(result), err }
}

// echo answers with its arguments.
func echo(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil }

func newSet(t testing.TB, list ...*tools.Tool) *tools.Set {
	t.Helper()
	var sources []tools.Source
	for _, tool := range list {
		sources = append(sources, tool)
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// call calls the tool of a set that has the path, from line 3.
func call(ctx context.Context, set *tools.Set, path, args string) (json.RawMessage, error) {
	for i, b := range set.Bindings() {
		if b.Path() == path {
			c := tools.Call{ID: 1, Args: json.RawMessage(args), Line: 3, Column: 7, Program: "// send\n\nawait it.is(\u202e);\n"}
			return dispatch.New(set, nil).Issue(c, i).Perform(ctx)
		}
	}
	return nil, fmt.Errorf("there is no %s", path)
}

// told returns a result or an error on one line.
func told(result json.RawMessage, err error) string {
	var te *tools.ToolError
	switch {
	case err == nil:
		return string(result)
	case tools.IsFatal(err):
		return "fatal: " + err.Error()
	case !errors.As(err, &te):
		return "other: " + err.Error()
	case te.Data != nil:
		return fmt.Sprintf("%s: %s %s", te.Kind, te.Message, te.Data)
	}
	return te.Kind + ": " + te.Message
}

func equal(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", what, got, want)
	}
}

func newSecrets(t testing.TB, values ...string) *policy.Secrets {
	t.Helper()
	s, err := policy.NewSecrets(policy.SecretOptions{Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// all returns the policies in the order of the package comment.
func all(secrets *policy.Secrets, log *bytes.Buffer, ask policy.Approver) []tools.Policy {
	return []tools.Policy{
		policy.Audit(logTo(log), nil),
		policy.Redact(secrets),
		policy.Deny(policy.Tools("shell.*"), "there is no shell here"),
		policy.DenySecrets(secrets),
		policy.If(policy.Destructive(), policy.Approve(ask)),
		policy.Retry(&policy.RetryOptions{Tries: 3}),
		policy.Rate(2, time.Minute, 0),
		policy.Timeout(10 * time.Second),
	}
}

// Each policy does its own part.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var tries atomic.Int32
		asked := 0
		ask := func(context.Context, policy.Request) (policy.Decision, error) {
			asked++
			return policy.Decision{Approved: true}, nil
		}
		handler := func(context.Context, json.RawMessage) (json.RawMessage, error) {
			switch tries.Add(1) {
			case 1:
				time.Sleep(time.Hour) // the answer is late
			case 2:
				return nil, &tools.ToolError{Kind: tools.KindUnavailable, Message: "no top secret"}
			}
			return json.RawMessage(`"a top secret"`), nil
		}
		set := newSet(t, tool("it", tools.Hints{Class: tools.Idempotent, Destructive: true}, handler),
			tool("shell.run", tools.Hints{}, echo)).
			With(all(newSecrets(t, "top secret"), &log, ask)...)
		start := time.Now()
		equal(t, "third try", told(call(t.Context(), set, "it", `{}`)), `"a [redacted]"`)
		// 10 s for the first try, two delays, and half a minute for the rate after two tries.
		if took := time.Since(start).Round(time.Millisecond); asked != 1 || tries.Load() != 3 || took < 30*time.Second ||
			took > 31*time.Second {
			t.Errorf("asked %d times, tried %d times, in %v", asked, tries.Load(), took)
		}
		equal(t, "denied", told(call(t.Context(), set, "shell.run", `{}`)), "denied: there is no shell here")
		equal(t, "secret", told(call(t.Context(), set, "it", `{"k":"top secret"}`)),
			"denied: an argument contains a secret, such as a key or a password; leave it out")
		if asked != 1 {
			t.Error("an approver was asked about a call that is not allowed")
		}
		if got := bytes.Count(log.Bytes(), []byte("msg=\"tool call\"")); got != 3 ||
			bytes.Contains(log.Bytes(), []byte("top secret")) {
			t.Errorf("the log has %d calls:\n%s", got, log.String())
		}
		time.Sleep(time.Hour) // let the first try end
	})
}

// Many runs share policies.
func TestAllConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var asked, called atomic.Int32
		ask := func(context.Context, policy.Request) (policy.Decision, error) {
			asked.Add(1)
			return policy.Decision{Approved: true}, nil
		}
		handler := func(context.Context, json.RawMessage) (json.RawMessage, error) {
			if called.Add(1)%5 == 0 {
				return nil, &tools.ToolError{Kind: tools.KindUnavailable}
			}
			return json.RawMessage(`"top secret"`), nil
		}
		set := newSet(t, tool("it", tools.Hints{Destructive: true}, handler)).With(all(newSecrets(t, "top secret"), &log,
			ask)...)
		var group sync.WaitGroup
		for range 50 {
			group.Go(func() { equal(t, "the end", told(call(t.Context(), set, "it", `{}`)), `"[redacted]"`) })
		}
		group.Wait()
		if asked.Load() != 50 || bytes.Count(log.Bytes(), []byte("outcome=ok")) != 50 {
			t.Errorf("asked %d times; log:\n%s", asked.Load(), log.String())
		}
	})
}
