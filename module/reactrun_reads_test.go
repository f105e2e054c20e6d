package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools"
)

type sleep struct {
	Seconds int `json:"seconds"`
}

// gauge counts the calls in progress.
type gauge struct{ now, most atomic.Int64 }

// sleeper is a tool that waits.
func (g *gauge) sleeper(name string, class tools.Class) *tools.Tool {
	return tools.Func(name, "Waits.", func(ctx context.Context, in sleep) (int, error) {
		n := g.now.Add(1)
		defer g.now.Add(-1)
		for most := g.most.Load(); n > most && !g.most.CompareAndSwap(most, n); most = g.most.Load() {
		}
		if in.Seconds < 0 {
			return 0, tools.Fatal(errors.New("the end"))
		}
		if in.Seconds == 13 {
			panic("unlucky")
		}
		select {
		case <-time.After(time.Duration(in.Seconds) * time.Second):
			return in.Seconds, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}, &tools.Hints{Class: class})
}

func sleeping(name string, seconds int) llms.ToolCall {
	return toolCall(name, fmt.Sprintf(`{"seconds": %d}`, seconds))
}

// Calls that only read are made at the same time, up to 16; a call that may change data is made alone, and so are those
// next to it. The observations have the order of the calls.
func TestReActReadsConcurrently(t *testing.T) {
	t.Parallel()
	many := make([]llms.ToolCall, 40)
	for i := range many {
		many[i] = sleeping("look", 40-i)
	}
	for _, c := range []struct {
		name  string
		calls []llms.ToolCall
		most  int64 // 0 if it depends on the scheduler
		want  string
	}{
		{"reads", []llms.ToolCall{sleeping("look", 3), sleeping("look", 1), sleeping("look", 2)}, 3,
			"look returned:\n3\n\nlook returned:\n1\n\nlook returned:\n2"},
		{"an effect", []llms.ToolCall{sleeping("look", 3), sleeping("act", 1), sleeping("look", 2)}, 1,
			"look returned:\n3\n\nact returned:\n1\n\nlook returned:\n2"},
		{"mistakes", []llms.ToolCall{sleeping("look", 3), sleeping("none", 1), submit2()[0], sleeping("look", 2),
			toolCall("look", "{"), toolCall("look", `{"seconds": "no"}`)}, 1,
			"look returned:\n3\n\nNothing was called: there is no tool \"none\".\n\n" +
				"The answer was not accepted: call submit alone, after you have seen the results of the other " +
				"calls.\n\n" +
				"look returned:\n2\n\nlook was not called: its argument cannot be read"},
		{"a panic", []llms.ToolCall{sleeping("look", 13), sleeping("look", 1)}, 0, "look failed: "},
		{"many", many, 16, "look returned:\n40\n\nlook returned:\n39\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var g gauge
				set := toolSet(t, g.sleeper("look", tools.Read), g.sleeper("act", tools.Effect))
				pred := mustRun(t, module.NewReAct(adding, callingModel(c.calls, submit2()), set, nil), anything)
				step := pred.Trajectory.Steps[0]
				if got := step.Observation; !strings.HasPrefix(got, c.want) {
					t.Errorf("got\n%s", got)
				}
				if c.most > 0 && g.most.Load() != c.most {
					t.Errorf("%d calls at the same time, want %d", g.most.Load(), c.most)
				}
				for i, call := range step.Outcome.Calls {
					if call.ID != i+1 || call.Started+call.Duration > step.Outcome.Duration {
						t.Errorf("call %d: %+v in %v", i+1, call, step.Outcome.Duration)
					}
				}
			})
		})
	}
}

// An error that ends the run does so after all calls have ended. The calls that were made are in the trajectory.
func TestReActReadsEndTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		m := module.NewReAct(adding, callingModel([]llms.ToolCall{sleeping("look", 3), sleeping("look", -1)}),
			toolSet(t, g.sleeper("look", tools.Read)), nil)
		_, err := m.Run(t.Context(), anything)
		var part *module.IncompleteError
		if !errors.As(err, &part) || !tools.IsFatal(err) || len(part.Trajectory.Calls) != 2 ||
			len(part.Trajectory.Steps[0].Outcome.Calls) != 2 || g.now.Load() != 0 {
			t.Errorf("got %v", err)
		}
	})
}

// If the run is canceled, its calls are canceled, too.
func TestReActReadsAreCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		m := module.NewReAct(adding, callingModel([]llms.ToolCall{sleeping("look", 300), sleeping("look", 200)}),
			toolSet(t, g.sleeper("look", tools.Read)), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := m.Run(ctx, anything); !errors.Is(err, context.DeadlineExceeded) || g.most.Load() != 2 ||
			time.Since(start) > 10*time.Second || g.now.Load() != 0 {
			t.Errorf("got %v", err)
		}
	})
}
