package esbuild_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/writ-go/writ/sandbox"
)

//go:embed testdata/script60.ts
var script60 string

// BenchmarkCompile alternates between the bundler and the floor, which is esbuild alone in
// this process. The metric x-raw is the median of the bundler's time divided by the floor's.
//
// In typescript, the program has 60 lines. In return, it is compiled twice, because it awaits
// and returns at top level. In library, a program is run: the floor imports nothing, and ours
// imports a library of 200 kB, which is always the same one in kept and a different one in new.
func BenchmarkCompile(b *testing.B) {
	bundler, box := open(b, nil)
	raw := func(source string) func() {
		return func() {
			r := api.Transform(source, api.TransformOptions{
				Loader: api.LoaderTS, Target: api.ES2022, Sourcemap: api.SourceMapExternal,
				SourcesContent: api.SourcesContentExclude,
				Supported:      map[string]bool{"async-generator": false, "for-await": false},
			})
			if len(r.Errors) > 0 {
				b.Fatal(r.Errors[0].Text)
			}
		}
	}
	compile := func(source string) func() {
		return func() {
			c, err := bundler.Compile(b.Context(), source)
			if err != nil || len(c.Findings) > 0 {
				b.Fatal(c, err)
			}
		}
	}
	run := func(c sandbox.Compiler, source string) {
		if got := result(b, box, c, source); got != "1" {
			b.Fatal(got)
		}
	}
	b.Run("typescript", func(b *testing.B) { compare(b, raw(script60), compile(script60)) })
	b.Run("return", func(b *testing.B) {
		at := strings.LastIndex(script60, "({ ledger")
		compare(b, raw(script60), compile(script60[:at]+"return "+script60[at:]))
	})
	number := 0
	plain := func() { number++; run(bundler, fmt.Sprintf("%d as number; 1", number)) }
	b.Run("library/kept", func(b *testing.B) {
		c := bundler.Packages(large(1), []string{"p0"})
		compare(b, plain, func() { number++; run(c, fmt.Sprintf("import * as p from 'p0'; %d as number; p.f1()", number)) })
	})
	b.Run("library/new", func(b *testing.B) {
		c := bundler.Packages(large(1000), names(1000))
		compare(b, plain, func() { number++; run(c, fmt.Sprintf("import * as p from 'p%d'; p.f1()", number%1000)) })
	})
}

// large returns packages of 200 kB each.
func large(packages int) fstest.MapFS {
	var source strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&source,
			"export function f%d(a = 1, b = [1, 2, 3]) { return a + b.map(x => x * %d).filter(Boolean)[7] || 1 }\n", i, i)
	}
	root := fstest.MapFS{}
	for _, name := range names(packages) {
		root["node_modules/"+name+"/package.json"] = &fstest.MapFile{Data: []byte(`{"sideEffects": false}`)}
		root["node_modules/"+name+"/index.js"] = &fstest.MapFile{Data: []byte(source.String() + "export const own = '" +
			name + "'")}
	}
	return root
}

func names(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("p%d", i))
	}
	return list
}

// compare alternates between floor and ours and reports their times.
func compare(b *testing.B, floor, ours func()) {
	b.Helper()
	floor()
	ours() // warm up
	var ratios, each []float64
	for b.Loop() {
		raw, own := clock(floor), clock(ours)
		ratios = append(ratios, float64(own)/float64(raw))
		each = append(each, float64(own)/1000)
	}
	slices.Sort(ratios)
	slices.Sort(each)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(each[len(each)/2], "µs-ours")
	b.ReportMetric(0, "ns/op") // it would be the sum of both
}

func clock(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
