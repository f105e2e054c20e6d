package typescript_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

//go:embed testdata/script60.ts
var script60 string

// BenchmarkCompile alternates between the compiler and the floor, which is esbuild alone in
// this process. The metric x-raw is the median of the compiler's time divided by the floor's.
//
// In typescript, the program has 60 lines. In return, it is compiled twice, because it awaits
// and returns at top level.
func BenchmarkCompile(b *testing.B) {
	compiler, _ := open(b, nil)
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
			c, err := compiler.Compile(b.Context(), source)
			if err != nil || len(c.Findings) > 0 {
				b.Fatal(c, err)
			}
		}
	}
	b.Run("typescript", func(b *testing.B) { compare(b, raw(script60), compile(script60)) })
	b.Run("return", func(b *testing.B) {
		at := strings.LastIndex(script60, "({ ledger")
		compare(b, raw(script60), compile(script60[:at]+"return "+script60[at:]))
	})
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
