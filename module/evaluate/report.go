package evaluate

import (
	"encoding/json"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
)

// Report is the result of an evaluation. It can be saved as JSON and read again, for example to [Compare] it later.
type Report struct {
	// Score is the mean of the scores. Runs without an answer count with Options.NoAnswer. Results without a score
	// because of an error are left out.
	Score Interval `json:"score"`

	// Parts are the means of Score.Parts, by name.
	Parts map[string]Interval `json:"parts,omitempty"`

	// Results are in the order of the examples, and then of the samples.
	Results []Result `json:"results"`

	// NoAnswers is the number of runs without an answer, and Errors that of results without a score. See [Evaluate].
	NoAnswers int `json:"no_answers,omitempty"`
	Errors    int `json:"errors"`

	// Usage is the usage by the module, and MetricUsage the usage by the metric, such as a [Judge], for each model.
	Usage       event.ModelUsage `json:"usage,omitempty"`
	MetricUsage event.ModelUsage `json:"metric_usage,omitempty"`
}

// Result is the result of one run.
type Result struct {
	ID     string  `json:"id"`               // the ID of the example
	Sample int     `json:"sample,omitempty"` // the number of the sample, from 0
	Group  string  `json:"group,omitempty"`
	Weight float64 `json:"weight"`

	Inputs json.RawMessage `json:"inputs"`
	Want   json.RawMessage `json:"want"`
	Got    json.RawMessage `json:"got,omitempty"` // nil if the module gave no answer

	// Score is the score by the metric. If NoAnswer is set, its value is Options.NoAnswer. After an error, it is zero.
	Score module.Score `json:"score"`

	// Err is the reason if the module gave no answer, or if there is no score because of an error. NoAnswer
	// distinguishes the two: see [Evaluate].
	Err      string `json:"error,omitempty"`
	NoAnswer bool   `json:"no_answer,omitempty"`

	Duration    time.Duration    `json:"duration_ns"` // the time that the module took
	Usage       event.ModelUsage `json:"usage,omitempty"`
	MetricUsage event.ModelUsage `json:"metric_usage,omitempty"`

	// Trajectory is the record of what the module did, or nil with Options.DropTrajectories.
	Trajectory *module.Trajectory `json:"trajectory,omitempty"`
}

// failed reports whether the result has no score because of an error.
func (r *Result) failed() bool { return r.Err != "" && !r.NoAnswer }

// newReport summarizes results.
func newReport(results []Result) *Report {
	r := &Report{Results: results}
	scores, parts, names := []observation{}, map[string][]observation{}, partNames(results)
	for i := range results {
		one := &results[i]
		r.Usage.Merge(one.Usage)
		r.MetricUsage.Merge(one.MetricUsage)
		if one.failed() {
			r.Errors++
			continue
		}
		if one.NoAnswer {
			r.NoAnswers++
		}
		cluster := clusterOf(one.Group, one.ID)
		scores = append(scores, observation{cluster, one.Score.Value, one.Weight})
		for name, value := range one.parts(names) {
			parts[name] = append(parts[name], observation{cluster, value, one.Weight})
		}
	}
	r.Score, r.Parts = scoreInterval(scores), intervals(parts, scoreInterval)
	return r
}

// partNames returns the names of the parts of all scores. The values are 0.
func partNames(results ...[]Result) map[string]float64 {
	names := map[string]float64{}
	for _, list := range results {
		for i := range list {
			for name := range list[i].Score.Parts {
				names[name] = 0
			}
		}
	}
	return names
}

// parts returns the parts of the score. Names are those of the parts that a run without an answer has.
func (r *Result) parts(names map[string]float64) map[string]float64 {
	if r.NoAnswer {
		return names
	}
	return r.Score.Parts
}
