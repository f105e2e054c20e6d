package report

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/optimize"
)

// optimization is what the template shows of an optimization.
type optimization struct {
	Warnings    []string
	Start, Best *optimize.Candidate
	Scale       scale
	Tree        []*candidate
	Chart       []point // empty if the candidates do not say what the search had used
	Most        int     // the calls that the search had made at the last point
	More        int     // candidates that are not shown
}

// candidate is a node of the tree of candidates.
type candidate struct {
	*optimize.Candidate
	Change       string
	Calls        int
	Marks        []mark
	Instructions map[string]string // those that differ from the parent's
	Children     []*candidate
}

// point is a candidate in the chart. A line leads from the best score so far to the point, unless it is not better.
type point struct {
	*candidate
	X, FromX     string
	Y, FromY     int
	Best, Better bool
}

// WriteOptimization writes the report of an optimization to w: the tree of candidates with their scores and instructions,
// and the best score against the budget. Nil options are the defaults. Errors are those of w.
func WriteOptimization[M any](w io.Writer, r *optimize.Result[M], o *Options) error {
	plain := optimize.Result[any]{Best: r.Best, Candidates: r.Candidates, Spent: r.Spent, Warnings: r.Warnings}
	return writeOptimization(w, plain, slices.Sorted(maps.Keys(maps.Collect(module.Predictors(r.Module)))), o)
}

// writeOptimization writes the report. The paths are those of the predictors.
func writeOptimization(w io.Writer, r optimize.Result[any], paths []string, o *Options) error {
	p := page{Title: "Optimization", Optimization: optimizationOf(r, paths)}
	if len(r.Warnings) > 0 {
		p.Pills = []mark{{"warn", display.Plural(len(r.Warnings), "warning")}}
	}
	p.Facts = []fact{{"Candidates", count(len(r.Candidates))}, {"Duration", duration(r.Spent.Time)},
		{"Spent", r.Spent.String()}}
	return newBuilder(o).write(w, p)
}

func optimizationOf(r optimize.Result[any], paths []string) *optimization {
	const maxCandidates = 1000
	all := r.Candidates[:min(len(r.Candidates), maxCandidates)]
	o := &optimization{Warnings: r.Warnings[:min(len(r.Warnings), maxFindings)], Scale: scale{0, 1}, Best: r.Best,
		More: len(r.Candidates) - len(all)}
	nodes := make([]*candidate, len(all))
	for i := range all {
		n := &candidate{Candidate: &all[i], Instructions: map[string]string{}, Calls: callsOf(all[i].Spent)}
		nodes[i], o.Most = n, max(o.Most, n.Calls)
		o.Scale = scale{min(o.Scale.Low, n.Score), max(o.Scale.High, n.Score)}
		var parent *candidate
		if len(n.Parents) > 0 && n.Parents[0] >= 0 && n.Parents[0] < i {
			parent = nodes[n.Parents[0]]
			parent.Children, n.Change = append(parent.Children, n), fmt.Sprintf("%+.3f", n.Score-parent.Score)
			for _, other := range n.Parents[1:] {
				n.Marks = append(n.Marks, mark{"note", fmt.Sprintf("merged with #%d", other)})
			}
		} else {
			o.Tree = append(o.Tree, n)
		}
		if r.Best != nil && n.ID == r.Best.ID {
			n.Marks = append(n.Marks, mark{"good", "best"})
		}
		if n.Failed > 0 {
			n.Marks = append(n.Marks, mark{"bad", fmt.Sprintf("failed on %d", n.Failed)})
		}
		for _, path := range paths {
			if text := n.Candidate.Instructions(path); parent == nil || parent.Candidate.Instructions(path) != text {
				n.Instructions[path] = text
			}
		}
	}
	if len(nodes) > 0 && o.Most > 0 {
		o.Start, o.Chart = &all[0], o.chart(nodes)
	}
	return o
}

func callsOf(s optimize.Spent) int {
	return s.StudentCalls + s.TeacherCalls + s.ReflectionCalls + s.MetricCalls
}

// chart returns the points of the chart, which is 180 pixels high.
func (o *optimization) chart(nodes []*candidate) (points []point) {
	var lead point
	for i, n := range nodes {
		p := point{candidate: n, X: percent(1 + 98*float64(n.Calls)/float64(o.Most)),
			Y: 172 - int(164*o.Scale.place(n.Score)), Best: o.Best != nil && n.ID == o.Best.ID}
		p.FromX, p.FromY, p.Better = lead.X, lead.Y, i == 0 || n.Score > lead.Score
		if i == 0 {
			p.FromX, p.FromY = p.X, p.Y
		}
		if p.Better {
			lead = p
		}
		points = append(points, p)
	}
	return points
}
