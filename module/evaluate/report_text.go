package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature/schema"
)

// String returns a summary: the score and its parts with 95 % intervals, errors, latency, usage and cost.
func (r *Report) String() string {
	if r == nil {
		return "<nil>"
	}
	return aligned(r.rows())
}

// Markdown returns the summary as a table, and a table of the answers that are not right: at most 20, the worst first.
func (r *Report) Markdown() string {
	text := markdown([]string{"", ""}, r.rows())
	var wrong []*Result
	for i := range r.Results {
		if one := &r.Results[i]; one.Err != "" || one.Score.Value < 1 {
			wrong = append(wrong, one)
		}
	}
	slices.SortStableFunc(wrong, func(a, b *Result) int {
		return cmp.Or(cmp.Compare(truth(a.Err == ""), truth(b.Err == "")), cmp.Compare(a.Score.Value, b.Score.Value))
	})
	if len(wrong) == 0 {
		return text
	}
	var rows [][]string
	const most = 20
	for _, one := range wrong[:min(len(wrong), most)] {
		score, why := fmt.Sprintf("%.3f", one.Score.Value), one.Score.Feedback
		if one.Err != "" {
			score, why = "error", one.Err
		}
		rows = append(rows, []string{one.ID, score, clip(one.Want), clip(one.Got), why})
	}
	return text + "\n" + markdown([]string{"example", "score", "expected", "answer", "feedback"}, rows)
}

func (r *Report) rows() [][]string {
	rows := [][]string{{"score", r.Score.String() + r.observed()}}
	for _, name := range slices.Sorted(maps.Keys(r.Parts)) {
		rows = append(rows, []string{"  " + name, r.Parts[name].String()})
	}
	runs := fmt.Sprint(len(r.Results))
	if r.Errors > 0 {
		first := r.Results[slices.IndexFunc(r.Results, func(one Result) bool { return one.Err != "" })]
		runs += fmt.Sprintf(", including %s that the score leaves out; the first, of example %q: %s",
			plural(r.Errors, "error"), first.ID, schema.OneLine(first.Err))
	}
	l := r.Latency
	latency := fmt.Sprintf("p50 %v, p90 %v, p99 %v, max %v", short(l.P50), short(l.P90), short(l.P99), short(l.Max))
	rows = append(rows, []string{"runs", runs}, []string{"latency", latency})
	rows = append(rows, usageRows("model", r.Usage)...)
	rows = append(rows, usageRows("metric", r.MetricUsage)...)
	if r.Cost > 0 || r.MetricCost > 0 {
		text := fmt.Sprintf("%.4f", r.Cost)
		if r.MetricCost > 0 {
			text += fmt.Sprintf(", and %.4f for the metric", r.MetricCost)
		}
		rows = append(rows, []string{"cost", text})
	}
	if len(r.Unpriced) > 0 {
		rows = append(rows, []string{"no price", fmt.Sprintf("%q", r.Unpriced)})
	}
	return rows
}

func usageRows(name string, usage module.ModelUsage) (rows [][]string) {
	for _, model := range slices.Sorted(maps.Keys(usage)) {
		text := usage[model].String()
		if model != "" {
			text = model + ": " + text
		}
		rows = append(rows, []string{name, text})
	}
	return rows
}

// observed says how many examples or groups the score is the mean of.
func (r *Report) observed() string {
	switch n := r.Score.N; {
	case n == 0:
		return ""
	case slices.ContainsFunc(r.Results, func(one Result) bool { return one.Group != "" }):
		return " over " + plural(n, "group")
	default:
		return " over " + plural(n, "example")
	}
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

// markdown returns a table in Markdown.
func markdown(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteByte('|')
		for _, c := range cells {
			b.WriteString(" " + display.Text(cellEscapes.Replace(strings.TrimSpace(c))) + " |")
		}
		b.WriteByte('\n')
	}
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

// cellEscapes escapes what would end a cell of a Markdown table or be taken as HTML.
var cellEscapes = strings.NewReplacer("|", "\\|", "\r\n", " ", "\n", " ", "\r", " ", "<", "&lt;")

// shown returns a JSON value on one short line.
func shown(raw json.RawMessage) string {
	const limit = 60
	text := []rune(clip(raw))
	if len(text) <= limit {
		return string(text)
	}
	return string(text[:limit-1]) + "…"
}
