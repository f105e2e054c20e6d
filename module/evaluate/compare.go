package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/display"
)

// Comparison describes how the scores of two evaluations of the same examples differ.
type Comparison struct {
	// A and B are the scores on the examples that have a score in both reports.
	A Interval `json:"a"`
	B Interval `json:"b"`

	// Difference is the mean over the examples of the score in B minus the score in A. If its interval does not contain
	// 0, the difference is unlikely to be due to chance. The interval is narrower than those of A and B suggest,
	// because both evaluations have the same examples.
	Difference Interval `json:"difference"`

	// Parts are the differences of Score.Parts, by name.
	Parts map[string]Interval `json:"parts,omitempty"`

	// Changed are the IDs of the examples whose scores differ, the greatest losses first.
	Changed []string `json:"changed,omitempty"`

	// Unpaired are the IDs of the examples that have no score in A or B because of errors. The comparison leaves them
	// out.
	Unpaired []string `json:"unpaired,omitempty"`

	compared int           // the number of examples with a score in both
	changes  [][2]*outcome // the outcomes in A and B of the examples in Changed
}

// Compare compares two reports on the same examples. It returns an error if their examples differ, if a weight is not
// valid, or if no example has a score in both. Runs without an answer count as in [Evaluate].
//
// The interval of a difference comes from the differences between the scores of each example, or of each group. It is
// computed in the same way as an [Interval] of scores, but its bounds are plus and minus the largest difference: other
// examples may get as much better or worse as these. If four of 400 examples are better and none is worse, the interval
// contains 0: among comparisons of equal modules with four changes, all changes have the same sign in one of eight.
func Compare(a, b *Report) (*Comparison, error) {
	if a == nil || b == nil {
		return nil, errors.New("evaluate: a report is nil")
	}
	names := partNames(a.Results, b.Results)
	ofA, err := outcomes(a, names)
	if err != nil {
		return nil, err
	}
	ofB, err := outcomes(b, names)
	if err != nil {
		return nil, err
	}
	if err := sameExamples(ofA, ofB); err != nil {
		return nil, err
	}
	c := &Comparison{}
	scores, parts := pairs{}, map[string]pairs{}
	for _, x := range ofA.list {
		y := ofB.byID[x.first.ID]
		if x.weight == 0 || y.weight == 0 {
			c.Unpaired = append(c.Unpaired, x.first.ID)
			continue
		}
		cluster := clusterOf(x.first.Group, x.first.ID)
		scores = scores.with(cluster, x.mean(), y.mean(), x.first.Weight)
		for name, part := range x.parts {
			if other, found := y.parts[name]; found {
				parts[name] = parts[name].with(cluster, part.mean(), other.mean(), x.first.Weight)
			}
		}
		if x.mean() != y.mean() {
			c.changes = append(c.changes, [2]*outcome{x, y})
		}
	}
	if c.compared = len(scores.a); c.compared == 0 {
		return nil, errors.New("evaluate: no example has a score in both reports")
	}
	c.A, c.B, c.Difference = scoreInterval(scores.a), scoreInterval(scores.b), scores.difference()
	c.Parts = intervals(parts, pairs.difference)
	gain := func(pair [2]*outcome) float64 { return pair[1].mean() - pair[0].mean() }
	slices.SortStableFunc(c.changes, func(x, y [2]*outcome) int { return cmp.Compare(gain(x), gain(y)) })
	for _, pair := range c.changes {
		c.Changed = append(c.Changed, pair[0].first.ID)
	}
	return c, nil
}

// outcome holds the scores of an example in one report.
type outcome struct {
	first *Result // the first sample with a score, or the first sample if none has a score
	sums          // of the scores of the samples, each with the weight 1
	parts map[string]sums
}

type outcomeList struct {
	list []*outcome
	byID map[string]*outcome
}

func outcomes(r *Report, names map[string]float64) (outcomeList, error) {
	all := outcomeList{byID: map[string]*outcome{}}
	for i := range r.Results {
		one := &r.Results[i]
		o := all.byID[one.ID]
		if o == nil {
			o = &outcome{first: one, parts: map[string]sums{}}
			all.list, all.byID[one.ID] = append(all.list, o), o
		}
		if !canonical.Equal(o.first.Inputs, one.Inputs) {
			return all, fmt.Errorf("evaluate: a report has different examples with the ID %q", one.ID)
		}
		if !validWeight(one.Weight) {
			return all, fmt.Errorf("evaluate: a report has the weight %v for example %q; weights must be from 1e-9 to "+
				"1e9", one.Weight, one.ID)
		}
		if one.failed() {
			continue
		}
		if o.sums = o.plus(one.Score.Value, 1); o.weight == 1 {
			o.first = one
		}
		for name, value := range one.parts(names) {
			o.parts[name] = o.parts[name].plus(value, 1)
		}
	}
	return all, nil
}

func sameExamples(a, b outcomeList) error {
	for _, o := range slices.Concat(a.list, b.list) {
		id := o.first.ID
		ofA, ofB := a.byID[id], b.byID[id]
		if ofA == nil || ofB == nil {
			return fmt.Errorf("evaluate: only one of the reports has example %q; compare evaluations of the same "+
				"examples", id)
		}
		x, y := ofA.first, ofB.first
		if !canonical.Equal(x.Inputs, y.Inputs) || !canonical.Equal(x.Want, y.Want) ||
			x.Weight != y.Weight || x.Group != y.Group {
			return fmt.Errorf("evaluate: example %q differs between the reports; compare evaluations of the same "+
				"examples", id)
		}
	}
	return nil
}

// pairs has the values of the same examples in two reports, and their differences.
type pairs struct{ a, b, differences []observation }

func (p pairs) with(cluster string, a, b, weight float64) pairs {
	return pairs{
		append(p.a, observation{cluster, a, weight}), append(p.b, observation{cluster, b, weight}),
		append(p.differences, observation{cluster, b - a, weight}),
	}
}

// difference returns the mean difference with its interval. The largest difference is the bound for other examples. If
// there are no differences, the bound is 1, or the largest score if it is greater.
func (p pairs) difference() Interval {
	bound := largest(p.differences)
	if bound == 0 {
		bound = max(1, largest(p.a))
	}
	return intervalOf(p.differences, -bound, bound)
}

// largest returns the largest absolute value of the observations.
func largest(all []observation) (value float64) {
	for _, o := range all {
		value = max(value, math.Abs(o.value))
	}
	return value
}

// String returns the comparison as a table of the scores, and a table of the examples that changed.
func (c *Comparison) String() string {
	text := aligned(c.rows())
	if len(c.changes) > 0 {
		text += "\n\n" + aligned(c.changedRows())
	}
	return text
}

func (c *Comparison) rows() [][]string {
	rows := [][]string{{"A", c.A.String()}, {"B", c.B.String()}, {"B - A", c.Difference.signed()}}
	if len(c.changes) > 0 {
		rows = append(rows, []string{"", c.verdict()})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Parts)) {
		rows = append(rows, []string{"  " + name, c.Parts[name].signed()})
	}
	if len(c.Unpaired) > 0 {
		rows = append(rows, []string{"left out", fmt.Sprintf("%s with errors: %s",
			display.Plural(len(c.Unpaired), "example"), strings.Join(c.Unpaired, ", "))})
	}
	return rows
}

// verdict says how many examples changed, and whether the difference may be chance.
func (c *Comparison) verdict() string {
	better, d := 0, c.Difference
	for _, pair := range c.changes {
		if pair[1].mean() > pair[0].mean() {
			better++
		}
	}
	text := fmt.Sprintf("%d better, %d worse, %d equal", better, len(c.changes)-better, c.compared-len(c.changes))
	if d.N < 2 || d.Low <= 0 && d.High >= 0 {
		text += "; the difference may be chance"
	}
	return text
}

// changedRows returns a header and a row for each example that changed. The scores are means over the samples, and the
// answers come from the first sample with a score.
func (c *Comparison) changedRows() [][]string {
	rows := [][]string{{"changed", "A", "B", "expected", "answer of A", "answer of B"}}
	for _, pair := range c.changes {
		a, b := pair[0], pair[1]
		rows = append(rows, []string{
			a.first.ID, fmt.Sprintf("%.3f", a.mean()), fmt.Sprintf("%.3f", b.mean()),
			shown(a.first.Want), shown(a.first.Got), shown(b.first.Got),
		})
	}
	return rows
}

// signed formats the interval of a difference, with signs.
func (i Interval) signed() string { return i.format("%+.3f") }
