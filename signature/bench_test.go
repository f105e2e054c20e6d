package signature_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/writ-go/writ/signature"
)

type (
	twoIn struct {
		Question string `json:"question"`
		Context  string `json:"context"`
	}
	twoOut struct {
		Answer string `json:"answer"`
		Score  int    `json:"score" jsonschema:"minimum=0"`
	}
)

// BenchmarkSignature compares Encode and Decode with the floor, encoding/json
// alone, in alternation in one process. The metric x-raw is the median of ours
// divided by raw.
func BenchmarkSignature(b *testing.B) {
	s := signature.Must(signature.New[twoIn, twoOut]("Answer."))
	in := twoIn{"Who wrote it?", "It was written by somebody who is not known, a long time ago, and found in an attic."}
	raw := []byte(`{"answer": "Nobody knows.", "score": 7}`)
	b.Run("encode", func(b *testing.B) {
		compare(b, func() error { _, err := json.Marshal(in); return err }, func() error {
			_,
				err := s.Encode(in)
			return err
		})
	})
	b.Run("decode", func(b *testing.B) {
		compare(b, func() error { return json.Unmarshal(raw, new(twoOut)) }, func() error {
			_,
				err := s.Decode(raw)
			return err
		})
	})
}

func compare(b *testing.B, floor, ours func() error) {
	b.Helper()
	var ratios, each []float64
	for b.Loop() {
		least, most := clock(b, floor), clock(b, ours)
		ratios = append(ratios, most/least)
		each = append(each, most)
	}
	b.ReportMetric(median(ratios), "x-raw")
	b.ReportMetric(median(each), "ns-ours")
	b.ReportMetric(testing.AllocsPerRun(100, func() { _ = ours() }), "allocs-ours")
	b.ReportMetric(0, "ns/op") // it would be of both together
}

// clock returns the nanoseconds per call.
func clock(b *testing.B, f func() error) float64 {
	const calls = 100
	start := time.Now()
	for range calls {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(start)) / calls
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
