package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/evaluate"
)

// evaluation is what the template shows of an evaluation.
type evaluation struct {
	Score     score
	Parts     []score
	Histogram []bin
	Results   []result
	More      int // results that are not shown
}

// score is a score with its interval, on a scale.
type score struct {
	Name, Text, Interval string
	X, From, Width       string // positions of the mean and of the interval, as percentages
	Low, High            string // the ends of the scale
}

// bin is a bar of the histogram.
type bin struct {
	X, W, Label string
	Y, H, Count int
}

// result is the result of an example.
type result struct {
	ID, Score, Width string
	Marks            []mark
	Feedback         string
	Duration         time.Duration
	Inputs           []field
	Want, Got        []field
	Details          []span
	Run              *run
}

const (
	maxResults = 2000 // results shown of an evaluation
	maxTraces  = 100  // results whose steps are shown
	bins       = 10
	binHeight  = 90
)

// WriteEvaluation writes the report of an evaluation to w: the score with its interval, a histogram of the scores, and
// the results, the worst first. The steps of the worst 100 results are shown if the evaluation kept their trajectories.
// Nil options are the defaults. Errors are those of w.
func WriteEvaluation(w io.Writer, r *evaluate.Report, o *Options) error {
	b := newBuilder(o)
	p := page{Title: "Evaluation", Evaluation: b.evaluation(r)}
	p.Facts = []fact{{"Runs", fmt.Sprint(len(r.Results))}}
	if r.NoAnswers > 0 {
		p.Pills = append(p.Pills, mark{"warn", fmt.Sprintf("%d without an answer", r.NoAnswers)})
	}
	if r.Errors > 0 {
		p.Pills = append(p.Pills, mark{"bad", display.Plural(r.Errors, "error") + ", left out of the score"})
	}
	p.Facts = append(p.Facts, latency(r.Results)...)
	p.Facts = append(p.Facts, b.totals(r.Usage)...)
	p.Usage = append(b.usage("Usage by the module", r.Usage), b.usage("Usage by the metric", r.MetricUsage)...)
	return b.write(w, p)
}

// latency returns how long the runs took.
func latency(results []evaluate.Result) []fact {
	if len(results) == 0 {
		return nil
	}
	var times []time.Duration
	for i := range results {
		times = append(times, results[i].Duration)
	}
	slices.Sort(times)
	rank := func(percent int) string { return duration(times[(len(times)*percent+99)/100-1]) }
	return []fact{{"Median latency", rank(50)}, {"90th percentile", rank(90)}}
}

func (b *builder) evaluation(r *evaluate.Report) *evaluation {
	low, high := scale(r.Results)
	e := &evaluation{Score: scoreOf("", r.Score, low, high)}
	names := slices.Sorted(maps.Keys(r.Parts))
	for _, name := range names[:min(len(names), maxFields)] {
		part := r.Parts[name]
		e.Parts = append(e.Parts, scoreOf(b.line(name, 60), part, min(low, part.Low), max(high, part.High)))
	}
	e.Histogram = histogram(r.Results, low, high)
	worst := make([]*evaluate.Result, len(r.Results))
	for i := range r.Results {
		worst[i] = &r.Results[i]
	}
	slices.SortStableFunc(worst, func(a, b *evaluate.Result) int {
		return cmp.Or(cmp.Compare(severity(a), severity(b)), cmp.Compare(a.Score.Value, b.Score.Value))
	})
	for i, one := range worst[:min(len(worst), maxResults)] {
		e.Results = append(e.Results, b.result(one, low, high, i < maxTraces))
	}
	e.More = len(worst) - len(e.Results)
	return e
}

// severity sorts errors before runs without an answer, and these before all others.
func severity(r *evaluate.Result) int {
	switch {
	case r.NoAnswer:
		return 1
	case r.Err != "":
		return 0
	}
	return 2
}

// scale returns the ends of the scale: 0 and 1, unless a score is outside of this range.
func scale(results []evaluate.Result) (low, high float64) {
	high = 1
	for i := range results {
		if v := results[i].Score.Value; severity(&results[i]) > 0 && !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// place returns a value's place on a scale as a percentage.
func place(v, low, high float64) float64 {
	return min(max(100*(v/(high-low)-low/(high-low)), 0), 100)
}

func scoreOf(name string, i evaluate.Interval, low, high float64) score {
	s := score{Name: name, Text: fmt.Sprintf("%.3f", i.Mean), Low: fmt.Sprintf("%.4g", low), High: fmt.Sprintf("%.4g", high)}
	if i.N == 0 {
		s.Text = "no score"
	} else if i.N > 1 {
		s.Interval = fmt.Sprintf("95%% interval %.3f to %.3f, n = %d", i.Low, i.High, i.N)
	}
	from, to := place(i.Low, low, high), place(i.High, low, high)
	s.X, s.From, s.Width = percent(place(i.Mean, low, high)), percent(from), percent(to-from)
	return s
}

func percent(p float64) string { return fmt.Sprintf("%.2f%%", p) }

// histogram counts the scores. Results without a score because of an error are left out.
func histogram(results []evaluate.Result, low, high float64) []bin {
	list, most := make([]bin, bins), 1
	for i := range results {
		if severity(&results[i]) == 0 {
			continue
		}
		at := min(int(place(results[i].Score.Value, low, high)/100*bins+1e-9), bins-1)
		list[at].Count++
		most = max(most, list[at].Count)
	}
	for i := range list {
		one := &list[i]
		one.X, one.W = percent(100.0/bins*float64(i)), percent(100.0/bins-1)
		one.H = one.Count * binHeight / most
		if one.Count > 0 {
			one.H = max(one.H, 2)
		}
		one.Y = 14 + binHeight - one.H
		one.Label = fmt.Sprintf("%.4g", low+(high-low)*float64(i)/bins)
	}
	return list
}

func (b *builder) result(r *evaluate.Result, low, high float64, traced bool) result {
	one := result{ID: b.line(r.ID, 60), Score: fmt.Sprintf("%.3g", r.Score.Value), Duration: r.Duration}
	if r.Sample > 0 {
		one.ID += fmt.Sprintf(" · sample %d", r.Sample)
	}
	one.Width = percent(place(r.Score.Value, low, high))
	switch severity(r) {
	case 0:
		one.Marks, one.Score, one.Width = []mark{{"bad", "error"}}, "", ""
	case 1:
		one.Marks = []mark{{"warn", "no answer"}}
	}
	details := r.Score.Feedback
	if r.Err != "" {
		details = r.Err
	}
	one.Feedback, one.Details = b.line(details, 200), b.value(details, maxValue).Text
	one.Inputs, one.Want, one.Got = b.fields(r.Inputs), b.fields(r.Want), b.fields(r.Got)
	if r.Trajectory != nil && traced {
		one.Run = b.run(*r.Trajectory, nil)
	}
	return one
}
