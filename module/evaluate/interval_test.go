package evaluate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestStudentT(t *testing.T) {
	t.Parallel()
	for freedom, want := range map[int]float64{1: 12.706, 4: 2.776, 5: 2.571, 9: 2.262, 30: 2.042, 1000: 1.962} {
		if got := studentT(freedom); math.Abs(got-want) > 0.002 {
			t.Errorf("t(%d) = %v, not %v", freedom, got, want)
		}
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	ones := func(n, right int) []observation {
		list := make([]observation, n)
		for i := range list {
			list[i] = observation{fmt.Sprint(i), 0, 1}
			if i < right {
				list[i].value = 1
			}
		}
		return list
	}
	equal := func(n int, value float64) []observation {
		list := ones(n, 0)
		for i := range list {
			list[i].value = value
		}
		return list
	}
	for _, test := range []struct {
		name string
		all  []observation
		want string
	}{
		{"nothing", nil, "none"},
		{"one", ones(1, 1), "1.000"},
		{"all right", ones(10, 10), "1.000 [0.662, 1.000]"},
		{"all wrong", ones(10, 0), "0.000 [0.000, 0.338]"},
		{"equal", equal(10, 0.9), "0.900 [0.595, 0.934]"},
		{"equal and unbounded", equal(10, 7), "7.000 [7.000, 7.000]"},
		{"half", ones(100, 50), "0.500 [0.402, 0.598]"},
		{"many", ones(10_000, 5000), "0.500 [0.490, 0.510]"},
		{"weights", []observation{{"a", 1, 3}, {"b", 0, 1}}, "0.750 [0.005, 0.999]"},
		{"small weights", []observation{{"a", 1, 3e-200}, {"b", 0, 1e-200}}, "0.750 [0.005, 0.999]"},
		{"unbounded", []observation{{"a", 10, 1}, {"b", 20, 1}, {"c", 30, 1}}, "20.000 [-4.842, 44.842]"},
		{"samples do not narrow it", append(ones(100, 50), ones(100, 50)...), "0.500 [0.402, 0.598]"},
	} {
		if got := scoreInterval(test.all).String(); got != test.want {
			t.Errorf("%s: %s, not %s", test.name, got, test.want)
		}
	}
}

// With groups, the interval contains the true mean in about 95 of 100 experiments. TestCoverage has the other cases.
func TestGroupCoverage(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	const trials, truth = 2000, 0.6
	hits := 0
	for range trials {
		if i := scoreInterval(draw(r, 30, 5, truth)); i.Low <= truth && truth <= i.High {
			hits++
		}
	}
	if share := float64(hits) / trials; share < 0.93 || share > 0.98 {
		t.Errorf("the interval contains the mean in %.3f of the experiments", share)
	}
}

// draw returns n clusters of equal observations that are 1 with the probability p.
func draw(r *rand.Rand, n, size int, p float64) []observation {
	var list []observation
	for i := range n {
		value := 0.0
		if r.Float64() < p {
			value = 1
		}
		for range size {
			list = append(list, observation{fmt.Sprint(i), value, 1})
		}
	}
	return list
}
