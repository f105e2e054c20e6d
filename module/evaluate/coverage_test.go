package evaluate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table into docs/measured/evaluate.md")

// distribution is a distribution of scores, or of differences between scores.
type distribution struct {
	name     string
	interval func([]observation) Interval
	mean     float64
	draw     func(*rand.Rand) float64
}

// either returns a function that returns a with the probability p, and otherwise b.
func either(p, a, b float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < p {
			return a
		}
		return b
	}
}

// beta82 returns a value of the distribution beta(8, 2): the second largest of nine uniform values.
func beta82(r *rand.Rand) float64 {
	var first, second float64
	for range 9 {
		if x := r.Float64(); x > first {
			first, second = x, first
		} else {
			second = max(second, x)
		}
	}
	return second
}

var distributions = []distribution{
	{"right or wrong, 50 % right", scoreInterval, 0.5, either(0.5, 1, 0)},
	{"right or wrong, 90 % right", scoreInterval, 0.9, either(0.9, 1, 0)},
	{"right or wrong, 97 % right", scoreInterval, 0.97, either(0.97, 1, 0)},
	{"5 % are 0, the others 0.9", scoreInterval, 0.855, either(0.05, 0, 0.9)},
	{"10 % are 0, the others 0.9", scoreInterval, 0.81, either(0.1, 0, 0.9)},
	{"uniform", scoreInterval, 0.5, (*rand.Rand).Float64},
	{"beta(8, 2)", scoreInterval, 0.8, beta82},
	{"all 0.5", scoreInterval, 0.5, either(0, 0, 0.5)},
	{"difference: 3 % better, none worse", difference, 0.03, either(0.03, 1, 0)},
	{"difference: 15 % better, 5 % worse", difference, 0.1, func(r *rand.Rand) float64 {
		return either(0.2, either(0.75, 1, -1)(r), 0)(r)
	}},
	{"difference: 5 % worse by 0.5, the others better by 0.4", difference, 0.355, either(0.05, -0.5, 0.4)},
	{"difference: normal, deviation 0.1", difference, 0.05, func(r *rand.Rand) float64 {
		return 0.05 + 0.1*r.NormFloat64()
	}},
}

func difference(all []observation) Interval {
	p := pairs{differences: all}
	return p.difference()
}

// TestCoverage measures how often an interval contains the mean, and compares the results with the table in
// docs/measured/evaluate.md.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const path, header = "../../docs/measured/evaluate.md", "| values | n = 5 | n = 10 | n = 20 | n = 50 | n = 200 |\n"
	table := header + "|---|---|---|---|---|---|\n"
	for seed, d := range distributions {
		table += "| " + d.name
		for _, n := range []int{5, 10, 20, 50, 200} {
			share, width := d.coverage(rand.New(rand.NewPCG(uint64(seed), uint64(n))), n)
			if n >= 10 && share < 0.9 {
				t.Errorf("%s, n = %d: %.3f of the intervals contain the mean", d.name, n, share)
			}
			table += fmt.Sprintf(" | %.1f %%, %.2f", 100*share, width)
		}
		table += " |\n"
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, written, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), header)
	switch {
	case header+written == table:
	case *update:
		if err := os.WriteFile(path, []byte(before+table), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is outdated; update it with go test ./module/evaluate -run TestCoverage -update", path)
	}
}

// coverage returns the share of the intervals of n values that contain the mean, and their mean width.
func (d distribution) coverage(r *rand.Rand, n int) (share, width float64) {
	all := make([]observation, n)
	for i := range all {
		all[i] = observation{cluster: strconv.Itoa(i), weight: 1}
	}
	const trials = 2000
	for range trials {
		for i := range all {
			all[i].value = d.draw(r)
		}
		i := d.interval(all)
		if i.Low <= d.mean && d.mean <= i.High {
			share += 1.0 / trials
		}
		width += (i.High - i.Low) / trials
	}
	return share, width
}
