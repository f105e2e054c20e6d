package module_test

import (
	"slices"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
)

// BenchmarkBestOfN is what an attempt costs besides the run of its module: a
// clone, a judgement, events. The run by itself is measured beside it.
func BenchmarkBestOfN(b *testing.B) {
	raw := module.NewPredict(adding, says(total(1)), nil)
	best := module.NewBestOfN(raw, 1, fairly, 1, nil)
	beside(b, func() error {
		_, err := raw.Run(b.Context(), anything)
		return err
	}, func() error {
		_, err := best.Run(b.Context(), anything)
		return err
	})
}

// BenchmarkClone is what a copy of a struct of two modules costs.
func BenchmarkClone(b *testing.B) {
	m := &pipeline{newSum(), newSum()}
	b.ReportAllocs()
	for b.Loop() {
		module.Clone(m)
	}
}

// beside measures f with raw interleaved, and reports the median of how many
// times as long f takes.
func beside(b *testing.B, raw, f func() error) {
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, took(b, f)/took(b, raw))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
}

func took(b *testing.B, f func() error) float64 {
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return float64(time.Since(start))
}
