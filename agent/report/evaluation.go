package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/writ-go/writ/module/evaluate"
)

// evaluation is what the template shows of an evaluation.
type evaluation struct {
	*evaluate.Report
	Scale     scale
	Histogram []bin
	Results   []result
	More      int // results that are not shown
}

// scale is the scale of the scores. Its ends are 0 and 1, unless a score is outside of this range.
type scale struct{ Low, High float64 }

// bin is a bar of the histogram. Y and H are in pixels.
type bin struct {
	X, W        string
	From        float64
	Y, H, Count int
}

// result is the result of an example. Its steps are not always shown.
type result struct {
	*evaluate.Result
	Rank int // 0 for errors, which have no score, 1 for runs without an answer, otherwise 2
	Run  *run
}

const (
	maxResults = 2000 // results shown of an evaluation
	maxTraces  = 100  // results whose steps are shown
)

// WriteEvaluation writes the report of an evaluation to w: the score with its interval, a histogram of the scores, and
// the results, the worst first. The steps of the worst 100 results are shown if the evaluation kept their trajectories.
// Nil options are the defaults. Errors are those of w.
func WriteEvaluation(w io.Writer, r *evaluate.Report, o *Options) error {
	r, b := cmp.Or(r, &evaluate.Report{}), newBuilder(o)
	p := page{Title: "Evaluation", Evaluation: b.evaluation(r), Usage: r.Usage, MetricUsage: r.MetricUsage}
	p.Facts = []fact{{"Runs", fmt.Sprint(len(r.Results))}}
	var times []time.Duration
	for i := range r.Results {
		times = append(times, r.Results[i].Duration)
	}
	if slices.Sort(times); len(times) > 0 {
		p.Facts = append(p.Facts, fact{"Median latency", duration(times[(len(times)-1)/2])},
			fact{"90th percentile", duration(times[(len(times)*9+9)/10-1])})
	}
	p.Facts = append(p.Facts, totals(r.Usage.Total())...)
	return b.write(w, p)
}

func (b *builder) evaluation(r *evaluate.Report) *evaluation {
	e := &evaluation{Report: r, Scale: scale{0, 1}}
	var worst []result
	for i := range r.Results {
		one := result{Result: &r.Results[i], Rank: 2}
		if one.NoAnswer {
			one.Rank = 1
		} else if one.Err != "" {
			one.Rank = 0
		}
		if v := one.Score.Value; one.Rank > 0 && !math.IsNaN(v) {
			e.Scale = scale{min(e.Scale.Low, v), max(e.Scale.High, v)}
		}
		worst = append(worst, one)
	}
	slices.SortStableFunc(worst, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Score.Value, b.Score.Value))
	})
	e.Histogram = e.Scale.histogram(worst)
	e.Results, e.More = first(worst, maxResults)
	for i := range e.Results {
		if one := &e.Results[i]; one.Trajectory != nil && i < maxTraces {
			r := b.run(*one.Trajectory)
			one.Run = &r
		}
	}
	return e
}

// place returns a value's place on the scale from 0 to 1, and 0 for NaN.
func (s scale) place(v float64) float64 {
	if p := v/(s.High-s.Low) - s.Low/(s.High-s.Low); p > 0 {
		return min(p, 1)
	}
	return 0
}

// At returns a value's place on the scale as a percentage.
func (s scale) At(v float64) string { return percent(100 * s.place(v)) }

// Between returns the distance of two values on the scale as a percentage.
func (s scale) Between(a, b float64) string { return percent(100 * (s.place(b) - s.place(a))) }

// histogram counts the scores.
func (s scale) histogram(results []result) []bin {
	const bins, height = 10, 90
	list, most := make([]bin, bins), 1
	for _, r := range results {
		if r.Rank > 0 {
			one := &list[min(int(s.place(r.Score.Value)*bins+1e-9), bins-1)]
			one.Count++
			most = max(most, one.Count)
		}
	}
	for i := range list {
		one := &list[i]
		one.X, one.W = percent(100.0/bins*float64(i)), percent(100.0/bins-1)
		one.From = s.Low + (s.High-s.Low)*float64(i)/bins
		one.H = max(one.Count*height/most, min(one.Count, 2))
		one.Y = 14 + height - one.H
	}
	return list
}
