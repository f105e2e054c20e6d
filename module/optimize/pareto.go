package optimize

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// paretoFront returns the candidates that are not dominated. The keys are the indices of the candidates, and the values
// are the total shares of the examples of Val on which they are best. If several candidates have the best score on an
// example, all of them are best on that example.
//
// A candidate is dominated if, on every example on which it is best, another candidate of the front is best, too. Of
// candidates that are best on the same examples, the one with the highest score stays, and of equal ones the oldest.
func paretoFront(pool []*gepaCandidate, val []item) map[int]float64 {
	best, front := bestPerExample(pool), map[int]float64{}
	for i, candidates := range best {
		for _, c := range candidates {
			front[c] += val[i].share
		}
	}
	worstFirst := inOrder(len(pool))
	slices.SortFunc(worstFirst, func(a, b int) int { return cmp.Or(cmp.Compare(pool[a].Score, pool[b].Score), b-a) })
	for _, c := range worstFirst {
		isOther := func(other int) bool { return other != c && front[other] > 0 }
		onlyBest := func(candidates []int) bool {
			return slices.Contains(candidates, c) && !slices.ContainsFunc(candidates, isOther)
		}
		if !slices.ContainsFunc(best, onlyBest) {
			delete(front, c)
		}
	}
	return front
}

// bestPerExample returns, for each example of Val, the candidates with the highest score.
func bestPerExample(pool []*gepaCandidate) [][]int {
	best := make([][]int, len(pool[0].Scores))
	for i := range best {
		top := math.Inf(-1)
		for c := range pool {
			switch score := pool[c].Scores[i]; {
			case score > top:
				top, best[i] = score, []int{c}
			case score == top:
				best[i] = append(best[i], c)
			}
		}
	}
	return best
}

// pickFromFront chooses a candidate of the front with a probability proportional to the shares of the examples on which
// it is best.
func pickFromFront(r *rand.Rand, front map[int]float64) int {
	candidates, sum := slices.Sorted(maps.Keys(front)), 0.0
	for _, c := range candidates {
		sum += front[c]
	}
	lot := r.Float64() * sum
	for _, c := range candidates {
		if lot -= front[c]; lot < 0 {
			return c
		}
	}
	return candidates[len(candidates)-1]
}
