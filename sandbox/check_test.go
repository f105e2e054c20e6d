package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// The finding about a name of an earlier program explains why it is not defined.
func TestEarlier(t *testing.T) {
	t.Parallel()
	box := openTiers(t, sandbox.Limits{})["isolated"]
	first := "const rows = [1], {a} = {}; let b; function f() { const c = 1; return c }\nclass D {}"
	out, err := box.Run(t.Context(), sandbox.Program{Source: first})
	if err != nil {
		t.Fatal(err)
	}
	const afresh = " is not defined (an earlier program declared it, but programs do not share variables; declare " +
		"it again)"
	for source, want := range map[string]string{
		"rows.length": "line 1, column 1: rows" + afresh,
		"a + 1":       "line 1, column 1: a" + afresh,
		"b = 1":       "line 1, column 1: b" + afresh,
		"new D()":     "line 1, column 5: D" + afresh,
		"c + 1":       "line 1, column 1: c is not defined",
		"{ let b = 1 }\nb;": "line 2, column 1: b is not defined " +
			"(line 1 declares it inside a block or function; declare it outside)",
	} {
		review, err := box.Check(t.Context(), sandbox.Program{Source: source, Earlier: out.Declared})
		if err != nil || len(review.Findings) != 1 {
			t.Fatal(err, review.Findings)
		}
		f := review.Findings[0]
		f.Frame = ""
		if f.String() != want {
			t.Errorf("%s\ngot  %s\nwant %s", source, f, want)
		}
	}
}

// A check of very many misspelled properties is fast and short.
func TestCheckOfManyProperties(t *testing.T) {
	t.Parallel()
	var known, given strings.Builder
	properties := 800
	if raceDetector {
		properties = 100
	}
	for i := range properties {
		fmt.Fprintf(&known, `, "some_rather_long_property_%d": {"type": "string"}`, i)
		fmt.Fprintf(&given, `, some_rather_lung_property_%dx: 1`, i)
	}
	set := newSet(t, &tools.Tool{Name: "save", Handler: answers(`1`), InputSchema: json.RawMessage(
		`{"type": "object", "properties": {"a": {}` + known.String() + `}, "additionalProperties": false}`)})
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		start := time.Now()
		review, err := box.Check(t.Context(), sandbox.Program{Source: "await save({a: 1" + given.String() + "})", Tools: set})
		if err != nil || len(review.Findings) != 1 || !strings.HasSuffix(review.Findings[0].Message,
			fmt.Sprintf("; and %d more", properties-10)) {
			t.Errorf("got %v, %v", review, err)
		}
		if took := time.Since(start); took > guard {
			t.Errorf("took %v", took)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	set := testTools(t)
	eachTier(t, sandbox.Limits{Source: 1000}, func(t *testing.T, box *sandbox.Sandbox) {
		for _, test := range []struct {
			name, source string
			want         []string // kind line:column
		}{
			{"valid", `console.log("not run"); while (true) {}`, nil},
			{"empty", ``, nil},
			{"fails when it runs", `await fatal({}); throw new Error("x")`, nil},
			{"all findings", "foo();\nfiles.lst({}); refund({});\n/\\p{L}/u", []string{
				"undeclared 1:1", "unknown_tool 2:7", "invalid_argument 2:16", "unsupported 3:1",
			}},
			{"syntax", "let a = ;", []string{"syntax 1:9"}},
			{"an error of the compiler", "with (Math) { max(1) }", []string{"syntax 1:1"}},
			{"source", strings.Repeat(" ", 1001), []string{"source_limit 0:0"}},
		} {
			review, err := box.Check(t.Context(), sandbox.Program{Source: test.source, Tools: set})
			var got []string
			for _, f := range review.Findings {
				got = append(got, fmt.Sprintf("%s %d:%d", f.Kind, f.Line, f.Column))
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: got %q, %v; want %q", test.name, got, err, test.want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := box.Check(ctx, sandbox.Program{Source: "1"}); !errors.Is(err, context.Canceled) {
			t.Errorf("a check in a cancelled context: %v", err)
		}
	})
}

// A function of an earlier program may change data, so a mistake after its call is refused.
func TestCheckHandledInSession(t *testing.T) {
	t.Parallel()
	set := shopTools(t)
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		earlier := "async function go() { await orders.refund({id: 104, reason: 'late'}) }\nconst id = 101"
		if out, err := session.Run(t.Context(), sandbox.Program{Source: earlier, Tools: set}); err != nil || out.Failure != nil {
			t.Fatal(outcomeOf(out, err))
		}
		const probe = "await orders.get({id: 101}); await orders.get({}).catch(e => e.kind)"
		for source, want := range map[string]int{probe: 0, "await go(); " + probe: 1} {
			result, err := session.Check(t.Context(), sandbox.Program{Source: source, Tools: set})
			if err != nil || len(result.Findings) != want {
				t.Errorf("%s: got %v, %v", source, result.Findings, err)
			}
		}
	})
}

// A text that is no program is told from one, without running either.
func TestCheckActs(t *testing.T) {
	t.Parallel()
	set := testTools(t)
	eachTier(t, sandbox.Limits{Source: 1000}, func(t *testing.T, box *sandbox.Sandbox) {
		for source, want := range map[string]bool{
			"": false, "Done": false, "Done.": false, "I cannot do that.": false, "1 + 1": false, `"a text"`: false,
			`{"total": 3}`: false, `[{"name": "a"}]`: false, "Total: 3": false, "// refund({})": false, "yes => no": false,
			"Note: first(": false, "refund({})" + strings.Repeat(" ", 1000): false, "let a = ;": false,
			"refund({})": true, "foo()": true, "let a": true, "function f() {}": true, "class A {}": true, "return f()": true,
			"const { a } = await files.read({path: 'a'}); a": true, "if (true) { refund.x() }": true,
		} {
			result, err := box.Check(t.Context(), sandbox.Program{Source: source, Tools: set})
			if err != nil || result.Acts != want {
				t.Errorf("%.30q: got %v, %v", source, result.Acts, err)
			}
		}
	})
}

// The program decides how much there is to judge, so judging is bounded.
func TestJudgingIsBounded(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for i := range 300 {
		list = append(list, raw(fmt.Sprintf("list_repository_items_%d", i),
			func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }))
	}
	set := newSet(t, list...)
	var source strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&source, "unknown%d();", i)
	}
	fmt.Fprintf(&source, "list_repository_items_0([%s])", strings.Repeat("1,", 2000))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: source.String(), Tools: set})
		if err != nil || out.Failure == nil || len(out.Failure.Findings) != 20 || len(out.Failure.String()) > 20_000 {
			t.Errorf("got %.500s", outcomeOf(out, err))
		}
	})
}
