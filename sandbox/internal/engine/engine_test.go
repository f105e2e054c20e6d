package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
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

func (h *answering) Call(c Call, reply func(Reply)) func() {
	return func() { reply(h.answer(c)) }
}

func echo(c Call) Reply { return Reply{Value: c.Args} }

func job(source string) *Job {
	return &Job{
		Source: source,
		Submit: true,
		Inputs: []Input{{Name: "limit", JSON: json.RawMessage(`10`)}},
		Tools:  []Binding{{Namespace: "fs", Names: []string{"read_file", "read/file"}}, {Names: []string{"refund"}}},
		Limits: Limits{Time: 4 * time.Minute, Output: 64 << 10},
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
		got := new(Engine).Run(t.Context(), job(source), &answering{answer: echo})
		if got.Failure != nil || string(got.Value) != want {
			t.Errorf("%s\ngave %s, %+v; want %s", source, got.Value, got.Failure, want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	fail := func(Call) Reply { return Reply{Error: &ToolError{Tool: "refund", Kind: "failed", Message: "no money"}} }
	for _, test := range []struct{ source, want string }{
		{"let a = ;", "syntax 1:9 unexpected ; in expression"},
		{"1 +", "syntax 1:4 unexpected EOF in expression"},
		{"const x = 1;\nx.foo()", "thrown 2:3 TypeError: x.foo is not a function"},
		{"null.x", "thrown 1:6 TypeError: Cannot read properties of undefined or null (reading 'x')"},
		{"throw {code: 5}", "thrown 1:1 uncaught {code: 5}"},
		{"await new Promise(() => {})", "deadlock 0:0 the program awaits a promise that nothing will settle"},
		{"\n await refund({})", "thrown 2:8 ToolError: refund: no money"},
		{"refund({}); await sleep(20); 1", "thrown 1:1 ToolError: refund: no money"},
		{"}); (() => {", "syntax 1:1 unexpected } in expression"},
		{"const a = {}; a.a = a; a", "bad_value 0:0 the value of the program has no JSON form: the value contains itself"},
		{"'x'.repeat(100000)", "output_limit 0:0 the value is too large: as JSON it has more than 65536 bytes"},
		{"({get x() { throw 'mine' }})", "thrown 1:13 uncaught mine"},
		{"({get x() { return this.x }})", "thrown 1:25 RangeError: too much recursion"},
		{"let a = 1; [limit] = [1]", "thrown 1:22 ReferenceError: limit is not defined"},
	} {
		f := new(Engine).Run(t.Context(), job(test.source), &answering{answer: fail}).Failure
		if f == nil {
			f = &Failure{Message: "succeeded"}
		}
		if got := fmt.Sprintf("%s %d:%d %s", f.Kind, f.Line, f.Column, f.Message); got != test.want {
			t.Errorf("%s\ngave %s\nwant %s", test.source, got, test.want)
		}
	}
}

// What the compiler would evaluate again and again is evaluated when it runs.
func TestConstants(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		strings.Repeat("0||", 80) + "5":                                            "5",
		strings.Repeat("!0 && ", 80) + "5":                                         "5",
		strings.Repeat("null ?? ", 80) + "5":                                       "5",
		strings.Repeat("(0||", 30) + "5" + strings.Repeat(")", 30):                 "5",
		strings.Repeat("(1&&", 30) + "5" + strings.Repeat(")", 30):                 "5",
		strings.Repeat("!(0||", 30) + "5" + strings.Repeat(")", 30):                "true",
		strings.Repeat("(", 40) + "0" + strings.Repeat("||0)", 39) + "||7)":        "7",
		"try { 1n" + strings.Repeat("+1", 80) + " } catch (e) { return e.name }":   `"TypeError"`,
		"try { 1 in 1" + strings.Repeat("+1", 80) + " } catch (e) { return 'in' }": `"in"`,
		"-(-2n) ** 3n + 1n":             "",
		"(-(-2n)) ** 3n + 1n":           "9",
		"false && 9n ** 9n ** 9n ** 9n": "false",
	} {
		got := new(Engine).Run(t.Context(), job(source), &answering{answer: echo})
		if string(got.Value) != want {
			t.Errorf("%s\ngave %s, %+v; want %s", source, got.Value, got.Failure, want)
		}
	}
}

func TestRefusedRunsNothing(t *testing.T) {
	t.Parallel()
	got := new(Engine).Run(t.Context(), job(`console.log("ran")`), &answering{answer: echo, refuse: true})
	if got.Failure == nil || got.Failure.Kind != Refused || got.Stdout.Bytes != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	source := "const v = await fs.read_file({path: 1, ...x, b: [1, y]});\nfs.lst({});\nfoo(bar); typeof baz;\nrefund(); /\\p{L}/u; z = 1; limit = 2"
	h := &answering{answer: echo, refuse: true}
	new(Engine).Run(t.Context(), job(source), h)
	slices.SortFunc(h.report.Undeclared, func(a, b Name) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	got, err := json.Marshal(h.report)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"findings":[{"message":"\\p{…} never matches in this engine","hint":"write the characters as a range, such as [A-Za-zÀ-ɏ]","line":4,"column":11}],` +
		`"undeclared":[{"name":"x","line":1,"column":43},{"name":"y","line":1,"column":53},{"name":"foo","line":3,"column":1},{"name":"bar","line":3,"column":5},{"name":"z","assigned":true,"line":4,"column":21}],` +
		`"constants":[{"name":"limit","line":4,"column":28}],` +
		`"sites":[{"tool":0,"args":{"json":{"path":1,"b":[1,null]},"unknown":["/path","/b/1","/..."]},"line":1,"column":20},` +
		`{"tool":-1,"ns":"fs","name":"lst","line":2,"column":4},` +
		`{"tool":1,"args":{"json":{}},"discarded":true,"line":4,"column":1}],"depth":8}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// names of shadowing and of everything that may declare them.
func TestShadowed(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`const refund = x => x; refund(1)`, `(refund => refund(1))(x => x)`, `function refund() {} refund(1)`,
		`class refund {}; refund(1)`, `const {a: refund} = {a: x => x}; refund(1)`, `const [refund = x => x] = []; refund(1)`,
		`try { throw x => x } catch (refund) { refund(1) }`, `for (const refund of [x => x]) refund(1)`, `function f({refund}) { refund(1) }`,
		`const f = ({x: [refund]}) => refund(1)`, `const {...refund} = {}; refund(1)`, `let refund; refund(1)`, `var refund; refund(1)`,
		`(function refund() { refund(1) })`, `const f = (...refund) => refund(1)`, `try { throw {} } catch ({refund}) { refund(1) }`,
	} {
		p, failure := parse(edition{name: "program.js", text: source})
		if failure != nil {
			t.Errorf("%s: %+v", source, failure)
			continue
		}
		if r := p.report(new(Engine).scope(job(source), nil), &Job{}); len(r.Sites) > 0 {
			t.Errorf("%s: taken for a call of the tool", source)
		}
	}
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`f()`:                                 `{} []`,
		`f({})`:                               `{} []`,
		`f("x")`:                              `"x" []`,
		`f(x)`:                                `nothing`,
		`f(...x)`:                             `nothing`,
		`f({a: 1, "b c": "x", d: null})`:      `{"a":1,"b c":"x","d":null} []`,
		`f({a: -1.5e3, b: 0x10, c: 1e400})`:   `{"a":-1500,"b":16,"c":null} [/c]`,
		`f({a: 5n, b: +1, c: !0, d: void 0})`: `{"a":null,"b":null,"c":null,"d":null} [/a /b /c /d]`,
		"f({a: `x\\n`, b: `x${y}`, c: t`x`})": `{"a":"x\n","b":null,"c":null} [/b /c]`,
		`f({a: undefined, b: true})`:          `{"b":true} []`,
		`f({a, b: x.y, c: g()})`:              `{"a":null,"b":null,"c":null} [/a /b /c]`,
		`f({a: 1, ...x, b: 2})`:               `{"a":1,"b":2} [/a /...]`,
		`f({[k]: 1, b: 2})`:                   `{"b":2} [/...]`,
		`f({a: 1, a: "x"})`:                   `{"a":1} [/a /...]`,
		`f({get a() { return 1 }, b() {}})`:   `{} [/... ]`,
		`f({a: [1, [2], ...x, 3]})`:           `{"a":[1,[2]]} [/a/...]`,
		`f({a: [1, , 3]})`:                    `{"a":[1]} [/a/...]`,
		`f({"a/b": {"c~d": x}})`:              `{"a/b":{"c~d":null}} [/a~1b/c~0d]`,
		`f({__proto__: x, a: 1})`:             `{"a":1} []`,
		`f({a: {b: {c: [{d: x}]}}}, y)`:       `{"a":{"b":{"c":[{"d":null}]}}} [/a/b/c/0/d]`,
	} {
		tree, err := parser.ParseFile(nil, "", source, 0)
		if err != nil {
			t.Fatal(source, err)
		}
		got := "nothing"
		if l := arguments(tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.CallExpression).ArgumentList, nil); l != nil {
			got = fmt.Sprintf("%s %v", l.JSON, l.Unknown)
			if !json.Valid(l.JSON) {
				t.Errorf("%s: no JSON: %s", source, l.JSON)
			}
		}
		if got != strings.ReplaceAll(want, " ]", "]") {
			t.Errorf("%s\ngave %s\nwant %s", source, got, want)
		}
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	const text = "ab\r\nü😀x\n\u2028\ty\rz"
	s := newSource(text)
	for part, want := range map[string]Pos{
		"a": {1, 1}, "b": {1, 2}, "ü": {2, 1}, "😀": {2, 2}, "x": {2, 4}, "\u2028": {3, 1}, "\t": {4, 1}, "y": {4, 2}, "z": {5, 1},
	} {
		offset := strings.Index(text, part)
		if got := s.pos(offset); got != want {
			t.Errorf("pos of %q: got %v, want %v", part, got, want)
		}
		if got := s.fromIdx(file.Idx(offset + 1 + len(prologue))); got != want {
			t.Errorf("fromIdx of %q: got %v, want %v", part, got, want)
		}
		if _, behind := s.around(want); !strings.HasPrefix(behind, part) {
			t.Errorf("around %q: got %q", part, behind)
		}
	}
	if got := s.fromIdx(3); got != (Pos{}) {
		t.Errorf("a place in the prologue: got %v", got)
	}
	for line, want := range []string{"", "ab", "ü😀x", "", "\ty", "z", ""} {
		if got := Line(text, line); got != want {
			t.Errorf("line %d: got %q, want %q", line, got, want)
		}
	}
	for _, at := range []struct{ line, column int }{{0, 0}, {9, 9}, {2, 99}, {-1, -1}, {2, 0}} {
		s.fromLine(at.line, at.column)
		s.fromRunes(at.line, at.column)
		s.fromFrame(at.line, at.column)
		s.fromGoja(at.line, at.column)
	}
}

// walked has every kind of node that goja's parser makes of a program.
const walked = `
var a = 1, {b, c: [d = 2, ...e], ["f" + 1]: g, ...h} = o; let i; const j = {k, l: m, [n]: p, q() { r }, get s() { return t }, set s(u) { v }, async w() { await x }, *y() { yield z }, ...aa};
function ab(ac, {ad = ae}, ...[af]) { return this.ag } async function ah() { await ai } function* aj() { yield* ak; yield }
class al extends am { #an = ao; static ap = aq; [ar]; static { as } constructor() { super(at); super.au(av) } get aw() { return this.#an } static async *ax() {} #ay() { return #an in az } }
if (ba) { bb } else if (bc) bd; else be
for (let bf = bg; bf < bh; bf++) bi; for (bj = 0; ; ) break; for (var bk = 0; ; ) { continue } for (;;) break
for (const [bl] of bm) bn; for (var bo in bp) bq; for (br.bs of bt) bu; for (bv of bw) ; for (let bx in by) ;
while (bz) ca; do { cb } while (cc); label: { break label }
switch (cd) { case ce: cf; case cg: { ch } default: ci }
try { throw cj } catch ({ck}) { cl } finally { cm } try { cn } catch { co } try { cp } finally { cq }
cr ? cs : ct; (cu, cv); cw[cx]; cy.cz; da?.db?.[dc]?.(dd); new de(df, ...dg); dh(di, ...dj); typeof dk; -dl; dm++; delete dn.dp; void dq
dr = ds; dt += du; dv ??= dw; dx && dy || (dz ?? ea); [eb, {ec}] = ed; ({ee: ef.eg, ...eh} = ei)
ej => ek; async (el = em) => { await en }; (function eo() { ep }); (class eq { er = es }); ` + "`x${et}y${eu}`; ev`z${ew}`;" + `
/ex/g; "ey"; 1; true; null; 5n; [ez, , ...fa]; ({}).fb; debugger; ;
(function () { new.target; with_ }); import_; !fc; fd instanceof fe; ff in fg; fh ** fi
`

// TestWalk compares walk with a walk by reflection over all fields.
func TestWalk(t *testing.T) {
	t.Parallel()
	source := strings.ReplaceAll(walked, "static async *ax() {}", "static async ax() {}")
	tree, err := parser.ParseFile(nil, "", "(async()=>{"+source+"\n})()", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]int{}, map[string]int{}
	for _, s := range tree.Body {
		walk(s, func(n ast.Node) {
			if isVisited(n) {
				got[label(n)]++
			}
		})
	}
	reflected(reflect.ValueOf(tree.Body), want)
	for l, n := range want {
		if got[l] != n {
			t.Errorf("%s: visited %d times, want %d", l, got[l], n)
		}
	}
	for l := range got {
		if want[l] == 0 {
			t.Errorf("%s: visited, but not found by reflection", l)
		}
	}
}

// label tells nodes apart: identifiers by name, others by type and place.
func label(n ast.Node) string {
	if id, ok := n.(*ast.Identifier); ok {
		return "identifier " + id.Name.String()
	}
	return fmt.Sprintf("%T", n)
}

// reflected counts the nodes in v. What walk says it leaves out is left out: the
// names of members, labels, functions and classes.
func reflected(v reflect.Value, count map[string]int) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if n, ok := v.Interface().(ast.Node); ok && v.Kind() == reflect.Pointer && isVisited(n) {
			count[label(n)]++
		}
		reflected(v.Elem(), count)
	case reflect.Slice:
		for i := range v.Len() {
			reflected(v.Index(i), count)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || isName(v.Type(), f.Name) {
				continue
			}
			field := v.Field(i)
			if field.CanAddr() && v.Type() == reflect.TypeFor[ast.PropertyShort]() && f.Name == "Name" {
				field = field.Addr()
			}
			reflected(field, count)
		}
	}
}

// isVisited reports whether walk passes every node of a kind to its visitor:
// not those that only hold others.
func isVisited(n ast.Node) bool {
	switch n.(type) {
	case *ast.BlockStatement, *ast.CatchStatement, *ast.CaseStatement, *ast.ParameterList, *ast.TemplateElement:
		return false
	}
	return true
}

func isName(t reflect.Type, field string) bool {
	switch t.Name() + "." + field {
	case "DotExpression.Identifier", "PrivateDotExpression.Identifier", "BranchStatement.Label", "LabelledStatement.Label",
		"FunctionLiteral.Name", "ClassLiteral.Name", "FunctionLiteral.DeclarationList", "ArrowFunctionLiteral.DeclarationList",
		"MetaProperty.Meta", "MetaProperty.Property", "ClassStaticBlock.DeclarationList", "Program.DeclarationList":
		return true
	}
	return false
}
