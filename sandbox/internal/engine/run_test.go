package engine

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// answering is a host that allows everything and answers calls by a function.
type answering struct {
	report Report
	answer func(Call) Reply
	refuse bool
}

func (h *answering) Report(r Report) func() bool {
	h.report = r
	return func() bool { return !h.refuse }
}

func (h *answering) Call(c Call, reply func(Reply)) {
	go func() { reply(h.answer(c)) }()
}

func echo(c Call) Reply { return Reply{Value: c.Args} }

func runSource(t *testing.T, source string, h *answering) *Result {
	t.Helper()
	if h == nil {
		h = &answering{answer: echo}
	}
	return Run(t.Context(), &Job{
		Source: source,
		Submit: true,
		Inputs: []Input{{Name: "limit", JSON: json.RawMessage(`10`)}},
		Tools:  []Binding{{Namespace: "fs", Names: []string{"read_file", "read/file"}}, {Names: []string{"refund"}}},
		Limits: Limits{Time: 5 * time.Second, Output: 64 << 10},
	}, h)
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
		`new Map([["a", 1]])`:                                              `{"a":1}`,
		`new Set([1, 2])`:                                                  `[1,2]`,
		`new Date(0)`:                                                      `"1970-01-01T00:00:00.000Z"`,
		`9007199254740993n`:                                                `9007199254740993`,
		`(await refund({n: 9007199254740993n})).n + 1n`:                    `9007199254740994`,
		`typeof nothing`:                                                   `"undefined"`,
		`try { await fail() } catch (e) { e.message }; function fail() { throw new Error("x") }`: ``,
		`undefined`:                                  ``,
		`new ToolError("m") instanceof Error`:        `true`,
		`[NaN, 1/0, undefined, () => 1]`:             `[null,null,null,null]`,
		`({a: undefined, b: () => 1, c: "\u2028<"})`: `{"c":"\u2028<"}`,
		`"use strict"; 3`:                            `3`,
		`JSON.parse('{"__proto__": 1}').__proto__`:   `1`,
	} {
		got := runSource(t, source, nil)
		if got.Failure != nil {
			t.Errorf("%s\nfailed: %+v", source, got.Failure)
		} else if string(got.Value) != want {
			t.Errorf("%s\ngave %s, want %s", source, got.Value, want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	fail := &answering{answer: func(c Call) Reply {
		return Reply{Error: &ToolError{Tool: "refund", Kind: "failed", Message: "no money"}}
	}}
	for _, test := range []struct{ source, want string }{
		{"let a = ;", `syntax 1:9 unexpected ; in expression`},
		{"1 +", "syntax"},
		{"const x = 1;\nx.foo()", `thrown 2:6 TypeError: foo is not a function`},
		{"null.x", `x`},
		{"throw {code: 5}", `thrown 0:0 uncaught {code: 5}`},
		{"throw 'text'", `thrown 0:0 uncaught text`},
		{"await new Promise(() => {})", `deadlock`},
		{"\n await refund({})", `thrown 2:8 ToolError: refund: no money`},
		{"refund({}); await sleep(20); 1", `thrown 1:1 ToolError: refund: no money`},
		{"}); (() => {", "syntax"},
		{"for await (const x of []) {}", "syntax"},
		{"import x from 'y'", "syntax"},
		{"const a = {}; a.a = a; a", "bad_value"},
		{"'x'.repeat(100000)", "output_limit"},
		{"Function('return 1')()", "thrown"},
		{"(() => {}).constructor('return 1')()", "thrown"},
		{"function f() { return f() } f()", "thrown"},
		{"setTimeout(() => { throw new Error('late') }, 1); await sleep(50)", "thrown"},
	} {
		got := runSource(t, test.source, fail)
		f := got.Failure
		if f == nil {
			t.Errorf("%s\nsucceeded with %s", test.source, got.Value)
			continue
		}
		fmt.Printf("%-60q %s %d:%d %s | %s | %v\n", test.source, f.Kind, f.Line, f.Column, f.Message, f.Hint, f.Stack)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	h := &answering{answer: echo, refuse: true}
	runSource(t, "const v = await fs.read_file({path: 1, ...x, b: [1, y]});\nfs.lst({});\nfoo(bar); typeof baz;\nrefund(); /\\p{L}/u", h)
	text, _ := json.MarshalIndent(h.report, "", " ")
	fmt.Println(string(text))
}

func BenchmarkTrivial(b *testing.B) {
	h := &answering{answer: echo}
	for b.Loop() {
		Run(b.Context(), &Job{Source: "1+1", Limits: Limits{Time: time.Second, Output: 1 << 16}}, h)
	}
}
