package evaluate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/event"
)

// String returns a summary: the score and its parts with 95% intervals, problems, latency and usage.
func (r *Report) String() string {
	if r == nil {
		return "<nil>"
	}
	return aligned(r.rows())
}

func (r *Report) rows() [][]string {
	rows := [][]string{{"score", r.Score.String() + r.observed()}}
	for _, name := range slices.Sorted(maps.Keys(r.Parts)) {
		rows = append(rows, []string{"  " + name, r.Parts[name].String()})
	}
	rows = append(rows, []string{"runs", fmt.Sprint(len(r.Results))})
	for _, problem := range []struct {
		name, effect string
		n            int
		is           func(Result) bool
	}{
		{"no answer", "counted in the score", r.NoAnswers, func(one Result) bool { return one.NoAnswer }},
		{"errors", "left out of the score", r.Errors, func(one Result) bool { return one.failed() }},
	} {
		if i := slices.IndexFunc(r.Results, problem.is); i >= 0 {
			rows = append(rows, []string{problem.name, fmt.Sprintf("%d, %s; the first, of example %q: %s",
				problem.n, problem.effect, r.Results[i].ID, display.OneLine(r.Results[i].Err))})
		}
	}
	rows = append(rows, []string{"latency", r.latency()})
	rows = append(rows, usageRows("model", r.Usage)...)
	rows = append(rows, usageRows("metric", r.MetricUsage)...)
	return rows
}

func usageRows(name string, usage event.ModelUsage) (rows [][]string) {
	for _, model := range slices.Sorted(maps.Keys(usage)) {
		text := usage[model].String()
		if model != "" {
			text = model + ": " + text
		}
		rows = append(rows, []string{name, text})
	}
	return rows
}

// observed returns the number of examples or groups in the score, as the end of a line.
func (r *Report) observed() string {
	switch n := r.Score.N; {
	case n == 0:
		return ""
	case slices.ContainsFunc(r.Results, func(one Result) bool { return one.Group != "" }):
		return " over " + display.Plural(n, "group")
	default:
		return " over " + display.Plural(n, "example")
	}
}

// latency returns percentiles of the duration of the runs, including runs with an error.
func (r *Report) latency() string {
	if len(r.Results) == 0 {
		return "none"
	}
	var times []time.Duration
	for _, one := range r.Results {
		times = append(times, one.Duration)
	}
	slices.Sort(times)
	nearestRank := func(percent int) time.Duration { return short(times[(len(times)*percent+99)/100-1]) }
	return fmt.Sprintf("p50 %v, p90 %v, p99 %v, max %v",
		nearestRank(50), nearestRank(90), nearestRank(99), nearestRank(100))
}

// short rounds a duration to about three digits.
func short(d time.Duration) time.Duration {
	for unit := time.Second; unit >= time.Microsecond; unit /= 1000 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}

// aligned returns a table as lines with aligned columns.
func aligned(rows [][]string) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, display.Text(strings.Join(row, "\t")))
	}
	t.Flush() //nolint:errcheck // a strings.Builder returns no errors
	return strings.TrimSuffix(b.String(), "\n")
}

// shown shortens a JSON value to at most 60 characters.
func shown(raw json.RawMessage) string {
	const limit = 60
	text := []rune(clip(raw))
	if len(text) <= limit {
		return string(text)
	}
	return string(text[:limit-1]) + "…"
}
