package evaluate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/evaluate"
)

// reportOn returns the report of an evaluation of n examples.
func reportOn(t *testing.T, n int, right func(i int) bool) *evaluate.Report {
	t.Helper()
	examples, m := numbers(n, right)
	r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCompare(t *testing.T) {
	t.Parallel()
	a := reportOn(t, 40, func(i int) bool { return i < 24 })
	b := reportOn(t, 40, func(i int) bool { return i > 0 && i < 35 })
	c, err := evaluate.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if c.Difference.Mean != 0.25 || c.Difference.Low < 0.04 || c.Difference.High > 0.45 || c.Difference.N != 40 {
		t.Errorf("difference %v", c.Difference)
	}
	if len(c.Changed) != 12 || c.Changed[0] != "1" || c.Changed[1] != "25" {
		t.Errorf("changed %+v", c.Changed)
	}
	if again, _ := evaluate.Compare(a, b); again.Difference != c.Difference {
		t.Errorf("got %v and %v", c.Difference, again.Difference)
	}
	if raw, err := json.Marshal(c); err != nil || !json.Valid(raw) {
		t.Errorf("got %s, %v", raw, err)
	}
}

// A few changes in the same direction may be chance, whatever the scale of the scores.
func TestCompareFewChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		better, worse int
		chance        bool
	}{{0, 0, true}, {4, 0, true}, {0, 4, true}, {5, 0, true}, {8, 0, false}, {0, 8, false}, {12, 4, true}, {30, 10, false}} {
		for _, scale := range []float64{1, 100} {
			a := reportOn(t, 400, func(i int) bool { return i >= test.better })
			b := reportOn(t, 400, func(i int) bool { return i < 400-test.worse })
			for i := range a.Results {
				a.Results[i].Score.Value *= scale
				b.Results[i].Score.Value *= scale
			}
			c, err := evaluate.Compare(a, b)
			if err != nil {
				t.Fatal(err)
			}
			if d := c.Difference; test.chance != (d.Low <= 0 && d.High >= 0) || d.N != 400 {
				t.Errorf("%+v, scale %v: %v", test, scale, d)
			}
			text := fmt.Sprintf("%d better, %d worse, %d equal", test.better, test.worse, 400-test.better-test.worse)
			if test.chance {
				text += "; the difference may be chance"
			}
			if len(c.Changed) > 0 && !strings.Contains(c.String(), text+"\n") {
				t.Errorf("no %q in\n%s", text, c)
			}
		}
	}
}

func TestComparisonText(t *testing.T) {
	t.Parallel()
	a, b := reportOn(t, 3, func(i int) bool { return i < 1 }), reportOn(t, 3, func(i int) bool { return i < 2 })
	b.Results[2].Err = "no answer"
	c, err := evaluate.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := `A         0.500 [0.002, 0.998]
B         1.000 [0.012, 1.000]
B - A     +0.500 [-0.992, +0.998]
          1 better, 0 worse, 1 equal; the difference may be chance
left out  1 example with errors: 3

changed  A      B      expected             answer of A          answer of B
2        0.000  1.000  {"capital":"right"}  {"capital":"wrong"}  {"capital":"right"}`
	if got := c.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// A part that only some samples have counts in those, as in the report.
func TestCompareParts(t *testing.T) {
	t.Parallel()
	report := func(samples int, part float64) *evaluate.Report {
		r := reportOn(t, 3, all)
		for i, first := range r.Results {
			if first.Score.Parts = nil; i < samples {
				first.Score.Parts = map[string]float64{"p": part}
			}
			first.ID, first.Inputs, first.Sample = "1", r.Results[0].Inputs, i
			r.Results[i] = first
		}
		return r
	}
	c, err := evaluate.Compare(report(1, 0.5), report(3, 0.75))
	if err != nil || c.Parts["p"].Mean != 0.25 {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestCompareMistakes(t *testing.T) {
	t.Parallel()
	a, b := reportOn(t, 2, all), reportOn(t, 3, all)
	_, err := evaluate.Compare(a, nil)
	contains(t, err, "a report is nil")
	for _, pair := range [][2]*evaluate.Report{{a, b}, {b, a}} {
		_, err = evaluate.Compare(pair[0], pair[1])
		contains(t, err, `only one of the reports has example "3"`)
	}
	other := reportOn(t, 2, all)
	other.Results[1].Want = json.RawMessage(`{}`)
	_, err = evaluate.Compare(a, other)
	contains(t, err, `example "2" differs between the reports`)
	for i := range a.Results {
		a.Results[i].Err = "no answer"
	}
	_, err = evaluate.Compare(a, reportOn(t, 2, all))
	contains(t, err, "no example has a score in both reports")
}
