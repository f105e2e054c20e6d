package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/optimize"
)

// optimization is what the template shows of an optimization.
type optimization struct {
	Warnings    []string
	Start, Best *optimize.Candidate
	Scale       scale
	Tree        []*candidate
	Chart       []*candidate // empty if the candidates do not say what the search had used
	Most        int          // the calls that the search had made at the last point
	More        int          // candidates that are not shown
}

// candidate is a node of the tree of candidates.
type candidate struct {
	*optimize.Candidate
	Change       string
	Calls        int
	Marks        []mark
	Instructions map[string]string // those that differ from the parent's
	Children     []*candidate
	// The place in the chart. A line leads to it from the best candidate before, and up if this candidate is better.
	X, FromX     string
	Y, FromY     int
	Best, Better bool
}

// WriteOptimization writes the report of an optimization to w: the tree of candidates with their scores and
// instructions, and the best score against the budget. Nil options are the defaults. Errors are those of w.
func WriteOptimization[M any](w io.Writer, r *optimize.Result[M], o *Options) error {
	r = cmp.Or(r, &optimize.Result[M]{})
	p := page{Title: "Optimization", Facts: []fact{{"Candidates", fmt.Sprint(len(r.Candidates))},
		{"Duration", duration(r.Spent.Time)}, {"Spent", r.Spent.String()}}}
	p.Optimization = optimizationOf(r, slices.Sorted(maps.Keys(maps.Collect(module.Predictors(r.Module)))))
	return newBuilder(o).write(w, p)
}

// optimizationOf returns what the template shows. The paths are those of the predictors.
func optimizationOf[M any](r *optimize.Result[M], paths []string) *optimization {
	const maxCandidates = 1000
	all, more := first(r.Candidates, maxCandidates)
	o := &optimization{Warnings: r.Warnings, Scale: scale{0, 1}, Best: r.Best, More: more}
	nodes := make([]*candidate, len(all))
	for i := range all {
		n := &candidate{Candidate: &all[i], Instructions: map[string]string{}, Calls: callsOf(all[i].Spent)}
		nodes[i], o.Most = n, max(o.Most, n.Calls)
		if !math.IsNaN(n.Score) {
			o.Scale = scale{min(o.Scale.Low, n.Score), max(o.Scale.High, n.Score)}
		}
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
		if n.Best = r.Best != nil && n.ID == r.Best.ID; n.Best {
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
		o.Start = &all[0]
		o.place(nodes)
	}
	return o
}

func callsOf(s optimize.Spent) int {
	return s.StudentCalls + s.TeacherCalls + s.ReflectionCalls + s.MetricCalls
}

// place places the candidates in the chart, which is 180 pixels high.
func (o *optimization) place(nodes []*candidate) {
	lead := nodes[0]
	for i, n := range nodes {
		n.X, n.Y = percent(1+98*float64(n.Calls)/float64(o.Most)), 172-int(164*o.Scale.place(n.Score))
		n.FromX, n.FromY, n.Better = lead.X, lead.Y, i == 0 || n.Score > lead.Score
		if n.Better {
			lead = n
		}
	}
	o.Chart = nodes
}
