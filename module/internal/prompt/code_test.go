package prompt

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/search"
)

// there and thereIsNot are the phrases of the prompt about the engine, each with a program that
// tests it.
var (
	there = []struct{ phrase, program string }{
		{"await and return at the top level", `await sleep(0); return true`},
		{"console", `console.log('seen'); console.error('seen'); true`},
		{"setTimeout", `await new Promise(done => setTimeout(done, 1)); true`},
		{"setInterval",
			`let n = 0; await new Promise(done => { const t = setInterval(() => { if (++n === 2) { clearInterval(t); ` +
				`done(); } }, 1) }); n === 2`},
		{"sleep(ms) which returns a promise", `const p = sleep(1); const is = p instanceof Promise; await p; is`},
		{"crypto.randomUUID", `/^[0-9a-f-]{36}$/.test(crypto.randomUUID())`},
		{"crypto.getRandomValues", `crypto.getRandomValues(new Uint8Array(8)).length === 8`},
		{"structuredClone", `const c = structuredClone({a: [1], d: new Date(0)}); c.a[0] === 1 && c.d instanceof Date`},
		{"queueMicrotask", `await new Promise(done => queueMicrotask(done)); true`},
		{"atob", `atob('YQ==') === 'a'`},
		{"btoa", `btoa('a') === 'YQ=='`},
		{"URLSearchParams", `new URLSearchParams({a: 'b c'}).toString() === 'a=b+c'`},
		{"toLocaleString for en-US",
			`(1234.5).toLocaleString('en-US', {style: 'currency', currency: 'USD'}) === '$1,234.50' && new ` +
				`Date(0).toLocaleDateString('en-US').includes('/')`},
	}
	thereIsNot = []struct{ phrase, program string }{
		{"types", `const n: number = 1`},
		{"import", `import x from 'y'`},
		{"require", `require('fs')`},
		{"fetch", `await fetch('http://example.com')`},
		{"process", `process.env`},
		{"fs", `fs.readFileSync('a')`},
		{"Intl", `new Intl.NumberFormat()`},
		{`\p{…} in regular expressions`, `/\p{L}/u.test('a')`},
	}
)

func openBox(t *testing.T, l sandbox.Limits) *sandbox.Sandbox {
	t.Helper()
	if l.Compute == 0 { // enough even for a slow machine
		l.Time, l.Compute = 10*time.Minute, 10*time.Minute
	}
	box, err := sandbox.New(&sandbox.Options{Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

// runner is a sandbox or a session.
type runner interface {
	Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error)
}

func outcome(t *testing.T, box runner, p sandbox.Program) *sandbox.Outcome {
	t.Helper()
	out, err := box.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEngineFacts runs a program for each phrase of the prompt about the engine.
func TestEngineFacts(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.Limits{})
	has := lineWith(t, engineFacts, "Besides the language itself, these globals exist: ")
	lacks := lineWith(t, missing, "Not available: ")
	for _, c := range there {
		if !strings.Contains(engineFacts, c.phrase) {
			t.Errorf("the prompt does not say %q", c.phrase)
		}
		has = strings.Replace(has, c.phrase, "", 1)
		if out := outcome(t, box, sandbox.Program{Source: c.program}); out.Failure != nil || string(out.Value) != "true" {
			t.Errorf("there is no %s: %v, %s", c.phrase, out.Failure, out.Value)
		}
	}
	for _, c := range thereIsNot {
		if !strings.Contains(missing, c.phrase) {
			t.Errorf("the prompt does not say %q", c.phrase)
		}
		lacks = strings.Replace(lacks, c.phrase, "", 1)
		if out := outcome(t, box, sandbox.Program{Source: c.program}); out.Failure == nil || out.Failure.Ran() {
			t.Errorf("a program with %s is not refused: %s, %v", c.phrase, out.Value, out.Failure)
		}
	}
	for rest, want := range map[string]string{has: "and", lacks: ""} {
		if got := strings.Trim(strings.ReplaceAll(rest, ",", ""), " .\n"); got != want {
			t.Errorf("not tested: %s", got)
		}
	}
}

// lineWith returns the rest of the line that contains a phrase.
func lineWith(t *testing.T, text, phrase string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, phrase)
	if !found {
		t.Fatalf("there is no %q", phrase)
	}
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// TestRunningFacts verifies what the prompt says about running programs.
func TestRunningFacts(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.Limits{})
	for source, want := range map[string]string{
		`await sleep(0); return 1`: "1",
		`[1, 2].length`:            "2",
		`const main = async () => { await sleep(0); return 3 }; await main()`: "3",
	} {
		out := outcome(t, box, sandbox.Program{Source: source})
		if string(out.Value) != want || (out.Failure != nil) != (want == "") {
			t.Errorf("%s: %s, %v; want %s", source, out.Value, out.Failure, want)
		}
	}
	outcome(t, box, sandbox.Program{Source: "var left = 1; globalThis.left2 = 1"})
	out := outcome(t, box, sandbox.Program{Source: "typeof left + typeof left2"})
	if string(out.Value) != `"undefinedundefined"` {
		t.Errorf("something was left: %s", out.Value)
	}
	session := box.NewSession(nil)
	outcome(t, session, sandbox.Program{Source: "const kept = 1"})
	outcome(t, session, sandbox.Program{Source: "const lost = 1; null.x"})
	if out := outcome(t, session, sandbox.Program{Source: "[kept, typeof lost]"}); string(out.Value) != `[1,"undefined"]` {
		t.Errorf("the session has %s: %v", out.Value, out.Failure)
	}
}

// TestOutputFacts verifies what the prompt says about output and time.
func TestOutputFacts(t *testing.T) {
	t.Parallel()
	box := openBox(t, sandbox.Limits{Time: 50 * time.Millisecond, Compute: time.Minute})
	out := outcome(t, box, sandbox.Program{Source: "console.log('begin'); await sleep(60000); console.log('end')"})
	if out.Failure == nil || out.Failure.Kind != sandbox.KindTimeout || out.Stdout.Text != "begin\n" {
		t.Errorf("the program was not stopped: %v, %q", out.Failure, out.Stdout.Text)
	}
	box = openBox(t, sandbox.Limits{})
	out = outcome(t, box, sandbox.Program{Source: "for (let i = 10000; i < 12000; i++) console.log(i)"})
	text := Step{Outcome: out}.Report().String()
	if n := maxObservation / 1000 * 1000; len(text) < n-500 || len(text) > maxObservation {
		t.Errorf("the observation has %d bytes, not about %d", len(text), n)
	}
	for _, want := range []string{"\n10000\n", "omitted", "\n11999\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the observation lacks %q:\n%s", want, text)
		}
	}
	task, err := signature.NewSpec("", nil, []signature.Field{{Name: "wanted", Required: true}})
	if err != nil {
		t.Fatal(err)
	}
	briefing := Code{Task: task, Time: 90 * time.Second}.String()
	for _, want := range []string{"up to 4,000 characters", "may take 1m30s,"} {
		if !strings.Contains(briefing, want) {
			t.Errorf("the briefing lacks %q:\n%s", want, briefing)
		}
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
	return search.New(set, MaxText).Extended()
}

// TestToolFacts verifies what the prompt says about calling tools.
func TestToolFacts(t *testing.T) {
	t.Parallel()
	box, set := openBox(t, sandbox.Limits{}), factSet(t)
	caught := func(call string) string {
		return "try { await " + call +
			" } catch (e) { return [e instanceof ToolError, e.tool, e.kind, e.message, e.data ?? null] }"
	}
	for _, c := range []struct{ source, want string }{
		{`typeof await try_it({kind: 'text'})`, `"string"`},
		{`try_it({kind: 'text'}) instanceof Promise`, "true"},
		{`await Promise.all([try_it({kind: 'meet'}), try_it({kind: 'meet'})])`, `["met","met"]`},
		{caught(`try_it({kind: 'failed'})`), `[true,"try_it","failed","no such thing",{"why":1}]`},
		{caught(`try_it({kind: 'denied'})`), `[true,"try_it","denied","no",null]`},
		{caught(`try_it({kind: 'unavailable'})`), `[true,"try_it","unavailable","no",null]`},
		{caught(`try_it({kind: 'timeout'})`), `[true,"try_it","timeout","no answer in time",null]`},
		{caught(`try_it({kind: 'x'.repeat(2)})`),
			`[true,"try_it","invalid_arguments","kind must be one of \"failed\", \"denied\", \"unavailable\", ` +
				`\"timeout\", \"text\", \"meet\", not \"xx\"",null]`},
		{`(await tools.search('try', {declare: true})).map(t => t.name + t.declaration.includes('declare function try_it'))`,
			`["try_ittrue"]`},
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

// TestExamples runs the example programs of the prompts.
func TestExamples(t *testing.T) {
	t.Parallel()
	type region struct {
		Region string `json:"region"`
	}
	type id struct {
		ID string `json:"id"`
	}
	type prompts struct {
		Prompt []string `json:"prompt"`
	}
	read := &tools.Hints{Class: tools.Read}
	find := tools.Func("find_shops", "", func(_ context.Context, in region) ([]id, error) {
		return []id{{in.Region}, {"2"}}, nil
	}, read)
	report := tools.Func("get_report", "", func(_ context.Context, in id) (string, error) {
		return `{"shop": "` + in.ID + `", "sales": 21}`, nil
	}, read)
	llm := tools.Func("llm", "", func(_ context.Context, in prompts) ([]any, error) {
		var answers []any
		for _, p := range in.Prompt {
			answers = append(answers, p[len(p)-4:])
		}
		answers[len(answers)-1] = map[string]string{"error": "no"}
		return answers, nil
	}, read)
	find.Namespace, report.Namespace = "crm", "crm"
	set, err := tools.NewSet(t.Context(), find, report, llm)
	if err != nil {
		t.Fatal(err)
	}
	box := openBox(t, sandbox.Limits{})
	for _, c := range []struct {
		source, inputs, value, printed string
	}{
		{exampleAlone, `{"log": "I 1 on\nE 2 full\nI 3 on\nE 4 full"}`, `{"errors":2}`, `["E 2 full", "E 4 full"]`},
		{exampleTools, `{"region": "north"}`, `{"total":42}`, ""},
		{exampleMap, `{"text": "` + strings.Repeat(" ", 40000-4) + `MoleToad"}`, "", `1 ["Mole", {error: "no"}]`},
	} {
		var inputs map[string]any
		if err := json.Unmarshal([]byte(c.inputs), &inputs); err != nil {
			t.Fatal(err)
		}
		out := outcome(t, box, sandbox.Program{Source: c.source, Submit: true, Inputs: inputs, Tools: set})
		if out.Failure != nil || string(out.Value) != c.value || strings.TrimSpace(out.Stdout.Text) != c.printed ||
			len(out.Warnings) > 0 {
			t.Errorf("%s: %s, %q, %v, %v", c.source, out.Value, out.Stdout.Text, out.Failure, out.Warnings)
		}
	}
}

// The fixed text is everything except the task, its fields and types, and the declarations.
func TestFixedTextIsSmall(t *testing.T) {
	t.Parallel()
	task, err := signature.NewSpec("", []signature.Field{{Name: "given", Required: true}},
		[]signature.Field{{Name: "wanted", Required: true}})
	if err != nil {
		t.Fatal(err)
	}
	code := Code{Task: task, Programs: 8}
	withTools, session := code, code
	withTools.Tools = "```ts\ndeclare const tools: {}\n```\n"
	session.Tools, session.Session, session.Strategy = withTools.Tools, true, RLM{Calls: 50, Nested: true}.String()
	program := replies.ProgramSpec(task)
	for name, c := range map[string]struct {
		text string
		most int
	}{
		"CodeAct":          {Program{}.System(program, withTools.String()), 730},
		"ProgramOfThought": {Program{}.System(program, code.String()), 360},
		"RLM":              {Program{}.System(program, session.String()), 1090},
		"ReAct":            {Markers{}.System(task, Action{Task: task, Tools: withTools.Tools, Steps: 20}.String()), 330},
		"ReAct by calls":   {Calling(task, CallingBriefing(20)), 150},
		"Predict":          {Markers{}.System(task, ""), 130},
		"JSON":             {Object{}.System(task, ""), 60},
	} {
		got := declare.Tokens(c.text)
		t.Logf("%s: about %d tokens", name, got)
		if got > c.most {
			t.Errorf("the fixed text of %s takes about %d tokens, more than %d:\n%s", name, got, c.most, c.text)
		}
	}
}
