package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/writ-go/writ/tools"
)

// If a tool makes calls and then fails, its own call counts as unknown, whatever the error is,
// because the calls took effect.
func TestFailedAfterEffects(t *testing.T) {
	t.Parallel()
	broken := errors.New("second half: 503")
	const unknown = "outer unknown: second half: 503; whether it took effect is unknown"
	tests := []struct {
		name  string
		inner tools.Class
		did   error // of the inner call
		fails error // of the outer tool
		want  string
	}{
		{"effect", tools.Effect, nil, broken, unknown},
		{"idempotent effect", tools.Idempotent, nil, broken, unknown},
		{"effect without an answer", tools.Effect, context.DeadlineExceeded, broken, unknown},
		{"read", tools.Read, nil, broken, "outer failed: second half: 503"},
		{"effect that failed", tools.Effect, errors.New("no"), broken, "outer failed: second half: 503"},
		{"effect that was denied", tools.Effect, denied("no"), broken, "outer failed: second half: 503"},
		{"effect, and a result", tools.Effect, nil, nil, `"done"`},
		{"effect, and the tool overrides it", tools.Effect, nil,
			&tools.ToolError{Kind: tools.KindFailed, Message: "taken back"}, "outer failed: taken back"},
		{"effect, and an error of a part", tools.Effect, nil, fmt.Errorf("second half: %w", denied("no")),
			"outer unknown: second half: no; whether it took effect is unknown"},
		{"effect, and a hidden reason", tools.Effect, nil, tools.HostOnly(broken),
			"outer unknown: the tool failed; the reason is not shown"},
		{"effect, and a fatal error", tools.Effect, nil, tools.Fatal(broken), "fatal: second half: 503"},
	}
	for _, test := range tests {
		for _, through := range []tools.Class{tools.Effect, tools.Read} { // a tool between the two
			t.Run(fmt.Sprintf("%s, through %v", test.name, through), func(t *testing.T) {
				t.Parallel()
				inner := newSet(t, &tools.Tool{Name: "inner", InputSchema: []byte(`{}`), Hints: tools.Hints{Class: test.inner},
					Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, test.did }})
				between := newSet(t, &tools.Tool{Name: "between", InputSchema: []byte(`{}`), Hints: tools.Hints{Class: through},
					Handler: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
						_, _ = perform(ctx, inner, `{}`)
						if test.inner == tools.Read || test.did != nil {
							return nil, &tools.ToolError{Kind: tools.KindFailed, Message: "nothing was done"}
						}
						return nil, nil
					}})
				outer := newSet(t, &tools.Tool{Name: "outer", InputSchema: []byte(`{}`),
					Handler: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
						_, _ = perform(ctx, between, `{}`)
						return json.RawMessage(`"done"`), test.fails
					}})
				if got := outcome(perform(t.Context(), outer, `{}`)); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
			})
		}
	}
}

// A policy may make several tries at the same time.
func TestEffectsOfTriesAtOnce(t *testing.T) {
	t.Parallel()
	var begun sync.WaitGroup
	begun.Add(2)
	inner := newSet(t, &tools.Tool{Name: "inner", InputSchema: []byte(`{}`),
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			begun.Done()
			begun.Wait()
			return nil, nil
		}})
	outer := newSet(t, &tools.Tool{Name: "outer", InputSchema: []byte(`{}`),
		Handler: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			_, _ = perform(ctx, inner, `{}`)
			return nil, errors.New("second half: 503")
		}}).With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			var other sync.WaitGroup
			other.Go(func() { _, _ = next.Call(ctx, c) })
			defer other.Wait()
			return next.Call(ctx, c)
		})
	})
	if got, want := outcome(perform(t.Context(), outer, `{}`)),
		"outer unknown: second half: 503; whether it took effect is unknown"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
