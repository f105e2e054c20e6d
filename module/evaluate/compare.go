package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
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

	changes [][2]*outcome // the outcomes in A and B of the examples in Changed
}

// Compare compares two reports on the same examples. It returns an error if their examples differ, or if no example
// has a score in both.
//
// The interval of a difference comes from a paired bootstrap: the examples, or their groups if there are any, are
// sampled with replacement up to 10,000 times, and the interval contains 95% of the means (Efron and Tibshirani, "An
// Introduction to the Bootstrap", 1993; Koehn, "Statistical Significance Tests for Machine Translation Evaluation",
// EMNLP 2004). Unlike the t-interval, it makes no assumption about the distribution of the differences. Most of these
// are usually 0. With fewer than about 20 examples, the interval is too narrow. The seed is fixed, so the same reports
// always give the same interval.
func Compare(a, b *Report) (*Comparison, error) {
	if a == nil || b == nil {
		return nil, errors.New("evaluate: a report is nil")
	}
	ofA, err := outcomes(a)
	if err != nil {
		return nil, err
	}
	ofB, err := outcomes(b)
	if err != nil {
		return nil, err
	}
	if err := sameExamples(ofA, ofB); err != nil {
		return nil, err
	}
	c := &Comparison{}
	var as, bs, differences []observation
	parts := map[string][]observation{}
	for _, x := range ofA.list {
		y := ofB.byID[x.first.ID]
		if x.n == 0 || y.n == 0 {
			c.Unpaired = append(c.Unpaired, x.first.ID)
			continue
		}
		cluster := clusterOf(x.first.Group, x.first.ID)
		at := func(value float64) observation { return observation{cluster, value, x.first.Weight} }
		as, bs = append(as, at(x.mean())), append(bs, at(y.mean()))
		differences = append(differences, at(y.mean()-x.mean()))
		for name, part := range x.parts {
			if other, found := y.parts[name]; found {
				parts[name] = append(parts[name], at(other.mean()-part.mean()))
			}
		}
		if x.mean() != y.mean() {
			c.changes = append(c.changes, [2]*outcome{x, y})
		}
	}
	if len(as) == 0 {
		return nil, errors.New("evaluate: no example has a score in both reports")
	}
	c.A, c.B, c.Difference = intervalOf(as), intervalOf(bs), bootstrap(differences)
	c.Parts = intervals(parts, bootstrap)
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
	total         // the scores of the samples
	parts map[string]total
}

// total is the sum of n values.
type total struct {
	n   int
	sum float64
}

func (t total) plus(value float64) total { return total{t.n + 1, t.sum + value} }

func (t total) mean() float64 { return t.sum / float64(t.n) }

type outcomeList struct {
	list []*outcome
	byID map[string]*outcome
}

func outcomes(r *Report) (outcomeList, error) {
	all := outcomeList{byID: map[string]*outcome{}}
	for i := range r.Results {
		one := &r.Results[i]
		o := all.byID[one.ID]
		if o == nil {
			o = &outcome{first: one, parts: map[string]total{}}
			all.list, all.byID[one.ID] = append(all.list, o), o
		}
		if !canonical.Equal(o.first.Inputs, one.Inputs) {
			return all, fmt.Errorf("evaluate: a report has different examples with the ID %q", one.ID)
		}
		if one.Err != "" {
			continue
		}
		if o.total = o.plus(one.Score.Value); o.n == 1 {
			o.first = one
		}
		for name, value := range one.Score.Parts {
			o.parts[name] = o.parts[name].plus(value)
		}
	}
	return all, nil
}

func sameExamples(a, b outcomeList) error {
	for _, pair := range [][2]outcomeList{{a, b}, {b, a}} {
		for _, x := range pair[0].list {
			y := pair[1].byID[x.first.ID]
			if y == nil {
				return fmt.Errorf("evaluate: only one of the reports has example %q; compare evaluations of the same "+
					"examples", x.first.ID)
			}
			a, b := x.first, y.first
			if !canonical.Equal(a.Inputs, b.Inputs) || !canonical.Equal(a.Want, b.Want) ||
				a.Weight != b.Weight || a.Group != b.Group {
				return fmt.Errorf("evaluate: example %q differs between the reports; compare evaluations of the same "+
					"examples", x.first.ID)
			}
		}
	}
	return nil
}

// bootstrap returns the mean of the observations with the interval that contains 95% of the means of resamples.
func bootstrap(all []observation) Interval {
	list := clustered(all)
	mean := meanOf(list)
	i := Interval{mean, mean, mean, len(list)}
	if len(list) < 2 {
		return i
	}
	const work = 20_000_000 // the maximum number of draws
	means := make([]float64, max(1000, min(10_000, work/len(list))))
	random := rand.New(rand.NewPCG(20241101, 95))
	sample := make([]cluster, len(list))
	for m := range means {
		for s := range sample {
			sample[s] = list[random.IntN(len(list))]
		}
		means[m] = meanOf(sample)
	}
	slices.Sort(means)
	at := func(share float64) float64 { return means[int(math.Round(share*float64(len(means)-1)))] }
	i.Low, i.High = at(0.025), at(0.975)
	return i
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
	for _, name := range slices.Sorted(maps.Keys(c.Parts)) {
		rows = append(rows, []string{"  " + name, c.Parts[name].signed()})
	}
	if len(c.Unpaired) > 0 {
		rows = append(rows, []string{"left out", fmt.Sprintf("%s with errors: %s",
			display.Plural(len(c.Unpaired), "example"), strings.Join(c.Unpaired, ", "))})
	}
	return rows
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
func (i Interval) signed() string {
	if i.N < 2 {
		return fmt.Sprintf("%+.3f", i.Mean)
	}
	return fmt.Sprintf("%+.3f [%+.3f, %+.3f]", i.Mean, i.Low, i.High)
}
