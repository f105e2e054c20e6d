package esbuild_test

import (
	"context"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/esbuild"
)

func TestThin(t *testing.T) {
	b, err := esbuild.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	box, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, src := range []string{
		"const x: number = 1;\nx + 1",
		"interface A { x: number }\nconst a: A = {x: await Promise.resolve(3)};\nif (a.x) return a.x as number;\nreturn 4",
		"enum C { Red, Green }\nnamespace N { export const q = 3 }\nasync function* g(){ yield 1; yield N.q }\nlet s = 0;\nfor await (const v of g()) s += v;\ns + C.Green",
		"type T = string;\nconst f = (x: any): T => {\n  return x.foo.bar;\n};\nf({})",
		"const x: = 3",
		"let y: number = 2;\ny +\n  zed(3)",
		"console.log(1); using a = {[Symbol.dispose]() {}}",
		"import {z} from 'zod'; z.string()",
		"export const x: number = 5; x",
		"class P { @dec(1) foo(): string { return 'a' } }\nfunction dec(n: number) { return (v: Function, c: any) => function() { return n + c.name } }\nnew P().foo()",
		"/\\p{L}/u.test('a')",
	} {
		out, err := box.Run(context.Background(), sandbox.Program{Source: src, Compiler: b})
		t.Logf("%s\n=> %v\n", src, err)
		if out != nil {
			t.Logf("%s %v", out.Value, out.Failure)
			if out.Failure != nil {
				t.Log(out.Failure.Stack)
			}
		}
	}
}
