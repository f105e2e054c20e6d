package typescript_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/typescript"
	"github.com/writ-go/writ/tools"
)

func TestTypeScript(t *testing.T) {
	t.Parallel()
	b, box := open(t, nil)
	for name, test := range map[string]struct{ source, want string }{
		"types": {"interface P { x: number }\ntype Q = P | null;\nconst p: Q = {x: 1} satisfies P;\n(p as P).x + p!.x",
			"2"},
		"generics": {"function id<T extends object>(x: T): T { return x }\nconst f = <T,>(x: T) => " +
			"[x];\nf<number>(id({a: 1}).a)", "[1]"},
		"enum": {"enum Color { Red = 1, Green, Blue = 'b' as any }\nconst enum E { A = 5 }\n[Color.Green, " +
			"Color[1], E.A]", `[2,"Red",5]`},
		"namespace": {"namespace N { export const a = 1; export namespace M { export const b = 2 } }\nN.a + N.M.b",
			"3"},
		"classes": {"abstract class A { constructor(protected readonly n: number, private m = 2) {}\n " +
			"abstract f(): number; sum() { return this.n + this.m } }\nclass B extends A { override f() { return " +
			"this.sum() } declare x: string; #p?: number = 4; get p() { return this.#p } }\nconst o = new B(1); [o.f(), o.p]",
			"[3,4]"},
		"decorators": {"function twice(f: Function, _: unknown) { return function (this: any, ...a: any[]) { " +
			"return 2 * f.apply(this, a) } }\nclass A { @twice f(n: number) { return n } }\nnew A().f(4)", "8"},
		"async generators": {"async function* g() { for (let i = 0; i < 3; i++) { await sleep(1); yield i } }\nlet " +
			"sum = 0;\nfor await (const n of g()) sum += n;\nsum", "3"},
		"async iterators": {"class L { async *[Symbol.asyncIterator]() { yield 1; yield 2 } }\nconst out: number[] = " +
			"[];\nfor await (const x of new L()) out.push(x);\nout", "[1,2]"},
		"for await": {"const out: number[] = []; for await (const x of [Promise.resolve(1), 2]) out.push(x); out",
			"[1,2]"},
		"using": {"const log: string[] = [];\nfunction f() { using a = {[Symbol.dispose]() { " +
			"log.push('disposed') }}; log.push('used') }\nf(); log", `["used","disposed"]`},
		"top-level await": {"const x: number = await Promise.resolve(2);\nx * 2", "4"},
		"return":          {"const x: number = await Promise.resolve(2);\nif (x > 1) return x as number;\n'no'", "2"},
		"return with a shim": {"const u: URL = new URL('https://a.example/x');\nif (u.host) return u.host + " +
			"typeof TextEncoder + typeof WeakRef;", `"a.examplefunctionfunction"`},
		"a tag":            {"const importText = String.raw, s = importText`\n  import(\"zod\")`; s", `"\n  import(\"zod\")"`},
		"text of a shim":   {"const URL = 1, s = 'import { URL } from \"writ:shim\";'; URL + s.length", "33"},
		"a last statement": {"const x = 1;\nfunction f(): void {}", "undefined"},
		"a text":           {"'use it'", `"use it"`},
		"template":         {"const n: number = 1; `a\nimport x from 'y'\n${n}`", `"a\nimport x from 'y'\n1"`},
		"hashbang":         {"#!/usr/bin/env node\n1 as number", "1"},
		"exports":          {"export interface A { x: number }\nexport const a: A = {x: 1};\na.x", "1"},
		"types imported": {"import type {A} from 'a'; import {type B} from 'b'; import {C} from 'c';\nconst x: A | " +
			"B | C = 1; x", "1"},
		"grouping": {"const g = Object.groupBy([1, 2, 3], n => n % 2 ? 'odd' : 'even'); g",
			`{"odd":[1,3],"even":[2]}`},
		"structuredClone": {"const a: any = {d: new Date(0), m: new Map([[1, {b: 2}]])}; a.self = a;\nconst c = " +
			"structuredClone(a); [c !== a, c.self === c, c.d.getTime(), c.m.get(1)]", `[true,true,0,{"b":2}]`},
		"properties": {`[/^\p{Lu}\p{Ll}+$/u.test("Ünal"), "a1-ß".replace(/\P{L}/gu, ""), /[^\p{L}]/u.test("ß"), ` +
			`/\p{Emoji_Presentation}/v.test("😀"), new RegExp("\\p{Script=Greek}", "u").test("α"), /\p{L}/u.source]`,
			`[true,"aß",false,true,true,"\\p{L}"]`},
		"URL": {"const u = new URL('../b?x=1&y=a%20b#h', " +
			"'https://user@Example.com:443/p/q/r');\nu.searchParams.append('z', 'ü&');\n[u.href, u.host, " +
			"u.searchParams.get('y'), [...u.searchParams].length]",
			`["https://user@example.com/p/b?x=1&y=a+b&z=%C3%BC%26#h","example.com","a b",3]`},
		"bytes": {"[new TextDecoder().decode(new TextEncoder().encode('hé😀')), btoa('hi!?'), atob('aGkhPw==')]",
			`["hé😀","aGkhPw==","hi!?"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := result(t, box, b, test.source); got != test.want {
				t.Errorf("%s\ngave %s\nwant %s", test.source, got, test.want)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	b, box := open(t, nil)
	for name, test := range map[string]struct{ source, want string }{
		"syntax": {"type A = number;\nconst x: = 3",
			"line 2, column 10: unexpected \"=\"\n2 | const x: = 3\n  |          ^"},
		"syntax behind ü😀": {"const ü = '😀'; const x: = 3",
			"line 1, column 26: unexpected \"=\"\n1 | const ü = '😀'; const x: = 3\n  |                         ^"},
		"syntax of a return": {"return 1;\nconst x: = await 3",
			"line 2, column 10: unexpected \"=\"\n2 | const x: = await 3\n  |          ^"},
		"unfinished": {"return f(1,\n", "line 2, column 1: unexpected end of file\n2 | \n  | ^"},
		"undeclared": {"interface A {\n  x: number\n}\nconst a: A = {x: zed}",
			"line 4, column 18: zed is not defined\n4 | const a: A = {x: zed}\n  |                  ^"},
		"undeclared, return": {"type A = 1\nif (zed) return 1 as A",
			"line 2, column 5: zed is not defined\n2 | if (zed) return 1 as A\n  |     ^"},
		"thrown": {"type T = string;\n\nconst f = (x: any): T =>\n  x.a.b;\nawait f({})",
			"line 4, column 7: TypeError: Cannot read properties of undefined or null (reading 'b')\n4 |   x.a.b;\n  |       ^" +
				"\ncalled in line 5: await f({})"},
		"thrown in a generator": {"async function* g(): any {\n  yield 1;\n  throw new Error('no')\n}\nfor await " +
			"(const x of g()) {}",
			"line 3, column 9: Error: no\n3 |   throw new Error('no')\n  |         ^\ncalled in line 5: for await (const x of g()) {}"},
		"several": {"const a: number = b;\nconst c: number = d;",
			"the program was refused for 2 reasons; nothing has run\nline 1, column 19: b is not defined\n1 | const a: " +
				"number = b;\n  |                   ^\nline 2, column 19: d is not defined\n2 | const c: number = d;\n  |   " +
				"                ^"},
		"behind an import": {"import type {A} from 'a';\nimport {groupBy} from 'lodash';\ngroupBy(zed)",
			"line 2, column 23: the package \"lodash\" may not be imported (no packages are available; the declared " +
				"tools are globals)\n2 | import {groupBy} from 'lodash';\n  |                       ^"},
		"an unused import": {"import {groupBy} from 'lodash';\nzed", "line 2, column 1: zed is not defined\n2 | zed\n  | ^"},
		"a fence": {"```ts\nconst a: number = 1\n```",
			"line 1, column 1: the program is in a code fence (leave out the lines with ```)\n1 | ```ts\n  | ^"},
		"export": {"const a = 1;\nexport default a",
			"line 2, column 1: a program cannot export anything (remove export, and return the value or end with it as an " +
				"expression)\n2 | export default a\n  | ^"},
		"a name twice": {"const a = 1;\nlet a = 2",
			"line 2, column 5: the symbol \"a\" has already been declared\n2 | let a = 2\n  |     ^"},
		"Windows' lines": {"type A = 1;\r\nconst b: A = 1;\r\n\tzed",
			"line 3, column 2: zed is not defined\n3 | \tzed\n  | \t^"},
		"unknown property": {`new RegExp("\\p{Nope}", "u")`,
			"line 1, column 1: SyntaxError: Invalid regular expression: /\\p{Nope}/: \\p{…} has a name that this " +
				"engine does not know\n1 | new RegExp(\"\\\\p{Nope}\", \"u\")\n  | ^"},
		"sets of patterns": {`/[a--b]/v`,
			"line 1, column 1: SyntaxError: Invalid regular expression: /[a--b]/: this engine does not support " +
				"set operations on characters\n1 | /[a--b]/v\n  | ^"},
		"a computed import": {"const n = 'x';\nawait import(n)",
			"line 2, column 7: import() needs the name of a package as a string literal (write import(\"name\"))\n2 | " +
				"await import(n)\n  |       ^"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := result(t, box, b, test.source); got != test.want {
				t.Errorf("%s\ngave %s\nwant %s", test.source, got, test.want)
			}
		})
	}
}

// TestCallsOfTypeScript checks the positions of calls, and that a session continues.
func TestCallsOfTypeScript(t *testing.T) {
	t.Parallel()
	b, box := open(t, nil)
	double := func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		return 2 * in.N, nil
	}
	set, err := tools.NewSet(t.Context(), tools.Func("double", "Twice a number.", double, nil))
	if err != nil {
		t.Fatal(err)
	}
	session := box.NewSession(nil)
	programs := []string{"interface A { n: number }\nconst a: A = {n: 1};\nlet b: number = await double(a);",
		"const c: number =\n  b + (await double({n: b}));\nc as number"}
	got := ""
	for _, source := range programs {
		out, err := session.Run(t.Context(), sandbox.Program{Source: source, Compiler: b, Tools: set})
		if err != nil || out.Failure != nil {
			t.Fatal(err, out.Failure)
		}
		got += fmt.Sprintf("%s %d:%d ", out.Value, out.Calls[0].Line, out.Calls[0].Column)
	}
	if want := " 3:23 6 2:14 "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	review, err := session.Check(t.Context(), sandbox.Program{Source: "const d: string = double({m: 1});\nd.length",
		Compiler: b, Tools: set})
	if err != nil || len(review.Findings) != 1 || review.Findings[0].Line != 1 || review.Findings[0].Column != 19 {
		t.Errorf("got %v, %v", review, err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	if _, err := typescript.New(&typescript.Options{Workers: -1}); err == nil || !strings.Contains(err.Error(),
		"an option is negative") {
		t.Errorf("got %v", err)
	}
	var none *typescript.Compiler
	if _, err := none.Compile(t.Context(), "1"); err == nil {
		t.Error("a nil compiler compiles")
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	b, err := typescript.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Compile(ctx, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	b.Close()
	if _, err := b.Compile(t.Context(), "1"); !errors.Is(err, typescript.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestIsolated requires the same isolation of the compiler's workers as of the sandbox's.
func TestIsolated(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("no other system isolates workers")
	}
	b, err := typescript.New(&typescript.Options{FullIsolation: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if c, err := b.Compile(t.Context(), "1 as number"); err != nil || c.Source != "1;\n" {
		t.Errorf("got %v, %v", c, err)
	}
}

// TestHostileSource compiles programs that attack the compiler. Each must soon be compiled
// or get a finding, and the next program must compile.
func TestHostileSource(t *testing.T) {
	t.Parallel()
	b, err := typescript.New(&typescript.Options{Time: 2 * time.Second, Memory: 256 << 20}) // some need more
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	repeat := strings.Repeat
	const size = 60_000
	for name, source := range map[string]string{
		"brackets":        repeat("(", size),
		"braces":          repeat("{", size),
		"templates":       repeat("`${", size/3),
		"arrows":          repeat("a=>", size/3) + "1",
		"arrow defaults":  repeat("((a=", 40) + "1" + repeat(")=>1)", 40),
		"conditions":      repeat("a?(b):c=>", size/9) + "1",
		"generic arrows":  repeat("<T>(a=", 60) + "1" + repeat(")=>1", 60),
		"types":           "let a: " + repeat("[", 1900) + repeat("]", 1900),
		"type arguments":  "let a: " + repeat("A<", size/2),
		"conditional":     "type A = " + repeat("A extends infer B extends ", size/30),
		"not":             repeat("!", size) + "1",
		"await":           repeat("await ", size/6) + "1",
		"if":              repeat("if(1)", size/5) + "1",
		"else":            repeat("if(1);else ", size/11) + "1",
		"members":         "a" + repeat(".a", size/2),
		"sum":             "1" + repeat("+1", size/2),
		"assignments":     repeat("a=", size/2) + "1",
		"calls":           "a" + repeat("()", size/2),
		"labels":          repeat("a:", size/2) + "1",
		"enum":            "enum E {" + repeat("A,", size/2) + "}",
		"decorators":      "class A {" + repeat("@a ", size/3) + "x }",
		"pattern":         "/" + repeat("(", size) + "/",
		"namespaces":      "namespace a" + repeat(".a", size/2) + " {}",
		"classes":         repeat("class A extends (class {static x=", size/40),
		"no text at all":  "\x00\xff\xfe",
		"imports":         repeat("import 'a';", size/11),
		"optional chains": "a" + repeat("?.a", size/3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			c, err := b.Compile(t.Context(), source)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > ample { // two workers compile all the programs
				t.Errorf("took %v", took)
			}
			for _, f := range c.Findings {
				if f.Message == "" || len(f.Message) > 10_000 {
					t.Errorf("%.200v", f)
				}
			}
			if len(c.Source) > 0 == (len(c.Findings) > 0) {
				t.Errorf("%d bytes and findings %.200v", len(c.Source), c.Findings)
			}
		})
	}
	t.Run("and then", func(t *testing.T) {
		t.Parallel()
		c, err := b.Compile(t.Context(), "1 as number")
		for tries := 1; err == nil && c.Source == "" && tries < 10; tries++ { // on a busy machine
			c, err = b.Compile(t.Context(), "1 as number")
		}
		if err != nil || c.Source != "1;\n" {
			t.Errorf("got %v, %v", c, err)
		}
	})
}
