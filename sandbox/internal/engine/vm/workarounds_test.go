package vm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Workarounds for goja's parser keep the positions of errors and the source of functions.
func TestWorkaroundsKeepPositions(t *testing.T) {
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
			f = &engine.Failure{Message: "succeeded"}
		}
		if got := fmt.Sprintf("%s %d:%d %s", f.Kind, f.Line, f.Column, f.Message); !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngave %s\nwant %s", source, got, want)
		}
	}
}

// Workarounds for goja's parser do not change the rest of a program.
func TestWorkaroundsChangeNothingElse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ source, want string }{
		{
			"class A { #get = '#get = 1 #set = 2'; read() { return this.#get } }; new A().read()",
			`"#get = 1 #set = 2"`,
		},
		{
			"class A { #set = `#get = 1\n#set`; read() { return this.#set + /#get = 1/.source } }; new A().read()",
			`"#get = 1\n#set#get = 1"`,
		},
		{
			"class A { // #get = 1\n #get/**/= 1; #set\n = 2; #x = 3; " +
				"read() { return this.#get + this.#set + this.#x } }; new A().read()",
			`6`,
		},
		{
			"class A { #get() { return 1 } #set = 2; read() { return this.#get() + this . #set } }; new A().read()",
			`3`,
		},
		{
			"const f = (z, [a = 1, b = (async () => await 2)()] = []) => b; await f()",
			`2`,
		},
		{
			"const g = async () => { const [w = 1, {v = await 3} = {}] = []; return v }; await g()",
			`3`,
		},
		{
			"const f = (a, [b = await 5] = []) => b; f()",
			"1:20 await is only valid in async functions and outside of functions",
		},
		{
			"const f = (z, [c = 1, b = await 5] = []) => b; f()",
			"1:27 await is only valid in async functions and outside of functions",
		},
		{
			"let a, größe; [a, ...größe] = [1, 2]; const {b, ...übrige} = {b: 1, c: 2}; " +
				"[...größe, übrige, '...größe]', ((z, [...größe]) => größe)(1, [3])]",
			`[2,{"c":2},"...größe]",[3]]`,
		},
		{
			"const f = (z, [b.c = 1, d = 2] = []) => d",
			"1:16 only a name can be declared",
		},
	} {
		got := new(Engine).Run(t.Context(), job(test.source), &answering{answer: echo})
		gave := string(got.Value)
		if f := got.Failure; f != nil {
			gave = fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message)
		}
		if gave != test.want {
			t.Errorf("%s\ngave %s\nwant %s", test.source, gave, test.want)
		}
	}
}

// goja's parser does not see programs on which it would take exponential time.
func TestInvalidProgramsAreRefusedEarly(t *testing.T) {
	t.Parallel()
	for _, tail := range []string{":b+c=>1", ":b+(c)=>1"} {
		source := strings.Repeat("(a)?", 30) + "1" + strings.Repeat(tail, 90)
		if _, failure := parse(keyOf(&engine.Job{Source: source})); failure == nil {
			t.Errorf("%.80s: accepted", source)
		}
	}
}
