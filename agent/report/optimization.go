package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/optimize"
)

// optimization is what the template shows of an optimization.
type optimization struct {
	Start, Best string
	BestID      int
	Warnings    [][]span
	Tree        []*candidate
	Candidates  int
	More        int // candidates that are not shown
	Chart       *chart
}

// candidate is a node of the tree of candidates.
type candidate struct {
	ID                       int
	By, Score, Change, Width string
	Class                    string
	Marks                    []mark
	Spent                    string
	Instructions             []field
	Children                 []*candidate
}

// chart shows scores against the calls of models. Positions are percentages in X, and pixels in Y.
type chart struct {
	Points    []point
	Steps     []segment // the best score so far
	Low, High string
	Most      string
	Height    int
}

type point struct {
	X, Title, Class string
	Y               int
}

type segment struct {
	X1, X2 string
	Y1, Y2 int
}

const (
	maxCandidates = 1000
	chartHeight   = 180
)

// WriteOptimization writes the report of an optimization to w: the tree of candidates with their scores and instructions,
// and the best score against the budget. Nil options are the defaults. Errors are those of w.
func WriteOptimization[M any](w io.Writer, r *optimize.Result[M], o *Options) error {
	var paths []string
	for path := range module.Predictors(r.Module) {
		paths = append(paths, path)
	}
	return writeOptimization(w, r.Candidates, r.Best, r.Spent, r.Warnings, paths, o)
}

func writeOptimization(
	w io.Writer, all []optimize.Candidate, best *optimize.Candidate, spent optimize.Spent, warnings, paths []string,
	o *Options,
) error {
	b := newBuilder(o)
	p := page{Title: "Optimization", Optimization: b.optimization(all, best, warnings, paths)}
	if len(warnings) > 0 {
		p.Pills = append(p.Pills, mark{"warn", display.Plural(len(warnings), "warning")})
	}
	p.Facts = []fact{{"Candidates", count(len(all))}, {"Duration", duration(spent.Time)}}
	for _, f := range []struct {
		name string
		n    int
	}{
		{"Student calls", spent.StudentCalls}, {"Teacher calls", spent.TeacherCalls},
		{"Reflection calls", spent.ReflectionCalls}, {"Metric calls", spent.MetricCalls},
	} {
		if f.n > 0 {
			p.Facts = append(p.Facts, fact{f.name, count(f.n)})
		}
	}
	p.Facts = append(p.Facts, fact{"Tokens", count(spent.InputTokens) + " in, " + count(spent.OutputTokens) + " out"})
	if spent.Cost > 0 {
		p.Facts = append(p.Facts, fact{"Cost", b.money(spent.Cost)})
	}
	return b.write(w, p)
}

func (b *builder) optimization(
	all []optimize.Candidate, best *optimize.Candidate, warnings, paths []string,
) *optimization {
	o := &optimization{Candidates: len(all), More: max(0, len(all)-maxCandidates)}
	for _, text := range warnings[:min(len(warnings), maxFindings)] {
		o.Warnings = append(o.Warnings, b.value(text, maxValue).Text)
	}
	if len(all) == 0 || best == nil {
		return o
	}
	all = all[:min(len(all), maxCandidates)]
	o.Start, o.Best, o.BestID = fmt.Sprintf("%.3f", all[0].Score), fmt.Sprintf("%.3f", best.Score), best.ID
	low, high := bounded(all)
	nodes := make([]*candidate, len(all))
	for i := range all {
		c := &all[i]
		n := &candidate{ID: c.ID, By: b.line(c.By, 100), Score: fmt.Sprintf("%.3f", c.Score), Spent: spentOn(c.Spent),
			Width: percent(place(c.Score, low, high))}
		nodes[i] = n
		var parent *optimize.Candidate
		if len(c.Parents) > 0 && c.Parents[0] >= 0 && c.Parents[0] < i {
			parent = &all[c.Parents[0]]
			nodes[c.Parents[0]].Children = append(nodes[c.Parents[0]].Children, n)
			n.compare(c.Score - parent.Score)
			for _, other := range c.Parents[1:] {
				n.Marks = append(n.Marks, mark{"note", fmt.Sprintf("merged with #%d", other)})
			}
		} else {
			o.Tree = append(o.Tree, n)
		}
		if c.ID == best.ID {
			n.Marks = append(n.Marks, mark{"good", "best"})
		}
		if c.Failed > 0 {
			n.Marks = append(n.Marks, mark{"bad", fmt.Sprintf("failed on %d", c.Failed)})
		}
		n.Instructions = b.instructions(c, parent, paths)
	}
	o.Chart = chartOf(all, best.ID, low, high)
	return o
}

func spentOn(s optimize.Spent) string {
	if n := callsOf(s); n > 0 {
		return "after " + count(n) + " calls"
	}
	return ""
}

func callsOf(s optimize.Spent) int {
	return s.StudentCalls + s.TeacherCalls + s.ReflectionCalls + s.MetricCalls
}

func (n *candidate) compare(change float64) {
	n.Change, n.Class = fmt.Sprintf("%+.3f", change), "dim"
	switch {
	case change < 0:
		n.Class = "worse"
	case change > 0:
		n.Class = "better"
	}
}

// instructions returns the instructions that differ from those of the parent.
func (b *builder) instructions(c, parent *optimize.Candidate, paths []string) (list []field) {
	for _, path := range paths[:min(len(paths), maxFields)] {
		text := c.Instructions(path)
		if text != "" && (parent == nil || parent.Instructions(path) != text) {
			list = append(list, field{Name: b.line(path, 100), Value: b.value(text, maxValue), Prose: true})
		}
	}
	return list
}

// bounded returns the ends of the scale of the scores: 0, and at least 1.
func bounded(all []optimize.Candidate) (low, high float64) {
	worst := slices.MinFunc(all, byScore).Score
	return min(0, worst), max(1, slices.MaxFunc(all, byScore).Score)
}

func byScore(a, b optimize.Candidate) int {
	switch {
	case a.Score < b.Score:
		return -1
	case a.Score > b.Score:
		return 1
	}
	return 0
}

// chartOf returns the chart, or nil if the candidates do not say what the search had used.
func chartOf(all []optimize.Candidate, best int, low, high float64) *chart {
	most := callsOf(all[len(all)-1].Spent)
	if most == 0 {
		return nil
	}
	c := &chart{Low: fmt.Sprintf("%.4g", low), High: fmt.Sprintf("%.4g", high), Most: count(most) + " calls",
		Height: chartHeight}
	y := func(score float64) int { return 8 + int((100-place(score, low, high))/100*(chartHeight-16)) }
	x := func(i int) string { return percent(1 + 98*float64(callsOf(all[i].Spent))/float64(most)) }
	lead := 0
	for i := range all {
		p := point{X: x(i), Y: y(all[i].Score), Class: "call",
			Title: fmt.Sprintf("#%d: %.3f after %s calls", all[i].ID, all[i].Score, count(callsOf(all[i].Spent)))}
		if all[i].ID == best {
			p.Class = "best"
		}
		c.Points = append(c.Points, p)
		if i > 0 && (all[i].Score > all[lead].Score || i == len(all)-1) {
			c.Steps = append(c.Steps, segment{x(lead), x(i), y(all[lead].Score), y(all[lead].Score)})
			if all[i].Score > all[lead].Score {
				c.Steps = append(c.Steps, segment{x(i), x(i), y(all[lead].Score), y(all[i].Score)})
				lead = i
			}
		}
	}
	return c
}
