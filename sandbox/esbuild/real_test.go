package esbuild_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/esbuild"
)

func TestReal(t *testing.T) {
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
	c := b.Packages(os.DirFS("/tmp/esb-npm"), []string{"lodash-es", "zod", "date-fns", "yaml", "papaparse", "marked", "nope"})
	for _, src := range []string{
		"import {chunk, groupBy} from 'lodash-es';\nchunk([1,2,3], 2)",
		"import _ from 'lodash-es';\n_.chunk([1,2,3], 2)",
		"import * as _ from 'lodash-es';\n_.template ? _.chunk([1,2,3], 2): 1",
		"import {format, addDays} from 'date-fns';\nformat(addDays(new Date(2026, 0, 1), 3), 'yyyy-MM-dd EEEE')",
		"import {z} from 'zod';\nconst S = z.object({a: z.string().email(), b: z.number().int()}); const r = S.safeParse({a: 'x', b: 1.5}); return r.success ? 1 : r.error.issues",
		"import YAML from 'yaml';\nYAML.parse('a: [1, 2]\\nb: {c: d}')",
		"import {stringify} from 'yaml';\nstringify({a: [1, {b: 2}]})",
		"import Papa from 'papaparse';\nPapa.parse('a,b\\n1,\"2,3\"', {header: true}).data",
		"import {marked} from 'marked';\nmarked.parse('# Hi **there**\\n\\n- a\\n- b_c_\\n\\n|a|b|\\n|-|-|\\n|1|2|')",
		"const re = /^[\\p{L}\\d_]+$/u; [re.test(\"Grüße\"), re.test(\"a b\"), \"añ,b\".replace(/\\P{L}/gu, \"-\"), /\\p{Emoji}/v.test(\"😀\"), new RegExp(\"^\\\\p{Lu}$\", \"u\").test(\"É\")]",
		"Object.groupBy([1,2,3], x => x % 2 ? \"a\" : \"b\")",
		"const m = structuredClone({a: new Map([[1, 2]])}); [m.a.get(1), new URL(\"../x?q=1#h\", \"https://Ex.com:443/a/b/c\").href, new TextDecoder().decode(new TextEncoder().encode(\"hé😀\")), btoa(\"hi\"), atob(\"aGk=\")]",
		"const {chunk} = await import('lodash-es');\nchunk([1,2,3], 2)",
		"import {nothere} from 'lodash-es';\nnothere(1)",
		"import x from 'nope';\nimport {readFileSync} from 'node:fs'; import y from './z'; import q from '@scope/q';\nreadFileSync(x,y,q)",
		"import f from 'date-fns/nope';\nf()",
		"import {format} from 'date-fns/format';\nformat(new Date(0), 'yyyy')",
	} {
		for range 2 {
			s := time.Now()
			cc, err := c.Compile(context.Background(), src)
			if err != nil {
				t.Fatal(err)
			}
			d := time.Since(s)
			s = time.Now()
			out, err := box.Run(context.Background(), sandbox.Program{Source: src, Compiler: c})
			t.Logf("%s\n=> %v lib %d compile %v run %v", src, err, len(cc.Library), d, time.Since(s))
			if out != nil {
				t.Logf("%s %v", out.Value, out.Failure)
				if out.Failure != nil {
					t.Log(out.Failure.Stack)
				}
			}
		}
	}
}
