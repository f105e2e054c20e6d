package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// moody is a tool that answers at once, until it is told to do otherwise.
type moody struct{ met, end chan struct{} }

type mood struct {
	Now string `json:"now,omitempty"`
}

func (m *moody) step(_ context.Context, in mood) (string, error) {
	switch in.Now {
	case "await":
		<-m.met
	case "meet":
		close(m.met)
	case "stay":
		<-m.end
	case "leave":
		runtime.Goexit()
	case "panic":
		panic("no more")
	}
	return in.Now, nil
}

// habit is how a program gets used to a tool that answers at once.
const habit = `for (let i = 0; i < 300; i++) await step({}); `

// TestPromptTool has a tool that has always answered at once do something else,
// in the midst of calls.
func TestPromptTool(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ source, want string }{
		"waits for the next call": {`await Promise.all([step({now: "await"}), step({now: "meet"})])`, `["await","meet"]`},
		"leaves":                  {`await step({now: "leave"})`, "sandbox: the handler of step ended its goroutine instead of returning"},
		"panics":                  {`try { await step({now: "panic"}) } catch (e) { return [e.kind, await step({now: "on"})] }`, `["unknown","on"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, sandbox.Limits{Calls: 400}, func(t *testing.T, box *sandbox.Sandbox) {
				m := &moody{make(chan struct{}), make(chan struct{})}
				defer close(m.end)
				set := newSet(t, tools.Func("step", "", m.step, nil))
				out, err := box.Run(t.Context(), sandbox.Program{Source: habit + tt.source, Tools: set, Submit: true})
				if got := inShort(out, err); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			})
		})
	}
}

// TestPromptToolStays has it not answer before the program's time is over.
func TestPromptToolStays(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Calls: 400}, func(t *testing.T, box *sandbox.Sandbox) {
		run := func(source string, limit time.Duration) (*sandbox.Outcome, error) {
			m := &moody{make(chan struct{}), make(chan struct{})}
			defer close(m.end)
			set := newSet(t, tools.Func("step", "", m.step, nil))
			return box.Run(t.Context(), sandbox.Program{Source: habit + source, Tools: set, Submit: true, Timeout: limit})
		}
		var last time.Duration
		out, err := untilAbandoned(302, 1, func(limit time.Duration) (*sandbox.Outcome, error) {
			last = limit
			return run(`await Promise.all([step({now: "stay"}), step({})])`, limit)
		})
		got, want := interrupted(inShort(out, err)), fmt.Sprintf("the program ran longer than %v, 1 abandoned", last)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		for limit := time.Second; limit < time.Minute; limit *= 4 { // a program that fails does not end before its handlers
			if out, err = run(`step({now: "stay"}); await sleep(100); throw 1`, limit); err != nil || out.Abandoned == 1 {
				break
			}
		}
		if got := inShort(out, err); got != `uncaught 1, 1 abandoned` {
			t.Errorf("thrown: got %s", got)
		}
	})
}

// TestPromptToolCancelled has the caller go in the midst of calls.
func TestPromptToolCancelled(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Calls: 1000}, func(t *testing.T, box *sandbox.Sandbox) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		step := func(calling context.Context, in struct{ N int }) (int, error) {
			if in.N == 300 {
				cancel()
				<-calling.Done()
			}
			return in.N, nil
		}
		set := newSet(t, tools.Func("step", "", step, nil))
		out, err := box.Run(ctx, sandbox.Program{Source: `for (let N = 0; ; N++) await step({N})`, Tools: set})
		if !errors.Is(err, context.Canceled) || len(out.Calls) != 301 || out.Abandoned != 0 {
			t.Errorf("got %s", inShort(out, err))
		}
	})
}

func inShort(out *sandbox.Outcome, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case out.Failure != nil:
		return fmt.Sprintf("%s, %d abandoned", out.Failure.Message, out.Abandoned)
	case out.Abandoned > 0:
		return fmt.Sprintf("%s, %d abandoned", out.Value, out.Abandoned)
	}
	return string(out.Value)
}
