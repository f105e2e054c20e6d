package typescript

import (
	"fmt"
	"strings"
	"testing"
)

// TestImports compiles programs and lists what they import, and their faults.
func TestImports(t *testing.T) {
	t.Parallel()
	const noExport, noRequire = " a program cannot export anything\n", " require cannot be used here\n"
	for _, test := range []struct{ source, code, want string }{
		{`import a from "x"; a`, "const a=L.i0;\n                  \na;\n", "1:15 default of x\n"},
		{`import {a, b as c, "d-e" as f, default as g} from 'x'` + "\na(c, f, g)", "const a=L.i0;const c=L.i1;" +
			"const f=L.i2;const g=L.i3;\n" + strings.Repeat(" ", 56) + "\na(c, f, g);\n",
			"1:51 a of x\n1:51 b of x\n1:51 d-e of x\n1:51 default of x\n"},
		{"import {\n  a,\n  type B,\n  type as,\n  type as as C,\n} from \"x\"; a", "const a=L.i0;\n" +
			"        \n   \n           \na;\n", "6:8 a of x\n"},
	} {
		if got := compiled(test.source); got != test.code+test.want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", test.source, got, test.code+test.want)
		}
	}
	for source, want := range map[string]string{
		`import * as all from "x"; all`:                            "1:22 * of x\n",
		`import a, * as b from "@s/x/y"; a(b)`:                     "1:23 * of @s/x/y\n1:23 default of @s/x/y\n",
		`import a, {b} from "x"; a(b)`:                             "1:20 b of x\n1:20 default of x\n",
		`import "x"; import {} from "y"`:                           "1:8  of x\n",
		`import {a, "}" as b} from "x"; a(b)`:                      "1:27 a of x\n1:27 } of x\n",
		`import {C} from "x"; let c: C`:                            "",
		`import type T from "x"; import type {U} from "y"`:         "",
		`import type from "x"; type()`:                             "1:18 default of x\n",
		`import a from "x" with {type: "json"}; a`:                 "1:15 default of x\n",
		`import a from "\x78"; a`:                                  "1:15 default of x\n",
		"é(); import {é, 中 as 𝒳} from 'x'; 𝒳":                      "1:31 é of x\n1:31 中 of x\n",
		`const m = await import("x"), n = o.import("y")`:           "1:24 x by import()\n",
		`f(...import("x"))`:                                        "1:13 x by import()\n",
		`{ await import('x', {with: {}}) }`:                        "1:16 x by import()\n",
		"await import(/* a */\n// b\n`x`)":                         "3:1 x by import()\n",
		"if (a) {\n  import('x').then(b)\n}\n`\n  import('x')`":    "2:10 x by import()\n",
		`import {'"a}"' as a, 'it\'s "b"' as b} from "x"; a(b)`:    "1:45 \"a}\" of x\n1:45 it's \"b\" of x\n",
		`import {'a" as b} from "writ:shim";//' as c} from "x"; c`: "1:51 a\" as b} from \"writ:shim\";// of x\n",
		`import(name)`: "1:1 import() needs the name of a package as a string literal\n",
		`({export: 1, require: f("x")}); class A { export = 1; #import = 2; static import = 3 }`:    "",
		`import.meta.url; ({import: 1}).import; a.import`:                                           "",
		`let exports, export1; exports = 1; importx(export1)`:                                       "",
		`import A = N.B; import x = require("x"); A(x)`:                                             "1:28" + noRequire,
		"// import a from \"x\"\n`\nimport c from \"z\";\n${1}\nimport c from \"z\";\nimport('x')`": "",
		"x`\nexport const a = 1;\n${1}\nexport { a };`":                                             "",
		`"import('x')"; 'require("x")'`:                                                             "",
		`const a = require("x"), b = o.require("y")`:                                                "1:11" + noRequire,
		`const require = f; require("x"); g(require)`:                                               "",
		`import x from "writ:shim"; x`:                                                              "1:15 \"writ:shim\" is not a package\n",
		`export const a = 1; export interface B {}; export {}`:                                      "",
		"export @d class A {}; @d export class B {}":                                                "",
		"export enum E {A}\nexport namespace N { export let a }":                                    "",
		"export abstract class A {}; export async function f() {}; export import b = N.b":           "",
		"using a = b; export const c = 1; export class D {}; return c":                              "",
		`export default 1`:                                      "1:1" + noExport,
		`export default class A {}`:                             "1:1" + noExport,
		`let a; export {a}`:                                     "1:8" + noExport,
		`export * from "x"; export * as y from "y"`:             "1:1" + noExport + "1:20" + noExport,
		`export {x} from "x"`:                                   "1:1" + noExport,
		`import a from "x`:                                      "1:17 unterminated string literal\n",
		"URL(a); a.WeakRef; Array . fromAsync(a, f)":            "1:1 Array.fromAsync of writ:shim\n1:1 URL of writ:shim\n",
		"function URL() {} URL()":                               "",
		"import {URL} from 'x'; URL(); (WeakRef => WeakRef)(1)": "1:19 URL of x\n",
		"'URL'; const {TextEncoder} = a; TextEncoder()":         "",
		`/\p{L}/u; new RegExp("[\\P{N}]", "u")`:                 "1:1 RegExp of writ:shim L ^N L\n",
		`/a/gv`:                                                 "1:1 RegExp of writ:shim L\n",
		`new RegExp("a"); /a/u`:                                 "",
	} {
		m := transform(source)
		got := imports(m)
		if got != want || m.Faults == nil && strings.Contains("\n"+m.Source, "\nexport ") != strings.HasPrefix(source, "x`") {
			t.Errorf("%s\ngot\n%s\nwant\n%s\n%s", source, got, want, m.Source)
		}
	}
}

// compiled returns a program in JavaScript, followed by its imports, or its faults.
func compiled(source string) string {
	m := transform(source)
	return strings.ReplaceAll(m.Source, "__writ_library__", "L") + imports(m)
}

// imports returns the imports of a program, or its faults.
func imports(m *transformed) string {
	var b strings.Builder
	for _, i := range m.Imports {
		fmt.Fprintf(&b, "%d:%d ", i.Line, i.Column)
		if i.Dynamic {
			fmt.Fprintf(&b, "%s by import()\n", i.Module)
		} else {
			fmt.Fprintln(&b, strings.TrimSuffix(fmt.Sprintf("%s of %s %s", i.Name, i.Module, i.Properties), " "))
		}
	}
	for _, f := range m.Faults {
		fmt.Fprintf(&b, "%d:%d %s\n", f.Line, f.Column, f.Message)
	}
	return b.String()
}

// TestReturns compiles programs that return and await at top level. Everything must keep its
// position, and the values of returns must not move to another line.
func TestReturns(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"if (await a) return\nreturn b, await c":       "if (await a) return;\nreturn b, await c;\n",
		"await a; if (b) return; else return /x/":      "await a;\nif (b) return;\nelse return /x/;\n",
		"await a; { return }":                          "await a;\n{\n  return;\n}\n",
		"await a; return // b\nc":                      "await a;\nreturn;\nc;\n",
		"await a; return /* b */ c":                    "await a;\nreturn c;\n",
		"await a; return /* b\n */ c":                  "await a;\nreturn;\nc;\n",
		"await a; return ( // ü\n <B>c)":               "await a;\nreturn c;\n",
		"await a; return (/* b */ /* c */\n{d: 1})":    "await a;\nreturn { d: 1 };\n",
		"await a; return":                              "await a;\nreturn;\n",
		"await a; const f = () => { return 1 }":        "await a;\nconst f = () => {\n  return 1;\n};\n",
		"'$r10 $ret10'; await a; if (b) return\n(c)()": "\"$r10 $ret10\";\nawait a;\nif (b) $ret11(c)();\n",
	} {
		if got := compiled(source); got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", source, got, want)
		}
	}
}

// FuzzTransform compiles any program. All reported positions must be within the program.
func FuzzTransform(f *testing.F) {
	for _, seed := range []string{
		`import a, {b as c} from "x"; a(c)`, "import type {T} from 'x'\nexport const t: T = 1",
		"const {a} = await import('x')",
		"`${`}`}`; /[/]/ / 2; ({}) / 1; x = a ? /b/ : {} / 2", "import * as z from 'z'; export {}; enum E {A}",
		"async function* g() { yield* h() }\nfor await (const x of g()) x",
		"class A { @d() #x = 1; static {} }", "using a = b; return a", "\u2028import 'x'\u2029;\r\n'\\",
		"new RegExp('\\\\p{L}', 'u'); structuredClone(1)",
		"import {'a b' as c} from 'x' with {type: 'json'}", "#!x\nlet a = <T,>(x: T) => x satisfies T",
		"await import('a'); import b from 'a'; b!", "await 1; return /* a */ (//b\n c)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 1000 {
			return
		}
		p := transform(source)
		lines := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029",
			"\n").Replace(source), "\n") + 1
		for _, f := range p.Faults {
			if f.Message == "" || f.Line > lines || f.Line < 0 || f.Column < 0 || f.Column > len(source)+1 {
				t.Fatalf("%q: %+v", source, f)
			}
		}
		for _, i := range p.Imports {
			if i.Line < 1 || i.Line > lines {
				t.Fatalf("%q: %+v", source, i)
			}
		}
	})
}
