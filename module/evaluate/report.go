package evaluate

import (
	"encoding/json"
	"time"

	"github.com/writ-go/writ/module"
)

// Report is the result of an evaluation. As JSON it can be saved and read again, for example to [Compare] it later.
type Report struct {
	// Score is the mean of the scores. Results with an error are not part of it.
	Score Interval `json:"score"`

	// Parts are the means of Score.Parts, by name.
	Parts map[string]Interval `json:"parts,omitempty"`

	// Results are in the order of the examples, and then of the samples.
	Results []Result `json:"results"`

	// Errors is the number of results with an error.
	Errors int `json:"errors"`

	// Latency is how long the runs of the module took, including those with an error.
	Latency Percentiles `json:"latency"`

	// Usage is the usage of the module by model, and MetricUsage that of the metric, such as a [Judge].
	Usage       module.ModelUsage `json:"usage,omitempty"`
	MetricUsage module.ModelUsage `json:"metric_usage,omitempty"`

	// Cost is the cost of Usage, and MetricCost that of MetricUsage, according to Options.Prices. The usage of the
	// models in Unpriced, which have no price, is not included.
	Cost       float64  `json:"cost,omitempty"`
	MetricCost float64  `json:"metric_cost,omitempty"`
	Unpriced   []string `json:"unpriced,omitempty"`
}

// Result is the result of one run.
type Result struct {
	ID     string  `json:"id"`               // of the example
	Sample int     `json:"sample,omitempty"` // from 0
	Group  string  `json:"group,omitempty"`
	Weight float64 `json:"weight"`

	Inputs json.RawMessage `json:"inputs"`
	Want   json.RawMessage `json:"want"`
	Got    json.RawMessage `json:"got,omitempty"` // nil if the module has no answer

	// Score is the zero value if there is an error.
	Score module.Score `json:"score"`

	// Err says why there is no score: the module has no answer, or the metric failed. It is empty if there is one.
	Err string `json:"error,omitempty"`

	Duration    time.Duration     `json:"duration_ns"` // of the module's run
	Usage       module.ModelUsage `json:"usage,omitempty"`
	MetricUsage module.ModelUsage `json:"metric_usage,omitempty"`

	// Trajectory is what the module did. It is nil with Options.DropTrajectories.
	Trajectory *module.Trajectory `json:"trajectory,omitempty"`
}

// Percentiles describes how long runs took: P90 is the time within which 90 % of them ended.
type Percentiles struct {
	P50 time.Duration `json:"p50_ns"`
	P90 time.Duration `json:"p90_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
}
