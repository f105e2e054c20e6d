package vm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
)

func job(source string) *engine.Job {
	return &engine.Job{
		Source: source,
		Submit: true,
		Inputs: []engine.Input{{Name: "limit", JSON: json.RawMessage(`10`)}},
		Tools:  []engine.Binding{{Namespace: "fs", Names: []string{"read_file", "read/file"}}, {Names: []string{"refund"}}},
		Limits: engine.Limits{Time: 4 * time.Minute, Output: 64 << 10},
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`1+1`:                       `2`,
		`limit * 2`:                 `20`,
		`return {a: 1}`:             `{"a":1}`,
		`const x = 5; x`:            `5`,
		`await Promise.resolve(7);`: `7`,
		`let s = 0; for (const n of [1,2,3]) s += n; s`:                    `6`,
		`await fs.read_file({path: "a"})`:                                  `{"path":"a"}`,
		`(await fs["read/file"]({path: "a"})).path`:                        `"a"`,
		`(await Promise.all([1,2,3].map(n => refund({n})))).map(r => r.n)`: `[1,2,3]`,
		`submit({done: true}); 5`:                                          `{"done":true}`,
		`await sleep(5); "slept"`:                                          `"slept"`,
		`await new Promise(r => setTimeout(r, 2, 9))`:                      `9`,
		`9007199254740993n`:                                                `9007199254740993`,
		`(await refund({n: 9007199254740993n})).n + 1n`:                    `9007199254740994`,
		`typeof nothing`:                                                   `"undefined"`,
		`undefined`:                                                        ``,
		`new ToolError("m") instanceof Error`:                              `true`,
		`[NaN, 1/0, undefined, () => 1]`:                                   `[null,null,null,null]`,
		`({a: undefined, b: () => 1, c: "\u2028<"})`:                       `{"c":"\u2028<"}`,
		`"use strict"; 3`:                                                  `3`,
		`[{}].map(submit); "never"`:                                        `{}`,
		`[submit, refund].map(f => f({}))`:                                 `{}`,
		`[1].map(() => submit(1)); [{}].map(refund)`:                       `1`,
	} {
		got := new(Engine).Run(t.Context(), job(source), &enginetest.Host{})
		if got.Failure != nil || string(got.Value) != want {
			t.Errorf("%s\ngave %s, %+v; want %s", source, got.Value, got.Failure, want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	fail := func(_ engine.Call, reply func(engine.Reply)) {
		go reply(engine.Reply{Error: &engine.ToolError{Tool: "refund", Kind: "failed", Message: "no money"}})
	}
	for _, test := range []struct{ source, want string }{
		{"let a = ;", "syntax 1:9 unexpected ; in expression"},
		{"1 +", "syntax 1:4 unexpected EOF in expression"},
		{"const x = 1;\nx.foo()", "thrown 2:3 TypeError: foo is not a function"},
		{"null.x", "thrown 1:6 TypeError: Cannot read properties of undefined or null (reading 'x')"},
		{"throw {code: 5}", "thrown 1:1 uncaught {code: 5}"},
		{"await new Promise(() => {})", "deadlock 0:0 the program awaits a promise that nothing will settle"},
		{"\n await refund({})", "thrown 2:8 ToolError: refund: no money"},
		{"refund({}); await sleep(20); 1", "thrown 1:1 ToolError: refund: no money"},
		{"}); (() => {", "syntax 1:1 unexpected } in expression"},
		{"const a = {}; a.a = a; a",
			"bad_value 0:0 the value of the program cannot be written as JSON: the value contains itself"},
		{"'x'.repeat(100000)", "output_limit 0:0 the value is too large: as JSON it has more than 65536 bytes"},
		{"({get x() { throw 'mine' }})", "thrown 1:13 uncaught mine"},
		{"({get x() { return this.x }})", "thrown 1:25 RangeError: too much recursion"},
		{"let a = 1; [limit] = [1]", "thrown 1:22 ReferenceError: limit is not defined"},
	} {
		f := new(Engine).Run(t.Context(), job(test.source), &enginetest.Host{OnCall: fail}).Failure
		if f == nil {
			f = &engine.Failure{Message: "succeeded"}
		}
		if got := fmt.Sprintf("%s %d:%d %s", f.Kind, f.Line, f.Column, f.Message); got != test.want {
			t.Errorf("%s\ngave %s\nwant %s", test.source, got, test.want)
		}
	}
}

func TestRefusedRunsNothing(t *testing.T) {
	t.Parallel()
	got := new(Engine).Run(t.Context(), job(`console.log("ran")`), &enginetest.Host{Refuse: true})
	if got.Failure == nil || got.Failure.Kind != engine.KindRefused || got.Stdout.Bytes != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	source := "const v = await fs.read_file({path: 1, ...x, b: [1, y]});\nfs.lst({});\n" +
		"foo(bar); typeof baz;\nrefund(); /\\p{L}/u; z = 1; limit = 2"
	var report engine.Report
	h := &enginetest.Host{Refuse: true, OnReport: func(r engine.Report) { report = r }}
	new(Engine).Run(t.Context(), job(source), h)
	slices.SortFunc(report.Undeclared, func(a, b engine.Name) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	got, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"findings":[{"message":"\\p{…} never matches in this engine",` +
		`"hint":"write the characters as a range, such as [A-Za-zÀ-ɏ]","line":4,"column":11}],` +
		`"undeclared":[{"name":"x","line":1,"column":43},` +
		`{"name":"y","line":1,"column":53},{"name":"foo","line":3,"column":1},` +
		`{"name":"bar","line":3,"column":5},{"name":"z","assigned":true,"line":4,"column":21}],` +
		`"constants":[{"name":"limit","line":4,"column":28}],` +
		`"sites":[{"tool":0,"args":{"json":{"path":1,"b":[1,null]},"unknown":["/path","/b/1","/..."]},` +
		`"statement":1,"line":1,"column":20},` +
		`{"tool":-1,"ns":"fs","name":"lst","statement":2,"line":2,"column":4},` +
		`{"tool":1,"args":{"json":{}},"statement":5,"line":4,"column":1}],` +
		`"declared":["v"],"acts":true}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Calls of a declared name are not taken for calls of the tool with that name.
func TestShadowed(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`const refund = x => x; refund(1)`, `(refund => refund(1))(x => x)`, `function refund() {} refund(1)`,
		`class refund {}; refund(1)`, `const {a: refund} = {a: x => x}; refund(1)`, `const [refund = x => x] = []; refund(1)`,
		`try { throw x => x } catch (refund) { refund(1) }`, `for (const refund of [x => x]) refund(1)`,
		`function f({refund}) { refund(1) }`,
		`const f = ({x: [refund]}) => refund(1)`, `const {...refund} = {}; refund(1)`, `let refund; refund(1)`,
		`var refund; refund(1)`,
		`(function refund() { refund(1) })`, `const f = (...refund) => refund(1)`,
		`try { throw {} } catch ({refund}) { refund(1) }`,
	} {
		p, failure := parse(keyOf(&engine.Job{Source: source}))
		if failure != nil {
			t.Errorf("%s: %+v", source, failure)
			continue
		}
		if r := p.report(new(Engine).scope(job(source), nil), &engine.Job{}); len(r.Sites) > 0 {
			t.Errorf("%s: taken for a call of the tool", source)
		}
	}
}
