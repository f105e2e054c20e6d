package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Every program of a session has its inputs, also if the VM was lost.
func TestSessionInputs(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(map[string]any{"text": "abc", "rows": []int{1, 2}})
		for _, s := range []step{
			{`txet`, "did you mean text?"}, // refused: the VM is kept and has not created the inputs yet
			{`const size = text.length; rows.push(3); size`, "value: 3"},
			{`[text, rows, size]`, `value: ["abc",[1,2,3],3]`},
			{`text = "x"`, "text cannot be assigned to: it is an input"},
			{`rows.push(4); throw new Error("no")`, "Error: no"},
			{`[text, rows]`, `value: ["abc",[1,2,3]]`},
			{`{ const text = 1; rows.push(text) } rows`, `value: [1,2,3,1]`},
			{`const text = "mine"; text`, `value: "mine"`},
			{`text`, `value: "abc"`},
		} {
			s.in(t, session, nil)
		}
		got := outcomeOf(session.Run(t.Context(), sandbox.Program{Source: `[text, more]`, Inputs: map[string]any{"more": 1}}))
		if !strings.Contains(got, `value: ["abc",1]`) {
			t.Error(got)
		}
		step{`typeof more`, `value: "undefined"`}.in(t, session, nil)
	})
}

// Runs of a session return an error if its inputs are invalid.
func TestSessionInputsThatCannotBe(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	tool := newSet(t, tools.Func("text", "", func(context.Context, struct{}) (int, error) { return 1, nil }, nil))
	for want, c := range map[string]struct {
		inputs map[string]any
		p      sandbox.Program
	}{
		"sandbox: input \"a b\": the name is reserved or not a JavaScript identifier\nsandbox: input \"await\": the " +
			"name is reserved or not a JavaScript identifier": {inputs: map[string]any{"await": 1, "a b": 2}},
		`sandbox: input "f": json: unsupported type: func()`: {inputs: map[string]any{"f": func() {}}},
		`sandbox: input "text": the session has an input with that name`: {map[string]any{"text": 1},
			sandbox.Program{Inputs: map[string]any{"text": 2}}},
		`sandbox: input "text": a tool has this name`: {map[string]any{"text": 1}, sandbox.Program{Tools: tool}},
	} {
		out, err := box.NewSession(c.inputs).Run(t.Context(), c.p)
		if out != nil || err == nil || err.Error() != want {
			t.Errorf("got %v, %v, want %s", out, err, want)
		}
	}
}

// A large input is sent to a session once. Neither it nor long arguments are part of the
// record.
func TestSessionWithLargeInput(t *testing.T) {
	t.Parallel()
	const size = 6 << 20
	eachTier(t, sandbox.Limits{Output: 1 << 20, Memory: 128 << 20}, func(t *testing.T, box *sandbox.Sandbox) {
		var calls atomic.Int64
		length := func(_ context.Context, in struct{ Text string }) (int, error) { calls.Add(1); return len(in.Text), nil }
		set := newSet(t, tools.Func("length", "", length, nil))
		session := box.NewSession(map[string]any{"text": strings.Repeat("0123456789abcdef", size/16)})
		const piece = 1_000_000
		for i := range 6 { // more than a session of this size may record
			step{fmt.Sprintf(`const n%d = await length(text.slice(0, %d)); n%d`, i, piece, i),
				fmt.Sprint("value: ", piece)}.in(t, session, set)
		}
		made := calls.Load()
		step{`throw new Error("the VM goes")`, "the VM goes"}.in(t, session, set)
		step{`[text.length, n0 + n5]`, fmt.Sprintf("value: [%d,%d]", size, 2*piece)}.in(t, session, set)
		if calls.Load() != made || made != 6 {
			t.Errorf("%d calls, then %d", made, calls.Load())
		}
	})
}

// If a worker died or has evicted a session, the inputs are sent again.
func TestSessionInputsSurviveTheirWorker(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(&sandbox.Options{Workers: 1, Limits: sandbox.Limits{Memory: 64 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	inputs := map[string]any{"text": "abc"}
	refused, begun := box.NewSession(inputs), box.NewSession(inputs)
	step{`nothing`, "nothing is not defined"}.in(t, refused, nil)
	step{`const all = [text]`, ""}.in(t, begun, nil)
	for range 20 {
		step{`1`, "value: 1"}.in(t, box.NewSession(nil), nil)
	}
	step{`text`, `value: "abc"`}.in(t, refused, nil)
	step{`[...all, text]`, `value: ["abc","abc"]`}.in(t, begun, nil)
	step{`const a = []; a.push(a); a["fl" + "at"](Infinity)`, "stack overflow"}.in(t, box.NewSession(nil), nil)
	step{`text`, `value: "abc"`}.in(t, refused, nil)
	step{`[...all, text]`, `value: ["abc","abc"]`}.in(t, begun, nil)
}
