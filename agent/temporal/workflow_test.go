package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

// updated is the end of an update.
type updated struct{ rejected, completed error }

func (u *updated) Accept()                   {}
func (u *updated) Reject(err error)          { u.rejected = err }
func (u *updated) Complete(_ any, err error) { u.completed = err }

// waiting returns the calls that wait for decisions.
func waiting(t *testing.T, a *Agent, env *testsuite.TestWorkflowEnvironment) (list []agent.Waiting) {
	t.Helper()
	v, err := env.QueryWorkflow(waitingName)
	if err != nil {
		t.Fatal(err)
	}
	var short []waitingCall
	if err := v.Get(&short); err != nil {
		t.Fatal(err)
	}
	for _, s := range short {
		text, err := load(t.Context(), a.options.Objects, s.Whole)
		if err != nil {
			t.Fatal(err)
		}
		var w agent.Waiting
		if err := json.Unmarshal(text, &w); err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	return list
}

func approved() agent.Decision {
	return agent.Decision{Decision: policy.Decision{Approved: true, By: "ann"}}
}

// A call waits for an answer. Invalid answers are rejected, and the same update counts once.
func TestApproval(t *testing.T) {
	t.Parallel()
	for _, signal := range []bool{false, true} {
		s := &shop{}
		a, _ := newAgent(t, s.set(t), Options{},
			`submit({answer: String(await Promise.all([pay({of: "x".repeat(100000)}), buy({of: "b"})]))})`)
		env := environment(t, a)
		first, bad, second := &updated{}, &updated{}, &updated{}
		env.RegisterDelayedCallback(func() {
			list := waiting(t, a, env)
			if len(list) != 1 || list[0].Tool != "pay" || len(list[0].Args) < 100000 || s.String() != "buy:b" {
				t.Fatalf("%v wait, and the tools did %.50s", list, s)
			}
			good := Answer{Call: list[0].ID, Decision: approved()}
			wrong := good
			wrong.Decision.Outcome = &journal.Reconciled{State: journal.StateOK}
			if signal {
				env.SignalWorkflow(decideName, wrong)
				env.SignalWorkflow(decideName, good)
				return
			}
			env.UpdateWorkflow(decideName, "u-0", bad, wrong)
			env.UpdateWorkflow(decideName, "u-1", first, good)
			env.UpdateWorkflow(decideName, "u-2", second, good)
		}, time.Hour)
		got := answer(t, a, env)
		if !strings.Contains(got, "2,1") || !strings.HasPrefix(s.String(), "buy:b pay:xxx") {
			t.Errorf("got %s; the tools did %.50s", got, s)
		}
		if !signal && (first.rejected != nil || bad.rejected == nil || second.rejected == nil) {
			t.Errorf("the updates ended with %v, %v and %v", first.rejected, bad.rejected, second.rejected)
		}
	}
}

// A call that may have an effect is attempted once. If its worker is lost, a person decides, and the program goes on.
func TestLostCall(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, _ := newAgent(t, s.set(t), Options{}, `submit({answer: String(await buy({of: "a"}))})`)
	env := environment(t, a)
	attempts := 0
	env.RegisterActivityWithOptions(func(ctx context.Context, j job) (value, error) {
		attempts++
		_, _ = a.call(ctx, j)
		return value{}, errors.New("the worker has died")
	}, activity.RegisterOptions{Name: "bot" + activityCall, DisableAlreadyRegisteredCheck: true})
	end := &updated{}
	env.RegisterDelayedCallback(func() {
		list := waiting(t, a, env)
		if len(list) != 1 || !list[0].Unknown {
			t.Fatalf("%v wait", list)
		}
		env.UpdateWorkflow(decideName, "u-1", end, Answer{Call: list[0].ID, Decision: agent.Decision{
			Outcome: &journal.Reconciled{State: journal.StateOK, Result: json.RawMessage("42")}}})
	}, time.Hour)
	got := answer(t, a, env)
	if !strings.Contains(got, "42") || attempts != 1 || s.String() != "buy:a" || end.rejected != nil {
		t.Errorf("got %s after %d attempts, %v; the tools did %s", got, attempts, end.rejected, s)
	}
}

// A read is attempted again.
func TestLostRead(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, _ := newAgent(t, s.set(t), Options{}, `submit({answer: String(await look({of: "a"}))})`)
	env := environment(t, a)
	attempts := 0
	env.RegisterActivityWithOptions(func(ctx context.Context, j job) (value, error) {
		if attempts++; attempts < 3 {
			return value{}, errors.New("the worker has died")
		}
		return a.call(ctx, j)
	}, activity.RegisterOptions{Name: "bot" + activityCall, DisableAlreadyRegisteredCheck: true})
	if got := answer(t, a, env); attempts != 3 || !strings.Contains(got, "1") {
		t.Errorf("got %s after %d attempts", got, attempts)
	}
}

// Errors of tools reach the program.
func TestToolErrors(t *testing.T) {
	t.Parallel()
	fail := func(name string, err error) *tools.Tool {
		return tools.Func(name, "Fails.", func(context.Context, order) (int, error) {
			if err == nil {
				panic("oh")
			}
			return 0, err
		}, &tools.Hints{Class: tools.Effect})
	}
	set := (&shop{}).set(t, fail("fail", errors.New("sold out")), fail("crash", nil),
		fail("down", &tools.ToolError{Kind: tools.KindUnavailable, Message: "closed"}))
	a, _ := newAgent(t, set, Options{}, `const kinds = [];
for (const f of [fail, crash, down]) try { await f({of: "a"}) } catch (e) { kinds.push(e.kind + "/" + e.message) }
submit({answer: kinds.join()})`)
	got := answer(t, a, environment(t, a))
	for _, want := range []string{"failed/", "sold out", "unknown/", "unavailable/", "closed"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s; %q is missing", got, want)
		}
	}
}

// Temporary errors of a model are tried again, in new attempts of the activity.
func TestModelErrors(t *testing.T) {
	t.Parallel()
	n := 0
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		if n++; n < 3 {
			return llmtest.Reply{}, &models.Error{Kind: models.KindRateLimited, RetryAfter: time.Hour,
				Err: errors.New("busy")}
		}
		return llmtest.Reply{Text: fences([]string{`submit({answer: "done"})`})[0]}, nil
	})
	a := agentWith(t, (&shop{}).set(t), Options{}, model)
	env := environment(t, a)
	start := env.Now()
	if got := answer(t, a, env); !strings.Contains(got, "done") || n != 3 || env.Now().Sub(start) < 2*time.Hour {
		t.Errorf("got %s after %d requests and %s", got, n, env.Now().Sub(start))
	}

	denied := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{}, &models.Error{Kind: models.KindAuth, Err: errors.New("no key")}
	})
	a = agentWith(t, (&shop{}).set(t), Options{}, denied)
	env = environment(t, a)
	env.ExecuteWorkflow("bot", state{Input: value{JSON: []byte(`{"task":"Buy."}`)}})
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "no key") {
		t.Errorf("got %v", err)
	}
	if got := len(denied.Requests()); got != 1 {
		t.Errorf("%d requests were made", got)
	}
}

// A workflow continues in a new execution when it has made many calls, and its history has no large values.
func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, model := newAgent(t, s.set(t), Options{},
		`for (let i = 0; i < 6; i++) await Promise.all([1, 2, 3].map(n => buy({of: i + "." + n})));
submit({answer: "bought " + await buy({of: "x".repeat(3e6)})})`)
	var size atomic.Int64
	again, executions := state{Input: value{JSON: []byte(`{"task":"Buy."}`)}}, 0
	for ; executions < 20; executions++ {
		env := environment(t, a)
		env.SetOnActivityStartedListener(func(info *activity.Info, ctx context.Context, args converter.EncodedValues) {
			var in json.RawMessage
			_ = args.Get(&in)
			size.Store(max(size.Load(), int64(len(in))))
		})
		if executions < 6 { // as the server does when the history is long
			env.SetContinueAsNewSuggested(true)
		}
		env.ExecuteWorkflow("bot", again)
		err := env.GetWorkflowError()
		if err == nil {
			var v ending
			if err := env.GetWorkflowResult(&v); err != nil || !strings.Contains(string(v.Output.JSON), "bought 19") {
				t.Errorf("got %s, %v", v.Output.JSON, err)
			}
			break
		}
		next, ok := errors.AsType[*workflow.ContinueAsNewError](err)
		if !ok {
			t.Fatal(err)
		}
		again = state{}
		if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &again); err != nil {
			t.Fatal(err)
		}
	}
	if executions < 3 || len(s.done) != 19 || len(model.Requests()) != 1 || size.Load() > 100<<10 {
		t.Errorf("%d executions did %d calls and %d requests; the largest input has %d bytes",
			executions, len(s.done), len(model.Requests()), size.Load())
	}
}

// A run that cannot begin fails, and is not tried again.
func TestInvalidInput(t *testing.T) {
	t.Parallel()
	a, _ := newAgent(t, (&shop{}).set(t), Options{})
	env := environment(t, a)
	env.ExecuteWorkflow("bot", state{Input: value{JSON: []byte(`{"task": 5}`)}})
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "input cannot be decoded") {
		t.Errorf("got %v", err)
	}
}

// A run that another worker owns is tried again until that worker gives it up.
func TestOwnedRun(t *testing.T) {
	t.Parallel()
	s := &shop{}
	dir, err := journal.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, _ := newAgent(t, s.set(t), Options{Store: dir}, `submit({answer: String(await buy({of: "a"}))})`)
	env := environment(t, a)
	var owner journal.Log
	env.SetOnActivityStartedListener(func(info *activity.Info, ctx context.Context, args converter.EncodedValues) {
		var in advance
		if _ = args.Get(&in); in.Run == "" || info.ActivityType.Name != "bot"+activityAdvance {
			return
		}
		if owner == nil {
			if owner, err = dir.Open(t.Context(), in.Run); err != nil {
				t.Error(err)
			}
		} else if info.Attempt == 3 {
			_ = owner.Close()
		}
	})
	if got := answer(t, a, env); !strings.Contains(got, "1") {
		t.Errorf("got %s", got)
	}
}

// Calls go to the queues of their tools, and runs to a queue for the version.
func TestQueues(t *testing.T) {
	t.Parallel()
	s := &shop{}
	queue := func(tool string) string { return map[string]string{"buy": "shop"}[tool] }
	a, _ := newAgent(t, s.set(t), Options{Queue: queue, CallTimeout: time.Minute},
		`submit({answer: String(await buy({of: "a"}) + await look({of: "b"}))})`)
	env := environment(t, a)
	var mu sync.Mutex
	queues := map[string]string{}
	env.RegisterActivityWithOptions(func(ctx context.Context, j job) (value, error) {
		mu.Lock()
		defer mu.Unlock()
		queues[j.Tool] = fmt.Sprint(activity.GetInfo(ctx).TaskQueue, " ", j.Queue, " ", j.Timeout, " ", j.Attempts)
		return a.call(ctx, j)
	}, activity.RegisterOptions{Name: "bot" + activityCall, DisableAlreadyRegisteredCheck: true})
	answer(t, a, env)
	if queues["buy"] != "shop shop 1m0s 1" || queues["look"] != a.TaskQueue()+" "+a.TaskQueue()+" 1m0s 5" {
		t.Errorf("the queues are %v", queues)
	}
	other, _ := newAgent(t, s.set(t), Options{Version: "2"})
	again, _ := newAgent(t, s.set(t), Options{})
	if other.TaskQueue() == a.TaskQueue() || again.TaskQueue() != a.TaskQueue() {
		t.Errorf("the queues are %s, %s and %s", a.TaskQueue(), again.TaskQueue(), other.TaskQueue())
	}
}

// An object that is damaged is not used.
func TestObjects(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	o, err := OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	text := json.RawMessage(`"` + strings.Repeat("x", maxInline) + `"`)
	var v value
	for range 2 {
		if v, err = keep(t.Context(), o, text, maxInline); err != nil || v.Key == "" || v.JSON != nil {
			t.Fatalf("got %v, %v", v, err)
		}
	}
	if got, err := load(t.Context(), o, v); err != nil || string(got) != string(text) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if err := os.WriteFile(filepath.Join(folder, v.Key), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t.Context(), o, v); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
	if short, err := keep(t.Context(), o, text[:9], maxInline); err != nil || short.Key != "" {
		t.Errorf("got %v, %v", short, err)
	}
}

// A program that ends while a call is in progress waits for the result.
func TestProgramEndsDuringCall(t *testing.T) {
	t.Parallel()
	s, bought := &shop{}, make(chan struct{})
	slow := tools.Func("slow", "Waits.", func(ctx context.Context, o order) (int, error) {
		<-bought
		time.Sleep(100 * time.Millisecond) // so that the program has ended
		return s.did(ctx, "slow:"+o.Of), nil
	}, &tools.Hints{Class: tools.Effect})
	var once sync.Once
	fast := tools.Func("fast", "Is quick.", func(ctx context.Context, o order) (int, error) {
		once.Do(func() { close(bought) })
		return s.did(ctx, "fast:"+o.Of), nil
	}, &tools.Hints{Class: tools.Effect})
	a, _ := newAgent(t, s.set(t, slow, fast), Options{},
		`await Promise.all([slow({of: "a"}), fast({of: "b"}).then(() => { throw new Error("stop") })])`,
		`submit({answer: String(await fast({of: "b"}) + await slow({of: "a"}))})`)
	env := environment(t, a)
	env.SetTestTimeout(15 * time.Second) // a program has 30 seconds
	if got := answer(t, a, env); !strings.Contains(got, "3") || s.String() != "fast:b slow:a" {
		t.Errorf("got %s; the tools did %s", got, s)
	}
}

// A run pauses because the outcome of a call is unknown. Nobody is asked, because the call is in progress. When the
// result comes, the run goes on by itself.
func TestLateResult(t *testing.T) {
	t.Parallel()
	s, paused := &shop{}, make(chan struct{})
	slow := tools.Func("slow", "Waits.", func(ctx context.Context, o order) (int, error) {
		<-paused
		return s.did(ctx, "slow:"+o.Of), nil
	}, &tools.Hints{Class: tools.Effect})
	model := llmtest.New(fences([]string{`const c = slow({of: "a"}); await look({of: "b"}); throw new Error("stop")`,
		`submit({answer: "got " + await slow({of: "a"})})`})...)
	a := limited(t, s.set(t, slow), Options{}, model, sandbox.Limits{Time: time.Second})
	env := environment(t, a)
	var look func()
	look = func() {
		all, err := a.runs.List(t.Context())
		if err != nil || len(all) == 0 || all[0].State != agent.Paused {
			env.RegisterDelayedCallback(look, 50*time.Millisecond)
			return
		}
		if list := waiting(t, a, env); len(list) > 0 {
			t.Errorf("%v wait", list)
		}
		close(paused)
	}
	env.RegisterDelayedCallback(look, 50*time.Millisecond)
	if got := answer(t, a, env); !strings.Contains(got, "got 2") || s.String() != "look:b slow:a" {
		t.Errorf("got %s; the tools did %s", got, s)
	}
}
