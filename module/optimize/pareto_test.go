package optimize

import (
	"maps"
	"math/rand/v2"
	"testing"
)

func TestParetoFront(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		scores [][]float64
		want   map[int]int
	}{
		{"one candidate", [][]float64{{0, 1}}, map[int]int{0: 2}},
		{"each is best at something", [][]float64{{1, 0, 0}, {0, 1, 1}}, map[int]int{0: 1, 1: 2}},
		{"the child is as good everywhere and better once", [][]float64{{1, 0}, {1, 1}}, map[int]int{1: 2}},
		{"equal candidates: the older stays", [][]float64{{1, 0}, {1, 0}}, map[int]int{0: 2}},
		{"two others cover it together", [][]float64{{1, 1, 0, 0}, {1, 0, 1, 1}, {0, 1, 1, 1}}, map[int]int{1: 3, 2: 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := paretoFront(test.scores); !maps.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestPickFromFront(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	picked := map[int]int{}
	for range 3000 {
		picked[pickFromFront(r, map[int]int{3: 1, 7: 2})]++
	}
	if len(picked) != 2 || picked[7] < 1900 || picked[7] > 2100 {
		t.Errorf("got %v, want two thirds of 3000 for 7", picked)
	}
}
