package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// flaky fails with each of the errors, then answers; tries counts.
func flaky(tries *int, errs ...error) tools.Handler {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) {
		*tries++
		if *tries <= len(errs) {
			return nil, errs[*tries-1]
		}
		return json.RawMessage(`"ok"`), nil
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	kind := func(k string) error { return &tools.ToolError{Kind: k, Message: "m"} }
	down, lost, late := kind(tools.KindUnavailable), kind(tools.KindUnknown), context.DeadlineExceeded
	effect, read, idempotent := tools.Hints{}, tools.Hints{Class: tools.Read}, tools.Hints{Class: tools.Idempotent}
	for _, test := range []struct {
		name  string
		hints tools.Hints
		o     *policy.RetryOptions
		errs  []error
		tries int
		want  string
	}{
		{"success at once", read, nil, nil, 1, `"ok"`},
		{"success at last", read, nil, []error{down, late}, 3, `"ok"`},
		{"in vain", read, nil, []error{lost, lost, lost}, 3, "unknown: m (tried 3 times)"},
		{"more tries", idempotent, &policy.RetryOptions{Tries: 5}, []error{down, down, down, down}, 5, `"ok"`},
		{"one try", read, &policy.RetryOptions{Tries: 1}, []error{down}, 1, "unavailable: m"},
		{"effect that did not happen", effect, nil, []error{down, down}, 3, `"ok"`},
		{"effect that may have happened", effect, nil, []error{late}, 1,
			"timeout: no answer in time; whether it took effect is unknown"},
		{"effect that was lost", effect, nil, []error{lost}, 1, "unknown: m"},
		{"effect that did not happen, then may have", effect, nil, []error{down, lost}, 2, "unknown: m (tried 2 times)"},
		{"repeatable effect", tools.Hints{Repeatable: true}, nil, []error{late}, 2, `"ok"`},
		{"failed", read, nil, []error{errors.New("no")}, 1, "failed: no"},
		{"denied", read, nil, []error{kind(tools.KindDenied)}, 1, "denied: m"},
		{"a possible effect stays possible", idempotent, nil, []error{lost, down, down}, 3,
			"unknown: an earlier try may have taken effect; the last try: m (tried 3 times)"},
		{"fatal", read, nil, []error{tools.Fatal(down)}, 1, "fatal: m"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				set := newSet(t, tool("it", test.hints, flaky(&tries, test.errs...))).With(policy.Retry(test.o))
				equal(t, "the end", told(call(t.Context(), set, "it", `{}`)), test.want)
				if tries != test.tries {
					t.Errorf("there were %d tries, not %d", tries, test.tries)
				}
			})
		})
	}
}

func TestRetryDelays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries, down := 0, &tools.ToolError{Kind: tools.KindUnavailable}
		set := newSet(t, tool("it", tools.Hints{}, flaky(&tries, down, down, down, down))).
			With(policy.Retry(&policy.RetryOptions{Tries: 5, Delay: 4 * time.Second, MaxDelay: 10 * time.Second}))
		start := time.Now()
		equal(t, "the end", told(call(t.Context(), set, "it", `{}`)), `"ok"`)
		const sum = 4 + 8 + 10 + 10
		if took := time.Since(start); took < sum*3/4*time.Second || took > sum*5/4*time.Second {
			t.Errorf("the four delays took %v", took)
		}
	})
}

// notBefore is an error that implements tools.RetryAfter.
type notBefore struct{ time.Time }

func (notBefore) Error() string               { return "starting again" }
func (e notBefore) RetryAfter() time.Duration { return time.Until(e.Time) }

// Retry waits as long as the error asks for.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		after    time.Duration
		deadline time.Duration
		took     time.Duration
		tries    int
		want     string
	}{
		{"soon", 1500 * time.Millisecond, time.Hour, 1500 * time.Millisecond, 2, `"ok"`},
		{"as late as allowed", 5 * time.Second, time.Hour, 5 * time.Second, 2, `"ok"`},
		{"too late for the policy", 5*time.Second + 1, time.Hour, 0, 1, "unavailable: down"},
		{"too late for the run", 2 * time.Second, time.Second, 0, 1, "unavailable: down"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries, start := 0, time.Now()
				down := (&tools.ToolError{Kind: tools.KindUnavailable, Message: "down"}).WithCause(fmt.Errorf("s: %w",
					notBefore{start.Add(test.after)}))
				set := newSet(t, tool("it", tools.Hints{}, flaky(&tries, down))).With(policy.Retry(nil))
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				equal(t, "the end", told(call(ctx, set, "it", `{}`)), test.want)
				if took := time.Since(start); took != test.took || tries != test.tries {
					t.Errorf("there were %d tries in %v", tries, took)
				}
			})
		})
	}
}

// A call does not wait longer than its run lasts.
func TestRetryEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		end  func(context.Context) (context.Context, context.CancelFunc)
		took time.Duration
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 5*time.Second)
		}, 0},
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(5*time.Second, cancel)
			return ctx, cancel
		}, 5 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				set := newSet(t,
					tool("it", tools.Hints{}, flaky(&tries, &tools.ToolError{Kind: tools.KindUnavailable, Message: "down"}))).
					With(policy.Retry(&policy.RetryOptions{Delay: time.Minute, MaxDelay: time.Hour}))
				ctx, cancel := test.end(t.Context())
				defer cancel()
				start := time.Now()
				equal(t, "the end", told(call(ctx, set, "it", `{}`)), "unavailable: down")
				if took := time.Since(start); took != test.took || tries != 1 {
					t.Errorf("there were %d tries in %v", tries, took)
				}
			})
		})
	}
}
