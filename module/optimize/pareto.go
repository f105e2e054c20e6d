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
// candidates that are best on the same examples, the one with the highest mean stays.
func paretoFront(scores [][]float64, shares []float64) map[int]float64 {
	best := bestPerExample(scores)
	inFront := make(map[int]bool)
	for _, candidates := range best {
		for _, c := range candidates {
			inFront[c] = true
		}
	}
	for _, c := range worstFirst(scores, shares) {
		covered := func(candidates []int) bool {
			return !slices.Contains(candidates, c) ||
				slices.ContainsFunc(candidates, func(other int) bool { return other != c && inFront[other] })
		}
		if inFront[c] && !slices.ContainsFunc(best, func(b []int) bool { return !covered(b) }) {
			delete(inFront, c)
		}
	}
	front := make(map[int]float64)
	for i, candidates := range best {
		for _, c := range candidates {
			if inFront[c] {
				front[c] += shares[i]
			}
		}
	}
	return front
}

// bestPerExample returns, for each example, the candidates with the highest score.
func bestPerExample(scores [][]float64) [][]int {
	var best [][]int
	for i := range scores[0] {
		top, candidates := math.Inf(-1), []int(nil)
		for c := range scores {
			switch score := scores[c][i]; {
			case score > top:
				top, candidates = score, []int{c}
			case score == top:
				candidates = append(candidates, c)
			}
		}
		best = append(best, candidates)
	}
	return best
}

// worstFirst returns the indices of the candidates, sorted by their weighted scores. Of candidates with equal scores,
// the newer one comes first, so that a search prefers the older one.
func worstFirst(scores [][]float64, shares []float64) []int {
	total := func(c int) (sum float64) {
		for i, score := range scores[c] {
			sum += shares[i] * score
		}
		return sum
	}
	indices := inOrder(len(scores))
	slices.SortFunc(indices, func(a, b int) int { return cmp.Or(cmp.Compare(total(a), total(b)), b-a) })
	return indices
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

// sharesOf returns the shares of examples.
func sharesOf(items []item) []float64 {
	shares := make([]float64, len(items))
	for i, item := range items {
		shares[i] = item.share
	}
	return shares
}
