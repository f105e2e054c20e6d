package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// desk has a tool that sends, and a policy that asks a person, who approves the first call
// and does not answer about the others.
type desk struct {
	asked, sent atomic.Int64
	staying     chan struct{} // one for each call of stay
	second      chan struct{} // closed when the person is asked about a second call
	ended       chan struct{} // closed when that request is withdrawn
}

func newDesk() *desk {
	return &desk{staying: make(chan struct{}, 2), second: make(chan struct{}), ended: make(chan struct{})}
}

func (d *desk) tools(t *testing.T) *tools.Set {
	send := tools.Func("send", "", func(context.Context, struct {
		N int `json:"n"`
	}) (string, error) {
		d.sent.Add(1)
		return "sent", nil
	}, &tools.Hints{Class: tools.Effect})
	stay := tools.Func("stay", "", func(context.Context, struct{}) (string, error) {
		d.staying <- struct{}{}
		<-d.ended
		return "stayed", nil
	}, &tools.Hints{Class: tools.Effect})
	asked := tools.Func("asked", "", func(_ context.Context, in struct {
		Stays int `json:"stays"`
	}) (bool, error) {
		for range in.Stays {
			<-d.staying
		}
		<-d.second
		return true, nil
	}, &tools.Hints{Class: tools.Read})
	ask := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if c.Tool.Name != "send" {
				return next.Call(ctx, c)
			}
			switch d.asked.Add(1) {
			case 1:
				return next.Call(ctx, c)
			case 2:
				close(d.second)
				defer close(d.ended)
			}
			<-ctx.Done()
			return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "no answer"}
		})
	}
	return newSet(t, send, stay, asked).With(ask)
}

// When a program has ended, nothing more is dispatched for it, and no approver is asked.
func TestNothingAfterTheEnd(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Concurrency: 2}, func(t *testing.T, box *sandbox.Sandbox) {
		for name, end := range map[string]string{
			"an exception": `throw new Error("over")`,
			"submit":       `submit("over")`,
		} {
			d := newDesk()
			j := journal.New(nil)
			out, err := box.Run(t.Context(), sandbox.Program{
				Source: `const all = []; for (let n = 0; n < 101; n++) all.push(send({n})); await Promise.race(all); ` + end,
				Tools:  d.tools(t), Attempt: j.Attempt(), Submit: true,
			})
			if err != nil || out.Failure == nil || out.Abandoned != 0 {
				t.Fatalf("%s: got %v, %v", name, out, err)
			}
			if asked, sent := d.asked.Load(), d.sent.Load(); asked > 3 || sent != 1 {
				t.Errorf("%s: a person was asked %d times, and %d mails were sent", name, asked, sent)
			}
			states := map[dispatch.State]int{}
			for _, e := range j.Entries() {
				states[e.State]++
			}
			if states[dispatch.StateOK] != 1 || states[dispatch.StateRejected] != 100 {
				t.Errorf("%s: the calls are %v", name, states)
			}
		}
	})
}

// An answer is refused while a call is unanswered. That call is waited for, so that the
// program can be told its result.
func TestSubmitIsRefused(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		for _, test := range []struct{ program, want string }{
			{"stay({});\nawait send({n: 1});\nsend({n: 2});\nawait asked({stays: 1}); submit('all sent')", `
- line 1: stay was made but answered too late
- line 3: send was not made: no answer`},
			{"[1, 2].forEach(async n => {\n  await stay({}); await send({n});\n});\nawait send({n: 0});\nsend({n: 9});\n" +
				"await asked({stays: 2}); submit('all sent')", `
- line 2: stay was made but answered too late
- line 2: stay was made but answered too late
- line 5: send was not made: no answer`},
		} {
			d := newDesk()
			out, err := box.Run(t.Context(), sandbox.Program{Source: test.program, Tools: d.tools(t), Submit: true})
			if err != nil || out.Submitted || out.Value != nil || out.Failure == nil ||
				out.Failure.Kind != sandbox.KindUnawaited {
				t.Fatalf("got %+v, %v", out, err)
			}
			_, list, _ := strings.Cut(out.Failure.Message, "(list.map(…))")
			if list != test.want || d.sent.Load() != 1 {
				t.Errorf("got %s\nwant %s\n%d were sent", list, test.want, d.sent.Load())
			}
		}
	})
}

// moody is a tool that answers at once unless its argument says otherwise.
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

// habit makes many calls that are answered at once.
const habit = `for (let i = 0; i < 300; i++) await step({}); `

// A tool that has always answered at once behaves differently in one of many calls.
func TestPromptTool(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ source, want string }{
		"waits for the next call": {`await Promise.all([step({now: "await"}), step({now: "meet"})])`, `["await","meet"]`},
		"leaves": {`await step({now: "leave"})`,
			"sandbox: the handler of step ended with runtime.Goexit instead of returning"},
		"panics": {`try { await step({now: "panic"}) } catch (e) { return [e.kind, await step({now: ` +
			`"on"})] }`, `["unknown","on"]`},
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

// A tool that has always answered at once does not answer before the program's time is
// over.
func TestPromptToolStays(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Calls: 400}, func(t *testing.T, box *sandbox.Sandbox) {
		run := func(source string, limit time.Duration) (*sandbox.Outcome, error) {
			m := &moody{make(chan struct{}), make(chan struct{})}
			defer close(m.end)
			set := newSet(t, tools.Func("step", "", m.step, nil))
			return box.Run(t.Context(), sandbox.Program{
				Source: habit + source, Tools: set, Submit: true, Limits: sandbox.Limits{Time: limit},
			})
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
		for limit := time.Second; limit < time.Minute; limit *= 4 { // a program that fails waits for its handlers
			if out, err = run(`step({now: "stay"}); await sleep(100); throw 1`, limit); err != nil || out.Abandoned == 1 {
				break
			}
		}
		if got := inShort(out, err); got != `uncaught 1, 1 abandoned` {
			t.Errorf("thrown: got %s", got)
		}
	})
}

// The caller cancels the run in one of many calls.
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

// Only programs whose calls can be held are told about holds.
func TestSecondArgument(t *testing.T) {
	t.Parallel()
	const plain = "a tool takes one object, not several arguments; it is declared as send(args: {n: number /* integer */})"
	const hold = `the second argument of a tool call only answers a hold: {same: "E7"}, {again: "E2"}, ` +
		`{distinct: "all"} or {fresh: true}; put everything else into the first argument`
	box := openTiers(t, sandbox.Limits{})["inprocess"]
	set := newDesk().tools(t)
	for _, tt := range []struct {
		call     string
		recorded bool
		want     string
	}{
		{`send({n: 1}, {to: "ada"})`, false, plain},
		{`send({n: 1}, "ada")`, true, plain},
		{`send({n: 1}, {to: "ada"})`, true, hold},
		{`send("a", {to: "ada"})`, true, strings.Replace(plain, "several arguments", `"a"`, 1)},
	} {
		p := sandbox.Program{Tools: set, Source: `try { await ` + strings.Replace(tt.call, "send", `(0, send)`, 1) +
			` } catch (e) { return e.message }`}
		if tt.recorded {
			p.Attempt = journal.New(nil).Attempt()
		}
		out, err := box.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := out.Decode(&got); err != nil || got != tt.want {
			t.Errorf("%s: got %s (%v)\nwant %s", tt.call, got, err, tt.want)
		}
	}
}

// The host sees which calls were not made, and why a tool crashed.
func TestFailedCalls(t *testing.T) {
	t.Parallel()
	deny := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if c.Tool.Name == "nothing" {
				return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "ask first"}
			}
			return next.Call(ctx, c)
		})
	}
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		for source, want := range map[string]struct {
			state dispatch.State
			cause string
		}{
			"broken({})":                    {dispatch.StateUnknown, "tools: broken panicked: index out of range\ngoroutine "},
			"secret({})":                    {dispatch.StateFailed, "password is 1234"},
			"plain({})":                     {dispatch.StateFailed, "no money"},
			"nothing({})":                   {dispatch.StateRejected, ""},
			`meet(JSON.parse('{"n":"x"}'))`: {dispatch.StateRejected, ""},
		} {
			var seen sandbox.Call
			_, err := box.Run(t.Context(), sandbox.Program{
				Source: "const call = () => " + source + "; await call()", Tools: testTools(t).With(deny),
				OnCall: func(c sandbox.Call) { seen = c },
			})
			if err != nil || seen.Error == nil {
				t.Fatalf("%s: %+v, %v", source, seen, err)
			}
			cause := ""
			if err := seen.Error.Unwrap(); err != nil {
				cause = err.Error()
			}
			matches := cause == want.cause || want.state == dispatch.StateUnknown && strings.HasPrefix(cause, want.cause)
			if state := dispatch.StateOf(seen.Error); state != want.state || !matches {
				t.Errorf("%s: got %s because of %q", source, state, cause)
			}
		}
	})
}
