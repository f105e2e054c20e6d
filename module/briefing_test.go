package module

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// there and thereIsNot are what the briefing says of the engine, phrase by phrase,
// and how to find out.
var (
	there = []struct{ phrase, program string }{
		{"console", `console.log('seen'); console.error('seen'); true`},
		{"setTimeout", `await new Promise(done => setTimeout(done, 1)); true`},
		{"setInterval", `let n = 0; await new Promise(done => { const t = setInterval(() => { if (++n === 2) { clearInterval(t); done(); } }, 1) }); n === 2`},
		{"sleep(ms) which returns a promise", `const p = sleep(1); const is = p instanceof Promise; await p; is`},
		{"crypto.randomUUID", `/^[0-9a-f-]{36}$/.test(crypto.randomUUID())`},
		{"crypto.getRandomValues", `crypto.getRandomValues(new Uint8Array(8)).length === 8`},
		{"structuredClone", `const c = structuredClone({a: [1], d: new Date(0)}); c.a[0] === 1 && c.d instanceof Date`},
		{"queueMicrotask", `await new Promise(done => queueMicrotask(done)); true`},
		{"atob", `atob('YQ==') === 'a'`},
		{"btoa", `btoa('a') === 'YQ=='`},
		{"URLSearchParams", `new URLSearchParams({a: 'b c'}).toString() === 'a=b+c'`},
		{"Object.groupBy", `Object.groupBy([1], x => 'a').a[0] === 1`},
		{"toLocaleString for en-US", `(1234.5).toLocaleString('en-US', {style: 'currency', currency: 'USD'}) === '$1,234.50' && new Date(0).toLocaleDateString('en-US').includes('/')`},
		{"JSON", `JSON.parse(JSON.stringify({a: [1]})).a[0] === 1`},
		{"Math", `Math.max(1, 2) === 2`},
		{"Date", `new Date('2026-01-02').toISOString().startsWith('2026-01-02')`},
		{"Map", `new Map([[1, 2]]).get(1) === 2`},
		{"Set", `new Set([1, 1]).size === 1`},
		{"RegExp", `[...'a1b2'.matchAll(/(?<n>\d)/g)].length === 2`},
		{"Promise", `(await Promise.allSettled([Promise.resolve(1), Promise.any([Promise.resolve(2)])])).length === 2`},
		{"BigInt", `(2n ** 64n).toString() === '18446744073709551616'`},
		{"typed arrays", `new Float64Array([1, 2]).length === 2`},
	}
	thereIsNot = []struct{ phrase, program string }{
		{"import", `import x from 'y'`},
		{"require", `require('fs')`},
		{"fetch", `await fetch('http://example.com')`},
		{"process", `process.env`},
		{"Buffer", `Buffer.from('a')`},
		{"URL", `new URL('http://example.com')`},
		{"TextEncoder", `new TextEncoder()`},
		{"performance", `performance.now()`},
		{"AbortController", `new AbortController()`},
		{"WeakRef", `new WeakRef({})`},
		{"Intl", `new Intl.NumberFormat()`},
		{"other locales", `(1).toLocaleString('de-DE')`},
		{"eval", `eval('1')`},
		{"Array.fromAsync", `await Array.fromAsync([1])`},
		{"iterator helpers", `[1].values().map(x => x)`},
		{"for await", `for await (const x of [1]) {}`},
		{"async generators", `async function* f() {}`},
		{`\p{…} and the flags v and d in regular expressions`, `/\p{L}/u.test('a')`},
		{`\p{…} and the flags v and d in regular expressions`, `/a/v`},
		{`\p{…} and the flags v and d in regular expressions`, `/a/d`},
	}
)

func openBox(t *testing.T, l sandbox.Limits) *sandbox.Sandbox {
	t.Helper()
	if l.Compute == 0 { // enough, however slow the machine is
		l.Time, l.Compute = 10*time.Minute, 10*time.Minute
	}
	box, err := sandbox.New(&sandbox.Options{Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

func outcome(t *testing.T, box Sandbox, p sandbox.Program) *sandbox.Outcome {
	t.Helper()
	out, err := box.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What the prompt says of the engine is so.
func TestEngineFacts(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.Limits{})
	has, lacks := factAfter(t, "- There are: "), factAfter(t, "- There are not: ")
	for _, c := range there {
		has = without(t, has, c.phrase)
		if out := outcome(t, box, sandbox.Program{Source: c.program}); out.Failure != nil || string(out.Value) != "true" {
			t.Errorf("there is no %s: %v, %s", c.phrase, out.Failure, out.Value)
		}
	}
	for _, c := range thereIsNot {
		lacks = without(t, lacks, c.phrase)
		if out := outcome(t, box, sandbox.Program{Source: c.program}); out.Failure == nil {
			t.Errorf("there is %s: %s", c.phrase, out.Value)
		}
	}
	if got := has + lacks; strings.Trim(got, " ,.…()") != "and the language's own objects and functions" {
		t.Errorf("nothing tries: %s", got)
	}
}

// factAfter is a line of the engine's facts.
func factAfter(t *testing.T, start string) string {
	_, text, found := strings.Cut((engineHas + engineLacks + engineChecks), start)
	if !found {
		t.Fatalf("there is no line %q", start)
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// without takes a phrase out of a line, which may have it no more.
func without(t *testing.T, line, phrase string) string {
	if !strings.Contains((engineHas + engineLacks + engineChecks), phrase) {
		t.Errorf("the prompt does not say %q", phrase)
	}
	return strings.Replace(strings.Replace(line, phrase+", ", "", 1), phrase, "", 1)
}

// So is what it says of how programs run.
func TestRunningFacts(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.Limits{})
	for source, want := range map[string]string{
		`await sleep(0); return 1`:                      "1",
		`[1, 2].length`:                                 "2",
		`(function () { return this === undefined })()`: "true",
		`try { undeclared = 1 } catch (e) { }`:          "",
	} {
		out := outcome(t, box, sandbox.Program{Source: source})
		if string(out.Value) != want || (out.Failure != nil) != (want == "") {
			t.Errorf("%s: %s, %v; want %s", source, out.Value, out.Failure, want)
		}
	}
	if out := outcome(t, box, sandbox.Program{Source: "console.log('seen');\nfetch()"}); out.Failure.Ran() || out.Stdout.Bytes > 0 {
		t.Errorf("a program that is refused has run: %+v", out)
	}
	outcome(t, box, sandbox.Program{Source: "var left = 1; globalThis.left2 = 1"})
	if out := outcome(t, box, sandbox.Program{Source: "typeof left + typeof left2"}); string(out.Value) != `"undefinedundefined"` {
		t.Errorf("something was left: %s", out.Value)
	}
	session := box.NewSession(nil)
	outcome(t, session, sandbox.Program{Source: "const kept = 1"})
	outcome(t, session, sandbox.Program{Source: "const lost = 1; null.x"})
	if out := outcome(t, session, sandbox.Program{Source: "[kept, typeof lost]"}); string(out.Value) != `[1,"undefined"]` {
		t.Errorf("the session has %s: %v", out.Value, out.Failure)
	}
}

type want struct {
	Kind string `json:"kind" jsonschema:"enum=failed,enum=denied,enum=unavailable,enum=timeout,enum=text,enum=meet"`
}

func factSet(t *testing.T) *tools.Set {
	met := make(chan struct{})
	handle := func(_ context.Context, w want) (string, error) {
		switch w.Kind {
		case "text":
			return `{"not": "parsed"}`, nil
		case "meet":
			select {
			case met <- struct{}{}:
			case <-met:
			}
			return "met", nil
		case "timeout":
			return "", context.DeadlineExceeded
		case "failed":
			return "", &tools.ToolError{Message: "no such thing", Data: json.RawMessage(`{"why":1}`)}
		}
		return "", &tools.ToolError{Kind: w.Kind, Message: "no"}
	}
	set, err := tools.NewSet(t.Context(), tools.Func("try_it", "Tries it.", handle, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// And of tools.
func TestToolFacts(t *testing.T) {
	t.Parallel()
	box, set := openBox(t, sandbox.Limits{}), factSet(t)
	caught := func(call string) string {
		return "try { await " + call + " } catch (e) { return [e instanceof ToolError, e.tool, e.kind, e.message, e.data ?? null] }"
	}
	for _, c := range []struct{ source, want string }{
		{`typeof await try_it({kind: 'text'})`, `"string"`},
		{`try_it({kind: 'text'}) instanceof Promise`, "true"},
		{`await Promise.all([try_it({kind: 'meet'}), try_it({kind: 'meet'})])`, `["met","met"]`},
		{caught(`try_it({kind: 'failed'})`), `[true,"try_it","failed","no such thing",{"why":1}]`},
		{caught(`try_it({kind: 'denied'})`), `[true,"try_it","denied","no",null]`},
		{caught(`try_it({kind: 'unavailable'})`), `[true,"try_it","unavailable","no",null]`},
		{caught(`try_it({kind: 'timeout'})`), `[true,"try_it","timeout","no answer in time",null]`},
		{caught(`try_it({kind: 'x'.repeat(2)})`), `[true,"try_it","invalid_arguments","kind must be one of \"failed\", \"denied\", \"unavailable\", \"timeout\", \"text\", \"meet\", not \"xx\"",null]`},
		{`(await tools.search('try')).map(t => t.name)`, `["try_it"]`},
		{`(await tools.describe('try_it')).includes('declare function try_it')`, "true"},
	} {
		if out := outcome(t, box, sandbox.Program{Source: c.source, Tools: set}); string(out.Value) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.source, out.Value, out.Failure, c.want)
		}
	}
	for _, kind := range []string{"failed", "invalid_arguments", "denied", "unavailable", "timeout"} {
		if !strings.Contains(toolFacts, `"`+kind+`"`) {
			t.Errorf("the prompt does not say %q", kind)
		}
	}
}

// And of what a program may do.
func TestBounds(t *testing.T) {
	t.Parallel()
	limits := sandbox.Limits{Time: 10 * time.Minute, Compute: 250 * time.Millisecond, Calls: 3, Output: 2000}
	hasty, set := openBox(t, limits), factSet(t)
	got := briefing{set: set, limits: limitsOf(hasty)}.bounds()
	want := "- A program may take 600 s, and compute for 0.25 s of that; make 3 calls, of which 16 run at the same time; and give a value of 2000 bytes. You are shown at most 4096 bytes of what comes of it.\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if f := outcome(t, hasty, sandbox.Program{Source: `for (;;);`}).Failure; f == nil || f.Kind != sandbox.ComputeLimit {
		t.Errorf("an endless loop: %v", f)
	}
	limits.Compute = 0
	box := openBox(t, limits)
	for source, kind := range map[string]sandbox.Kind{
		`for (let i = 0; i < 3; i++) await try_it({kind: 'text'}); 1`: "",
		`for (let i = 0; i < 4; i++) await try_it({kind: 'text'}); 1`: sandbox.ToolFailed,
		`'x'.repeat(1998)`: "",
		`'x'.repeat(1999)`: sandbox.OutputLimit,
	} {
		got := sandbox.Kind("")
		if f := outcome(t, box, sandbox.Program{Source: source, Tools: set}).Failure; f != nil {
			got = f.Kind
		}
		if got != kind {
			t.Errorf("%s: %q, want %q", source, got, kind)
		}
	}
}

// The examples in the prompt do what it says.
func TestDemos(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.Limits{})
	log := "I 12:00 started\nE 12:01 disk full\nI 12:02 went on\nE 12:03 disk full"
	for _, c := range []struct{ source, value, printed string }{
		{demoAtOnce, `{"longest":"three"}`, ""},
		{demoLook, "", "4 [\"E 12:01 disk full\", \"E 12:03 disk full\"]\n"},
		{demoAnswer, `{"failures":2}`, ""},
	} {
		if !strings.Contains(demos, "```js\n"+c.source+"```\n") {
			t.Errorf("the prompt does not show:\n%s", c.source)
		}
		out := outcome(t, box, sandbox.Program{Source: c.source, Submit: true, Inputs: map[string]any{"words": []string{"one", "three", "two"}, "log": log}})
		if out.Failure != nil || string(out.Value) != c.value || out.Stdout.Text != c.printed {
			t.Errorf("%s: %s, %q, %v", c.source, out.Value, out.Stdout.Text, out.Failure)
		}
	}
}

// A sandbox that does not tell its limits is said to have none.
func TestBriefingWithoutLimits(t *testing.T) {
	t.Parallel()
	spec, err := signature.NewSpec("", nil, []signature.Field{{Name: "n", Required: true}})
	if err != nil {
		t.Fatal(err)
	}
	text := briefing{task: spec, options: Options{MaxIters: 1}, session: true, extra: "There is more.\n"}.String()
	if strings.Contains(text, "may take") || strings.Contains(text, "constants that") || strings.Contains(text, "starts afresh") {
		t.Errorf("it says too much:\n%s", text)
	}
	if !strings.Contains(text, "\n\nThere is more.\n\nTwo examples") || !strings.Contains(text, sessionFacts) {
		t.Errorf("it says too little:\n%s", text)
	}
}
