package module_test

import (
	"slices"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
)

// BenchmarkBestOfN measures the cost of an attempt without the run of its module: a clone, a score,
// and events. The run alone is measured in turn.
func BenchmarkBestOfN(b *testing.B) {
	raw := module.NewPredict(adding, says(total(1)), nil)
	best := module.NewBestOfN(raw, 1, fairly, 1, nil)
	measureAgainst(b, func() error {
		_, err := raw.Run(b.Context(), anything)
		return err
	}, func() error {
		_, err := best.Run(b.Context(), anything)
		return err
	})
}

// BenchmarkClone measures a clone of a struct of two modules.
func BenchmarkClone(b *testing.B) {
	m := &pipeline{newSum(), newSum()}
	b.ReportAllocs()
	for b.Loop() {
		module.Clone(m)
	}
}

// measureAgainst measures f and raw in turn, and reports the median of the ratio of their times.
func measureAgainst(b *testing.B, raw, f func() error) {
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
