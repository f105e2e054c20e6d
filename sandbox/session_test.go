package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// step is a program of a session and a part of its outcome.
type step struct{ source, want string }

func (s step) in(t *testing.T, session *sandbox.Session, set *tools.Set) {
	t.Helper()
	got := outcomeOf(session.Run(t.Context(), sandbox.Program{Source: s.source, Tools: set}))
	if !strings.Contains(got, s.want) {
		t.Errorf("%s\ngave %s\nwant %s", s.source, got, s.want)
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	sessions := map[string][]step{
		"declarations": {
			{`const a = 1; let b = 2; var c = 3; function d() { return 4 } class E { f = 5 }`, ""},
			{`[a, b, c, d(), new E().f]`, "value: [1,2,3,4,5]"},
		},
		"destructuring": {
			{`const {x, y: [z = 7, ...rest]} = {x: 1, y: [undefined, 8, 9]}; const {"a-b": ab, ...others} = {"a-b": 2, c: 3};`,
				""},
			{`({x, z, rest, ab, others})`, `value: {"x":1,"z":7,"rest":[8,9],"ab":2,"others":{"c":3}}`},
		},
		"variables are live": {
			{`let count = 0; const inc = () => ++count;`, ""},
			{`inc(); inc(); count += 10; count`, "value: 12"},
			{`[inc(), count]`, "value: [13,13]"},
		},
		"constants": {
			{`const rows = [1]`, ""},
			{`rows = []`, "rows cannot be assigned to"},
			{`const f = () => { globalThis.rows = [] }; f()`, "TypeError"},
			{`rows.push(2); rows`, "value: [1,2]"},
		},
		"declared again": {
			{`const rows = [1, 2]; const total = () => rows.length`, ""},
			{`const rows = ["new"]; [rows, total()]`, `value: [["new"],2]`},
			{`rows`, `value: ["new"]`},
		},
		"a failure leaves no trace": {
			{`const list = [1]; let n = 1`, ""},
			{`list.push(2); n = 5; const gone = 1; throw new Error("no")`, "Error: no"},
			{`[list, n]`, "value: [[1],1]"},
			{`gone`, "gone is not defined"},
			{`let x = ;`, "syntax"},
			{`list.push(3); list`, "value: [1,3]"},
		},
		"await":  {{`const later = await Promise.resolve(3)`, ""}, {`later`, "value: 3"}},
		"submit": {{`const a = 1; [1].forEach(() => a)`, ""}, {`a`, "value: 1"}},
		"no code from text": {
			{`const f = () => 1`, ""},
			{`(async () => {}).constructor("return 1")()`, "code cannot be created from strings"},
			{`(function* () {}).constructor("return 1")()`, "code cannot be created from strings"},
		},
		"names of the wrapping": {
			{`const _ = 1, $ = 2; let __proto__ = 3`, ""},
			{`[_, $]`, "value: [1,2]"},
			{`__writ_export__({a: [() => 1]})`, "__writ_export__"},
		},
		"the value": {{`let a = 5`, "value: undefined"}, {`a++`, "value: 5"}, {`a`, "value: 6"}},
		"timers end with the program": {
			{`let ticks = 0; setInterval(() => ticks++, 1); await sleep(20); const at = ticks; at > 0`, "value: true"},
			{`const before = ticks; await sleep(20); ticks === before`, "value: true"},
		},
	}
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		for name, steps := range sessions {
			t.Run(name, func(t *testing.T) {
				session := box.NewSession(nil)
				for _, s := range steps {
					s.in(t, session, nil)
				}
			})
		}
	})
}

// Sessions whose VM was evicted by others continue, and no tool is called to rebuild them.
func TestSessionsAreRebuilt(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		const sessions = 40
		var calls atomic.Int64
		next := func(context.Context, struct{}) (int64, error) { return calls.Add(1), nil }
		slow := func(_ context.Context, in struct{ Name string }) (string, error) {
			if in.Name == "slow" {
				time.Sleep(20 * time.Millisecond)
			}
			return in.Name, nil
		}
		set, err := tools.NewSet(t.Context(), tools.Func("next", "", next, nil), tools.Func("race", "", slow, nil))
		if err != nil {
			t.Fatal(err)
		}
		list, orders := make([]*sandbox.Session, sessions), make([]string, sessions)
		for i := range list {
			list[i] = box.NewSession(nil)
			out, err := list[i].Run(t.Context(), sandbox.Program{Tools: set, Source: fmt.Sprintf(`
				const id = %d, number = await next(); let order = [];
				await Promise.all(["slow", "quick"].map(async Name => order.push(await race({Name}))));
				const chance = [Math.random(), Date.now(), crypto.randomUUID(), new Date().getTime()];
				const shown = JSON.stringify(chance); order`, i)})
			if err != nil || out.Failure != nil {
				t.Fatal(outcomeOf(out, err))
			}
			orders[i] = strings.TrimSuffix(string(out.Value), "]") // usually the quick one comes first
		}
		made := calls.Load()
		for round := range 2 {
			for i, session := range list {
				step{`[id, order, shown === JSON.stringify(chance), order.push("x")]`,
					fmt.Sprintf(`value: [%d,%s`, i, orders[i])}.in(t, session, nil)
				if session.Len() != round+2 {
					t.Errorf("%d programs", session.Len())
				}
			}
		}
		if got := calls.Load(); got != made || made != sessions {
			t.Errorf("%d calls, then %d", made, got)
		}
	})
}

// A session whose programs do something else when they are run again is lost.
func TestSessionLost(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(&sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	session := box.NewSession(nil)
	step{`const zone = new Date(2026, 0, 1).getTimezoneOffset(); 1`, "value: 1"}.in(t, session, nil)
	if err := sandbox.Tamper(session); err != nil {
		t.Fatal(err)
	}
	out, err := session.Run(t.Context(), sandbox.Program{Source: `zone`})
	const want = "rerun of program 1 of the session: the value was 2, but the value of the rerun was 1"
	if out != nil || !errors.Is(err, sandbox.ErrSessionLost) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, %v", out, err)
	}
}

// A failure in a function of an earlier program has the position of the call in this
// program.
func TestSessionPositions(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		step{"\n\nconst f = () => { throw new Error(\"early\") }; const g = x => x.y.z", ""}.in(t, session, nil)
		step{"const a = 1;\nf()", "line 2, column 1: Error: early\n2 | f()"}.in(t, session, nil)
		step{"g({})", "line 1, column 1: TypeError"}.in(t, session, nil)
	})
}

// Sessions own no process: a thousand of them need as few workers as one, and a session
// whose worker died continues in another.
func TestSessionsOwnNothing(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(&sandbox.Options{Workers: 2, Limits: sandbox.Limits{Memory: 64 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	sessions := make([]*sandbox.Session, 1000)
	for i := range sessions {
		sessions[i] = box.NewSession(nil)
		step{fmt.Sprintf("let n = %d; const add = by => n += by", i), ""}.in(t, sessions[i], nil)
	}
	for _, i := range []int{0, 500, 999} {
		step{`const a = []; a.push(a); a["fl" + "at"](Infinity)`, "stack overflow"}.in(t, sessions[i], nil)
		step{"add(1)", fmt.Sprintf("value: %d\n", i+1)}.in(t, sessions[i], nil)
		step{"n", fmt.Sprintf("value: %d\n", i+1)}.in(t, sessions[i], nil)
	}
}

// Programs cannot break the session for later programs. The cases were found by attacking
// sessions.
func TestSessionsUnderAttack(t *testing.T) {
	t.Parallel()
	noted := func(context.Context, struct{}) (string, error) { return "from the tool", nil }
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		set := newSet(t, tools.Func("note", "", noted, nil))
		with := func(session *sandbox.Session, source string, inputs map[string]any) string {
			return outcomeOf(session.Run(t.Context(), sandbox.Program{Source: source, Inputs: inputs, Tools: set}))
		}
		for name, steps := range map[string][]struct {
			source string
			inputs map[string]any
			want   string
		}{
			"inputs win over globals": {
				{"globalThis.price = 1; 1", nil, "value: 1"}, {"price", map[string]any{"price": 100}, "value: 100"},
				{"price", nil, "price is not defined"},
			},
			"no input survives": {
				{"1", map[string]any{"performance": 5}, "value: 1"}, {"typeof performance", nil, `value: "undefined"`},
				{"performance", map[string]any{"performance": 6}, "value: 6"},
			},
			"tools win, or nothing runs": {
				{`Object.defineProperty(globalThis, "late", {value: 1}); 1`, nil, "value: 1"},
				{"late", map[string]any{"late": 2}, "a permanent property of the global object"},
			},
			"odd names": {
				{"const __proto__ = 5; let _ = 1, $ = 2", nil, ""}, {"[__proto__, _, $]", nil, "value: [5,1,2]"},
				{"const undefined = 1", nil, "cannot be declared in a session"},
			},
			"prototypes": {
				{`Array.prototype[1] = function (v) { console.log("stolen", v) }; const a = 1`, nil, ""},
				{"a = 2", nil, "cannot be assigned to"}, {"const b = 2; b", nil, "value: 2"},
			},
			"the exporter's name": {{"const a = 1; a", map[string]any{"__writ_export__": 5}, "value: 1"}},
		} {
			t.Run(name, func(t *testing.T) {
				session := box.NewSession(nil)
				for _, s := range steps {
					if got := with(session, s.source, s.inputs); !strings.Contains(got, s.want) {
						t.Errorf("%s\ngave %s\nwant %s", s.source, got, s.want)
					}
				}
			})
		}
	})
}

// Rebuilding a session takes no longer than one run may take.
func TestRebuildIsBounded(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Time: 40 * time.Millisecond}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		slow := `for (const end = 1e6, c = {n: 0}; c.n < end; c.n++); 1`
		if raceDetector { // which makes it more than ten times as slow
			slow = strings.Replace(slow, "1e6", "1e5", 1)
		}
		long := sandbox.Limits{Time: ample}
		for range 6 {
			out, err := session.Run(t.Context(), sandbox.Program{Source: slow, Limits: long})
			if err != nil || out.Failure != nil {
				t.Fatal(outcomeOf(out, err))
			}
		}
		// the VM is gone
		if out, err := session.Run(t.Context(), sandbox.Program{Source: `throw 1`, Limits: long}); err != nil {
			t.Fatal(outcomeOf(out, err))
		}
		if out, err := session.Run(t.Context(), sandbox.Program{Source: `1`}); !errors.Is(err, sandbox.ErrSessionLost) {
			t.Errorf("got %s", outcomeOf(out, err))
		}
	})
}

// The record of a session is bounded, whatever it consists of.
func TestSessionIsFull(t *testing.T) {
	t.Parallel()
	// With less memory, the memory of other tests would matter.
	box, err := sandbox.NewInProcess(&sandbox.Options{Limits: sandbox.Limits{Output: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	set := newSet(t, tools.Func("raw", "", func(context.Context, struct{}) (int, error) { return 1, nil }, nil))
	session := box.NewSession(nil)
	for range 100 {
		_, err = session.Run(t.Context(), sandbox.Program{Tools: set,
			Source: `try { await raw({}, {again: "x".repeat(3e5)}) } catch {}`})
		if err != nil {
			break
		}
	}
	if !errors.Is(err, sandbox.ErrSessionFull) {
		t.Errorf("got %v", err)
	}
}
