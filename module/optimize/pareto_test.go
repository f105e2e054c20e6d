package optimize

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/writ-go/writ/module"
)

func TestParetoFront(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		scores [][]float64
		shares []float64
		want   map[int]float64
	}{
		{"one candidate", [][]float64{{0, 1}}, []float64{1, 1}, map[int]float64{0: 2}},
		{"each is best at something", [][]float64{{1, 0, 0}, {0, 1, 1}}, []float64{1, 1, 1}, map[int]float64{0: 1, 1: 2}},
		{"the child is as good everywhere and better once", [][]float64{{1, 0}, {1, 1}},
			[]float64{1, 1}, map[int]float64{1: 2}},
		{"equal candidates: the older stays", [][]float64{{1, 0}, {1, 0}}, []float64{1, 1}, map[int]float64{0: 2}},
		{"two others cover it together", [][]float64{{1, 1, 0, 0}, {1, 0, 1, 1}, {0, 1, 1, 1}},
			[]float64{1, 1, 1, 1}, map[int]float64{1: 3, 2: 3}},
		{"each counts by its weight", [][]float64{{1, 0}, {0, 1}}, []float64{0.5, 1.5}, map[int]float64{0: 0.5, 1: 1.5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			val, pool := make([]item, len(test.shares)), []*gepaCandidate(nil)
			for i, share := range test.shares {
				val[i] = item{Weight: share, share: share}
			}
			for _, scores := range test.scores {
				c := &gepaCandidate{Candidate: &Candidate{}}
				c.score(outcomesOf(scores), val)
				pool = append(pool, c)
			}
			if got := paretoFront(pool, val); !maps.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func outcomesOf(scores []float64) (list []outcome) {
	for _, score := range scores {
		list = append(list, outcome{Score: module.Score{Value: score}})
	}
	return list
}

func TestPickFromFront(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	picked := map[int]int{}
	for range 3000 {
		picked[pickFromFront(r, map[int]float64{3: 0.5, 7: 1})]++
	}
	if len(picked) != 2 || picked[7] < 1900 || picked[7] > 2100 {
		t.Errorf("got %v, want two thirds of 3000 for 7", picked)
	}
}
