package engine

import (
	"fmt"
	"strings"
	"testing"
)

func TestTame(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		"rows.map(r => r.id)": true, "list.map(([id, rows], i) => ({id}))": true, "const f = async ({ limit = 10, by = \"id\" }) => 1": true,
		"f(a,\n  // two\n  (b) => 1)": false, "f(\n  (b) => async x => 1)": true, "g = a ? x => 1 : (y) => 2": false, "return (x) => 1": false,
		"r = l.reduce((m, {id = -1, at: [x, ...y]}, ...z) => m, {})": true, "f(() => 1, async () => 2)": true,
		"o.return (x) => 1": false, "éreturn (x) => 1": false, "f(a, this => 1)": false, "f(a, 1 => 1)": false, "(1 : (x) => 1": false, "(a {(y) => 1": false,
		"(x => {}((y) => 1": false, "(x => {} = (y) => 1": false, "(#x((y) => 1": false, "(#\\u{61}b((y) => 1": false, "f((a b) => 1)": false, "f(({) => 1}) => 2": false,
		"f((function) => 1)": false, "f((a = async) => 1)": false, "(a++((y) => 1": false,
		strings.Repeat("x:", tameLabels+1): false, strings.Repeat("x://,\n", tameLabels+1): false, "({" + strings.Repeat("a: 1, 'b': 2,\n c: d ? e : 1,", 90) + "})": true,
		"(a = (b) => 1) => 2": false, "(a = b => 1) => 2": false, "(A) + x => 1": false, "(A) + async (b) => 1": false, "(A) ?? (b) => 1": false,
		"(A) == x => 1": false, "// (\nx => 1": false, "(a = `${1})` ) => 1": false, "(a = \"'\") => 1": false, "(a /* ( */) => 1": false, "(é) => 1": false,
		"function* g() { yield 1 }": false, strings.Repeat("[", tameDepth+1): false, strings.Repeat("1", tameLength+1): false,
	} {
		if got := tame(source); got != want {
			t.Errorf("%.80q: tame is %v", source, got)
		}
	}
}

// Errors in a mended program are at their places, and functions have their source.
func TestMended(t *testing.T) {
	t.Parallel()
	const class = "class A { get = 1; #set = () => null.x\n  async\n}\n"
	const pattern = "const f = (z, [\n  a = 1, b = (() => { throw new Error(String(f).length) })(),\n] = []) => a\n"
	for source, want := range map[string]string{
		class + "new A().get.x.y":    "thrown 4:15",
		pattern + "f(1)":             "thrown 2:29 Error: 80",
		pattern + "f(1, [1, 2]).x.y": "thrown 4:16",
	} {
		f := new(Engine).Run(t.Context(), job(source), &answering{answer: echo}).Failure
		if f == nil {
			f = &Failure{Message: "succeeded"}
		}
		if got := fmt.Sprintf("%s %d:%d %s", f.Kind, f.Line, f.Column, f.Message); !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngave %s\nwant %s", source, got, want)
		}
	}
}
