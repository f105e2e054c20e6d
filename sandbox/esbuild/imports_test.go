package esbuild

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
)

// shown returns the imports that a survey found, one per line.
func shown(m *module) string {
	var b strings.Builder
	for _, i := range m.imports {
		how := ""
		if i.Dynamic {
			how = " by import()"
		}
		fmt.Fprintf(&b, "%s of %s as %s%s\n", i.Name, i.Module, i.local, how)
	}
	for _, f := range m.faults {
		fmt.Fprintf(&b, "%d:%d %s\n", f.Line, f.Column, f.Message)
	}
	return b.String()
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ source, body, want string }{
		{`import a from "x"; a`, `                   a`, "default of x as a\n"},
		{`import {a, b as c, "d-e" as f, default as g} from 'x'` + "\na", strings.Repeat(" ", 53) + "\na",
			"a of x as a\nb of x as c\nd-e of x as f\ndefault of x as g\n"},
		{"import {\n  a,\n  type B,\n  type as,\n  type as as C,\n} from \"x\"",
			"        \n    \n         \n          \n               \n          ", "a of x as a\n"},
		{`import {type as as x} from "x"`, strings.Repeat(" ", 30), ""},
		{`import * as all from "x"`, strings.Repeat(" ", 24), "* of x as all\n"},
		{`import a, * as b from "@s/x/y"`, strings.Repeat(" ", 30), "default of @s/x/y as a\n* of @s/x/y as b\n"},
		{`import a, {b} from "x"`, strings.Repeat(" ", 22), "default of x as a\nb of x as b\n"},
		{`import "x"; import {} from "y"`, strings.Repeat(" ", 11) + " " + strings.Repeat(" ", 18), " of x as \n of y as \n"},
		{`import type T from "x"; import type {U} from "y"; import type * as V from "z"`, strings.Repeat(" ", 77), ""},
		{`import type from "x"; import type, {a} from "y"`, strings.Repeat(" ", 47),
			"default of x as type\ndefault of y as type\na of y as a\n"},
		{`import a from "x" with {type: "json"}; a`, strings.Repeat(" ", 39) + "a", "default of x as a\n"},
		{"import a from \"x\"\nwith(a)", strings.Repeat(" ", 17) + "\nwith(a)", "default of x as a\n"},
		{`f(); import a from "x"`, `f();                  `, "default of x as a\n"},
		{`const m = await import("x"), n = o.import("y")`, `const m = await import("x"), n = o.import("y")`,
			" of x as  by import()\n"},
		{`{ await import('x', {with: {}}) }`, `{ await import('x', {with: {}}) }`, " of x as  by import()\n"},
		{`import(name)`, `import(name)`, "1:1 import() needs the name of a package as a string literal\n"},
		{`import.meta.url`, `import.meta.url`, ""},
		{`({import: 1}).import; a.import`, `({import: 1}).import; a.import`, ""},
		{`import A = N.B; import x = require("x")`, `import A = N.B; import x = require("x")`,
			"1:28 require cannot be used here\n"},
		{"// import a from \"x\"\n/* import b from \"y\" */ `import c from \"z\" ${`${1}`} import d from \"w\"`",
			"// import a from \"x\"\n/* import b from \"y\" */ `import c from \"z\" ${`${1}`} import d from \"w\"`", ""},
		{`"import a from 'x'"; 'import b'`, `"import a from 'x'"; 'import b'`, ""},
		{"x = 1 / 2; import a from 'y' // '", "x = 1 / 2;                   // '", "default of y as a\n"},
		{"x = /[/'\"`]/; import a from 'y'", "x = /[/'\"`]/;                  ", "default of y as a\n"},
		{"if (x) /'/.test(y); import a from 'y'", "if (x) /'/.test(y);                  ", "default of y as a\n"},
		{"(x) / 2 + '/'; import a from 'y'", "(x) / 2 + '/';                  ", "default of y as a\n"},
		{"{} /'/.test(y); import a from 'y'", "{} /'/.test(y);                  ", "default of y as a\n"},
		{"x = {} / 2; import a from 'y' // /'", "x = {} / 2;                   // /'", "default of y as a\n"},
		{"x++ / 2; import a from 'y' // /'", "x++ / 2;                   // /'", "default of y as a\n"},
		{"x! / 2; import a from 'y' // /'", "x! / 2;                   // /'", "default of y as a\n"},
		{"const f = () => { import a from 'y' }", "const f = () => { import a from 'y' }", ""},
		{`export const a = 1; export interface B {}; export {}`, `       const a = 1;        interface B {};          `, ""},
		{`const a = require("x"), b = o.require("y")`, `const a = require("x"), b = o.require("y")`,
			"1:11 require cannot be used here\n"},
		{`const require = f; require("x"); g(require)`, `const require = f; require("x"); g(require)`, ""},
		{`export default 1`, `export default 1`, "1:1 a program cannot export anything\n"},
		{`let a; export {a}`, `let a; export {a}`, "1:8 a program cannot export anything\n"},
		{`export * from "x"`, `export * from "x"`, "1:1 a program cannot export anything\n"},
		{"import a from \"x", "import a from \"x", ""},
		{"import {a, from 'x'", "import {a, from 'x'", ""},
		{"import a from \"\\x78\"", "import a from \"\\x78\"", ""},
		{"URL(a); a.WeakRef; Array . fromAsync(a, f)", "URL(a); a.WeakRef; Array . fromAsync(a, f)",
			"URL of writ:shim as URL\nArray.fromAsync of writ:shim as \n"},
		{"function URL() {} URL()", "function URL() {} URL()", ""},
		{`/\p{L}/u; new RegExp("[\\P{N}]", "u")`, `/\p{L}/u; new RegExp("[\\P{N}]", "u")`, "RegExp of writ:shim as RegExp\n"},
		{`new RegExp("a")`, `new RegExp("a")`, ""},
		{"import\u00a0a from\u3000'x'; return\u00a0/'/", "      \u00a0      \u3000     return\u00a0/'/",
			"default of x as a\n"},
		{"import {é, 中 as 𝒳} from 'x'; a", "        \u00a0  \u3000    \u00a0\u00a0            a",
			"é of x as é\n中 of x as 𝒳\n"},
	} {
		m := survey(test.source)
		if m.body != test.body {
			t.Errorf("%s\nleaves  %q\nwant    %q", test.source, m.body, test.body)
		}
		if got := shown(m); got != test.want {
			t.Errorf("%s\ngot\n%swant\n%s", test.source, got, test.want)
		}
	}
}

var seeds = []string{
	`import a, {b as c} from "x"; a(c)`, "import type {T} from 'x'\nexport const t: T = 1",
	"const {a} = await import('x')",
	"`${`}`}`; /[/]/ / 2; ({}) / 1; x = a ? /b/ : {} / 2", "import * as z from 'z'; export {}; enum E {A}",
	"async function* g() { yield* h() }\nfor await (const x of g()) x",
	"class A { @d() #x = 1; static {} }", "using a = b; return a", "\u2028import 'x'\u2029;\r\n'\\",
	"new RegExp('\\\\p{L}', 'u'); structuredClone(1)",
	"import {'a b' as c} from 'x' with {type: 'json'}", "#!x\nlet a = <T,>(x: T) => x satisfies T",
	"await import('a'); import b from 'a'; b!",
}

// FuzzSurvey removes the import declarations from any text. All other code must keep its
// position, and each import must occur in the text.
func FuzzSurvey(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		m := survey(source)
		if len(m.body) != len(source) {
			t.Fatalf("the positions of %q differ in %q", source, m.body)
		}
		for i, r := range m.body {
			if m.body[i] != source[i] && (!unicode.IsSpace(r) || source[i] == '\n' || source[i] == '\r') {
				t.Fatalf("%q became %q", source, m.body)
			}
		}
		if before, after := utf16.Encode([]rune(source)), utf16.Encode([]rune(m.body)); len(before) != len(after) {
			t.Fatalf("the columns of %q differ in %q", source, m.body)
		}
		for _, i := range m.imports {
			if i.Module != shimModule && !strings.Contains(source, i.Module) || !strings.Contains(source, i.local) {
				t.Fatalf("%q does not import %+v", source, i)
			}
		}
		if again := survey(m.body); len(again.faults) < len(m.faults) {
			t.Fatalf("%q hides a fault of %q", m.body, source)
		}
	})
}

// FuzzTransform compiles any text. All reported positions must be within the text.
func FuzzTransform(f *testing.F) {
	for _, seed := range seeds {
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
		if strings.Contains(p.Source, markOf(source)) {
			t.Fatalf("%q left a mark in %q", source, p.Source)
		}
	})
}
