package evaluate

import (
	"encoding/json"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
)

// Report is the result of an evaluation. It can be saved as JSON and read again, for example to [Compare] it later.
type Report struct {
	// Score is the mean of the scores. Results with an error are left out.
	Score Interval `json:"score"`

	// Parts are the means of Score.Parts, by name.
	Parts map[string]Interval `json:"parts,omitempty"`

	// Results are in the order of the examples, and then of the samples.
	Results []Result `json:"results"`

	// Errors is the number of results with an error.
	Errors int `json:"errors"`

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

	// Score is the zero value if there is an error.
	Score module.Score `json:"score"`

	// Err is the reason if there is no score: the module gave no answer, or the metric failed. Otherwise, it is empty.
	Err string `json:"error,omitempty"`

	Duration    time.Duration    `json:"duration_ns"` // the time that the module took
	Usage       event.ModelUsage `json:"usage,omitempty"`
	MetricUsage event.ModelUsage `json:"metric_usage,omitempty"`

	// Trajectory is the record of what the module did, or nil with Options.DropTrajectories.
	Trajectory *module.Trajectory `json:"trajectory,omitempty"`
}

// newReport summarizes results.
func newReport(results []Result) *Report {
	r := &Report{Results: results}
	scores, parts := []observation{}, map[string][]observation{}
	for i := range results {
		one := &results[i]
		r.Usage.Merge(one.Usage)
		r.MetricUsage.Merge(one.MetricUsage)
		if one.Err != "" {
			r.Errors++
			continue
		}
		cluster := clusterOf(one.Group, one.ID)
		scores = append(scores, observation{cluster, one.Score.Value, one.Weight})
		for name, value := range one.Score.Parts {
			parts[name] = append(parts[name], observation{cluster, value, one.Weight})
		}
	}
	r.Score, r.Parts = scoreInterval(scores), intervals(parts)
	return r
}
