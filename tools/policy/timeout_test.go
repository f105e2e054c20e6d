package policy_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

func TestTimeout(t *testing.T) {
	t.Parallel()
	const late = "timeout: no answer within 10s; whether it took effect is unknown"
	for _, test := range []struct {
		name string
		do   func(ctx context.Context) (json.RawMessage, error)
		took time.Duration
		want string
	}{
		{"in time", func(context.Context) (json.RawMessage, error) {
			time.Sleep(9 * time.Second)
			return json.RawMessage(`1`), nil
		}, 9 * time.Second, "1"},
		{"fails before the timeout", func(context.Context) (json.RawMessage, error) { return nil, errors.New("no") }, 0, "failed: no"},
		{"notices", func(ctx context.Context) (json.RawMessage, error) { <-ctx.Done(); return nil, ctx.Err() },
			10 * time.Second, late},
		{"notices, with its own message", func(ctx context.Context) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, &tools.ToolError{Kind: tools.KindUnknown}
		}, 10 * time.Second, late},
		{"ignores it", func(context.Context) (json.RawMessage, error) {
			time.Sleep(time.Hour)
			return json.RawMessage(`1`), nil
		}, 10 * time.Second, late},
		{"a deadline of its own", func(context.Context) (json.RawMessage, error) { return nil, context.DeadlineExceeded }, 0,
			"timeout: no answer in time; whether it took effect is unknown"},
		{"fatal", func(context.Context) (json.RawMessage, error) { return nil, tools.Fatal(errors.New("no disk")) }, 0,
			"fatal: no disk"},
		{"panic", func(context.Context) (json.RawMessage, error) { panic("boom") }, 0,
			"unknown: the tool crashed; whether it took effect is unknown"},
		{"goexit", func(context.Context) (json.RawMessage, error) { runtime.Goexit(); return nil, nil }, 0,
			"fatal: policy: the call ended with runtime.Goexit instead of returning"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				set := newSet(t,
					tool("it", tools.Hints{}, func(ctx context.Context, _ json.RawMessage) (json.RawMessage,
						error) {
						return test.do(ctx)
					}))
				start := time.Now()
				result, err := call(t.Context(), set.With(policy.Timeout(10*time.Second)), "it", `{}`)
				equal(t, "the end", told(result, err), test.want)
				if took := time.Since(start); took != test.took {
					t.Errorf("it took %v, not %v", took, test.took)
				}
				if test.want == late && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the host does not see a deadline behind %v", err)
				}
				time.Sleep(time.Hour) // let the tool finish
			})
		})
	}
}

// The late end of an abandoned try changes only the journal, not the result of the program or
// the audit record.
func TestTimeoutOfLateTries(t *testing.T) {
	t.Parallel()
	const unsure = "; whether it took effect is unknown"
	for _, test := range []struct {
		name  string
		hints tools.Hints
		last  error // of the third try, which answers at once if it is not nil
		want  string
		late  string // the final state in the journal, if it differs
	}{
		{"read", tools.Hints{Class: tools.Read}, nil, "timeout: no answer within 300ms (tried 3 times)", "ok, 1"},
		{"idempotent", tools.Hints{Class: tools.Idempotent}, nil, "timeout: no answer within 300ms" + unsure +
			" (tried 3 times)", "ok, 1"},
		{"effect", tools.Hints{}, nil, "timeout: no answer within 300ms" + unsure + ". Do not call it again; report it", "ok, 1"},
		{"fails in the last try", tools.Hints{Class: tools.Idempotent}, &tools.ToolError{Kind: tools.KindUnavailable, Message: "down"},
			"unknown: an earlier try may have taken effect; the last try: down (tried 3 times)", ""},
		{"missing in the last try", tools.Hints{Class: tools.Read},
			&tools.ToolError{Kind: tools.KindUnavailable, Message: "down"},
			"unknown: an earlier try was not answered; the last try: down (tried 3 times)", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var tries atomic.Int32
				set := newSet(t, tool("it", test.hints, func(context.Context, json.RawMessage) (json.RawMessage, error) {
					if tries.Add(1) == 3 && test.last != nil {
						return nil, test.last
					}
					time.Sleep(700 * time.Millisecond)
					return json.RawMessage(`1`), nil
				})).With(policy.Retry(nil), policy.Timeout(300*time.Millisecond))
				j := journal.New(nil)
				issued := dispatch.New(set, j.Attempt()).Issue(tools.Call{ID: 1, Args: json.RawMessage(`{}`)}, 0)
				equal(t, "the end", told(issued.Perform(t.Context())), test.want)
				time.Sleep(time.Second) // let the tries end
				e := j.Entries()[0]
				got := string(e.State) + ", " + told(e.Result, e.Err)
				if test.last != nil && got == "ok, 1" { // the second try ended after the third
					return
				}
				equal(t, "the record", got, cmp.Or(test.late, "unknown, "+test.want))
			})
		})
	}
}

// The end of a run is not a timeout, and the tool gets the rest of its time to return.
func TestTimeoutOfARunThatEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := false
		set := newSet(t, tool("it", tools.Hints{}, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return nil, ctx.Err()
		})).With(policy.Timeout(10 * time.Second))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		equal(t, "the end", told(call(ctx, set, "it", `{}`)), "cancelled: cancelled; whether it took effect is unknown")
		if !ended {
			t.Error("the call did not wait for the tool")
		}
	})
}

// A panic of an inner policy is handled as without a timeout.
func TestTimeoutOfAPanic(t *testing.T) {
	t.Parallel()
	bomb := func(tools.Caller) tools.Caller {
		return tools.CallerFunc(func(context.Context, tools.Call) (json.RawMessage, error) { panic("boom") })
	}
	_, err := call(t.Context(), newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Timeout(time.Hour), bomb), "it",
		`{}`)
	equal(t, "the end", told(nil, err), "denied: a policy crashed")
	if cause := errors.Unwrap(err); cause == nil || !strings.Contains(cause.Error(), "boom") ||
		!strings.Contains(cause.Error(), "TestTimeoutOfAPanic") {
		t.Errorf("the error does not say where: %v", cause)
	}
}
