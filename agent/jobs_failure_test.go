package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools/journal"
)

// moduleFunc is a module that is a function.
type moduleFunc func(ctx context.Context, in string) any

// Run implements [module.Module].
func (f moduleFunc) Run(ctx context.Context, in string) (*module.Prediction[any], error) {
	return &module.Prediction[any]{Output: f(ctx, in)}, nil
}

// secretive panics when it is encoded.
type secretive struct{}

// MarshalJSON implements [json.Marshaler].
func (secretive) MarshalJSON() ([]byte, error) { panic("secret") }

// A run that always fails outside of its module's work fails once, instead of again and again.
func TestRunFailsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int64
		m := moduleFunc(func(_ context.Context, in string) any {
			return map[string]any{"func": func() {}, "panic": secretive{}}[in]
		})
		r, err := agent.NewRunner(agent.NewRuns(journal.NewMemory()), m, &agent.RunnerOptions{
			Context: func(ctx context.Context, info agent.RunInfo) context.Context {
				if begun.Add(1); info.ID == "context" {
					panic("no rights")
				}
				return ctx
			}})
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]string{"func": "unsupported type", "panic": "secret", "context": "no rights"} {
			if _, err := r.Start(t.Context(), agent.RunRequest{ID: id, Input: fmt.Appendf(nil, "%q", id)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			info, err := r.Get(t.Context(), id)
			if err != nil || info.State != agent.Failed || !strings.Contains(info.Error, want) {
				t.Errorf("%s: %v, %v", id, info, err)
			}
		}
		if begun.Load() != 3 {
			t.Errorf("the runs began %d times", begun.Load())
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
