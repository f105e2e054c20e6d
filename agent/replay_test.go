package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

type orderArgs struct {
	ID    string `json:"id"`
	Lines int    `json:"lines,omitempty" jsonschema:"default=3"`
}

type nameArgs struct {
	Name string `json:"name"`
}

// replayTools are tools that count their calls.
func replayTools(t *testing.T, calls *atomic.Int32) *tools.Set {
	t.Helper()
	get := tools.Func("get", "Returns an order.", func(_ context.Context, in orderArgs) (map[string]any, error) {
		if calls.Add(1); in.ID == "none" {
			return nil, &tools.ToolError{Kind: "not_found", Message: "no such order", Data: json.RawMessage("[1]")}
		}
		return map[string]any{"id": in.ID, "lines": in.Lines}, nil
	}, &tools.Hints{Class: tools.Read})
	get.Namespace = "orders"
	next := tools.Func("next", "Counts.", func(context.Context, struct{}) (int32, error) {
		return calls.Add(1), nil
	}, &tools.Hints{Class: tools.Read})
	read := tools.Func("read", "Reads a file.", func(_ context.Context, in nameArgs) (string, error) {
		calls.Add(1)
		return "text of " + in.Name, nil
	}, &tools.Hints{Class: tools.Read})
	send := tools.Func("send", "Sends a mail.", func(_ context.Context, in nameArgs) (bool, error) {
		calls.Add(1)
		return true, nil
	}, &tools.Hints{Class: tools.Effect, Identity: []string{}})
	set, err := tools.NewSet(t.Context(), get, next, read, send)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// recordedStep runs programs, and returns the last step as it is read from a file.
func recordedStep(t *testing.T, set *tools.Set, programs ...string) module.Step {
	t.Helper()
	var replies []string
	for _, p := range programs {
		replies = append(replies, "```js\n"+p+"\n```")
	}
	bot, err := agent.New(llmtest.New(replies...), &agent.Options{
		Sandbox: open(t), Tools: set, Module: module.Options{MaxIters: len(programs), FreeTurns: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(t.Context(), agent.Task{Task: "7"})
	var run module.Trajectory
	if incomplete, ok := errors.AsType[*module.IncompleteError](err); ok {
		run = incomplete.Trajectory
	} else if err != nil {
		t.Fatal(err)
	} else {
		run = pred.Trajectory
	}
	raw, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	var read module.Trajectory
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	return read.Steps[len(read.Steps)-1]
}

// A program that runs again has the same outcome, and calls no tool.
func TestReplay(t *testing.T) {
	t.Parallel()
	for name, programs := range map[string][]string{
		"a default":           {"submit({answer: JSON.stringify(await orders.get({id: task}))})"},
		"null for a default":  {"submit({answer: JSON.stringify(await orders.get({id: task, lines: null}))})"},
		"equal calls":         {"console.log(await next({}), await next({}), await next({}))"},
		"parallel calls":      {"const all = await Promise.all(['a','b'].map(id => orders.get({id}))); [all]"},
		"a shorthand":         {"const f = 'a'; console.log(await read(f)); console.log(await read('b'))"},
		"an error":            {"try { await orders.get({id: 'none'}) } catch (e) { console.log(e.kind, e.data) }"},
		"an uncaught error":   {"console.log('x')\nawait orders.get({id: 'none'})"},
		"a thrown error":      {"const o = await orders.get({id: '1'});\nthrow new Error(o.id)"},
		"a tool not called":   {"if (!task) { await send({name: 'a'}); await orders.get({id: 'a'}) } await next({})"},
		"a search":            {"console.log(await tools.search('order'), await tools.describe('next'))"},
		"no argument":         {"try { await next() } catch (e) { console.log(e.message) }"},
		"a held call":         {"await send({name: 'a'})", "await send({name: 'b'})"},
		"a call of an effect": {"console.log(await send({name: 'a'}))"},
		"invalid arguments":   {"try { await orders.get({id: +task}) } catch (e) { console.log(e.message) }"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			set := replayTools(t, &calls)
			step := recordedStep(t, set, programs...)
			failure := step.Outcome.Failure
			if held := failure != nil && failure.Hold != nil; held != (name == "a held call") {
				t.Fatalf("recorded %+v", step.Outcome)
			}
			made := calls.Load()
			out, err := agent.Replay(t.Context(), open(t), step, sandbox.Program{Inputs: map[string]any{"task": "7"}})
			if err != nil {
				t.Fatal(err)
			}
			if n := calls.Load() - made; n != 0 {
				t.Errorf("%d calls reached a tool", n)
			}
			was, is := whatHappened(t, step.Outcome), whatHappened(t, out)
			if was != is {
				t.Errorf("recorded\n%s\nbut got\n%s", was, is)
			}
		})
	}
}

// whatHappened returns what must be the same in a replay.
func whatHappened(t *testing.T, out *sandbox.Outcome) string {
	t.Helper()
	same := *out
	same.Calls, same.Duration, same.Computing, same.Waiting = nil, 0, 0, 0
	for _, c := range out.Calls {
		c.Started, c.Duration, c.Recorded = 0, 0, false
		if c.Error != nil {
			c.Error.ID = ""
		}
		same.Calls = append(same.Calls, c)
	}
	raw, err := json.MarshalIndent(same, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestReplayOtherProgram(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	step := recordedStep(t, replayTools(t, &calls), "console.log(await next({}))")
	for source, want := range map[string]string{
		"submit({answer: await next({})})":            "",
		"await next({}); await next({})":              "there is no recorded result for next({})",
		"try { await next({x: 1}) } catch {}":         `there is no recorded result for next({"x":1})`,
		"await next({}); await send({name: 'x'})":     `there is no recorded result for send({"name":"x"})`,
		"await next({}); await mail.send({to: 'x'});": `there is no recorded result for mail.send({"to":"x"})`,
	} {
		out, err := agent.Replay(t.Context(), open(t), step, sandbox.Program{Source: source})
		switch {
		case want == "" && (err != nil || string(out.Value) != `{"answer":1}`):
			t.Errorf("%s: got %+v (%v)", source, out, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v", source, err)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("%d calls reached a tool", n)
	}
}

// A call that had not ended when the program ended does not end in the replay, either.
func TestReplayPending(t *testing.T) {
	t.Parallel()
	step := module.Step{Code: "await wait({})", Outcome: &sandbox.Outcome{
		Calls:   []sandbox.Call{{ID: 1, Tool: "wait", Args: json.RawMessage("{}"), Pending: true}},
		Failure: &sandbox.Failure{Finding: sandbox.Finding{Kind: sandbox.KindTimeout}},
	}}
	p := sandbox.Program{Limits: sandbox.Limits{Time: 50 * time.Millisecond}}
	out, err := agent.Replay(t.Context(), open(t), step, p)
	if err != nil || out.Failure == nil || out.Failure.Kind != sandbox.KindTimeout {
		t.Errorf("got %+v (%v)", out, err)
	}
	step.Outcome.Failure.Kind = sandbox.KindStopped
	_, err = agent.Replay(t.Context(), open(t), step, p)
	if err == nil || !strings.Contains(err.Error(), "the run ended before the result of wait({})") {
		t.Errorf("got %v", err)
	}
}

func TestReplayNothing(t *testing.T) {
	t.Parallel()
	refused := &sandbox.Failure{Findings: []sandbox.Finding{{Message: "x"}}}
	for want, step := range map[string]module.Step{
		"ran no program":              {Reply: "no"},
		"refused before it ran":       {Code: "x", Outcome: &sandbox.Outcome{Failure: refused}},
		"not a JavaScript identifier": {Code: "1", Outcome: &sandbox.Outcome{Calls: []sandbox.Call{{}}}},
	} {
		if _, err := agent.Replay(t.Context(), open(t), step, sandbox.Program{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := agent.Replay(t.Context(), nil, module.Step{}, sandbox.Program{}); err == nil {
		t.Error("got no error without a sandbox")
	}
}
