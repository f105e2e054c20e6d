package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Later programs of a session keep what an earlier one has found, also if the session is
// rebuilt after the tools are gone.
func TestDiscoveryInSessions(t *testing.T) {
	t.Parallel()
	set := testTools(t)
	fewer, err := tools.NewSet(t.Context(), raw("echo", answers(`1`)))
	if err != nil {
		t.Fatal(err)
	}
	for tier, box := range openTiers(t, sandbox.Limits{}) {
		t.Run(tier, func(t *testing.T) {
			session := box.NewSession(nil)
			step{`const found = await tools.search("refund"); const shown = await tools.describe("echo"); const {search} ` +
				`= tools`, ""}.in(t, session, set)
			step{`[found[0].name, shown.includes("echo"), (await search("refund")).length]`, `value: ["refund",true,1]`}.in(t,
				session, set)
			for range 20 { // others, which take the place of its VM
				step{`1`, "value: 1"}.in(t, box.NewSession(nil), nil)
			}
			step{`[found.length, (await search("echo"))[0].name, await tools.search("refund")]`, `value: [1,"echo",[]]`}.in(t,
				session, searchable(fewer))
			step{`found[0].name`, `value: "refund"`}.in(t, session, nil)
			step{`await tools.search("x")`, "tools is not defined"}.in(t, session, nil)
		})
	}
}

// Policies do not apply to tools.search and tools.describe. The journal records their calls
// as reads.
func TestDiscoveryIsRecorded(t *testing.T) {
	t.Parallel()
	refuse := func(tools.Caller) tools.Caller {
		return tools.CallerFunc(func(_ context.Context, c tools.Call) (json.RawMessage, error) {
			return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "not even " + c.Tool.Path()}
		})
	}
	set := testTools(t).With(refuse)
	for tier, box := range openTiers(t, sandbox.Limits{}) {
		t.Run(tier, func(t *testing.T) {
			record := journal.New(nil)
			var observed atomic.Int32
			out, err := box.Run(t.Context(), sandbox.Program{
				Source: `await tools.search("refund"); await tools.describe("echo"); echo.name`,
				Tools:  set, Attempt: record.Attempt(), OnCall: func(sandbox.Call) { observed.Add(1) },
			})
			if err != nil || out.Failure != nil {
				t.Fatal(err, out.Failure)
			}
			if observed.Load() != 2 || len(out.Calls) != 2 {
				t.Errorf("OnCall observed %d calls and the outcome has %d, want 2", observed.Load(), len(out.Calls))
			}
			var got []string
			for _, e := range record.Entries() {
				got = append(got, fmt.Sprint(e.Tool, " ", e.Class, " ", e.State))
			}
			if want := []string{"tools.search read ok", "tools.describe read ok"}; !slices.Equal(got, want) {
				t.Errorf("the journal has %v, want %v", got, want)
			}
		})
	}
}

// A server with very many tools is listed by their names alone.
func TestDiscoveryOfMany(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for i := range 3000 {
		list = append(list, &tools.Tool{Namespace: "big", Name: fmt.Sprintf("tool_%04d", i),
			Description: "Do one thing. Or more.", Handler: answers(`1`)})
	}
	set, err := tools.NewSet(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	for tier, box := range openTiers(t, sandbox.Limits{}) {
		out, err := box.Run(t.Context(), sandbox.Program{
			Source: `const lines = (await tools.describe("big")).trim().split("\n"); [lines[0], lines[2].slice(0, 42), ` +
				`lines.length, lines[2].length < 16000]`,
			Tools: searchable(set),
		})
		const want = `["big has 3000 tools:","- big, 3000 tools: tool_{0000,0001,0002,00",3,true]`
		if err != nil || string(out.Value) != want {
			t.Errorf("%s: %s, want %s (%v)", tier, out.Value, want, err)
		}
	}
}

// There is one warning about searches that find no tool. It lists what exists.
func TestNothingFound(t *testing.T) {
	t.Parallel()
	const source = "await tools.search('refund');\nconst none = await tools.search('swimming hall');\n[none, await " +
		"tools.search('zzz')]"
	const want = `line 2, column 26: no tool matches "swimming hall"; search with other words, or describe a server to ` +
		`list its tools; available: ` +
		"files (2 tools), wiki (1 tool), odd_server (1 tool), 14 global functions\n" +
		"2 | const none = await tools.search('swimming hall');\n  |                          ^"
	set := testTools(t)
	for tier, box := range openTiers(t, sandbox.Limits{}) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
		if err != nil || string(out.Value) != "[[],[]]" || len(out.Warnings) != 1 {
			t.Fatalf("%s: got %s and %v (%v)", tier, out.Value, out.Warnings, err)
		}
		if got := out.Warnings[0]; got.Kind != "remark" || got.String() != want {
			t.Errorf("%s: got %s\n%s\nwant\n%s", tier, got.Kind, got, want)
		}
	}
}

// The sandbox adds no tools to the set of a program.
func TestSetIsNotExtended(t *testing.T) {
	t.Parallel()
	set := newSet(t, raw("echo", answers(`1`)))
	for tier, box := range openTiers(t, sandbox.Limits{}) {
		t.Run(tier, func(t *testing.T) {
			step{`[typeof tools, await echo({})]`, `value: ["undefined",1]`}.in(t, box.NewSession(nil), set)
		})
	}
}
