package optimize

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// paretoFront returns the candidates that are not dominated. The keys are the indices of the candidates, and the values
// are the numbers of examples of Val on which they are best. If several candidates share the best score on an example,
// all of them are best on that example.
//
// A candidate is dominated if, on every example on which it is best, another candidate of the front is best, too. Of
// candidates that are best on the same examples, the one with the highest mean stays.
func paretoFront(scores [][]float64) map[int]int {
	best := bestPerExample(scores)
	inFront := make(map[int]bool)
	for _, candidates := range best {
		for _, c := range candidates {
			inFront[c] = true
		}
	}
	for _, c := range worstFirst(scores) {
		covered := func(candidates []int) bool {
			return !slices.Contains(candidates, c) ||
				slices.ContainsFunc(candidates, func(other int) bool { return other != c && inFront[other] })
		}
		if inFront[c] && !slices.ContainsFunc(best, func(b []int) bool { return !covered(b) }) {
			delete(inFront, c)
		}
	}
	front := make(map[int]int)
	for _, candidates := range best {
		for _, c := range candidates {
			if inFront[c] {
				front[c]++
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

// worstFirst returns the indices of the candidates, sorted by their mean score. Of candidates with equal scores, the
// newer one comes first, so that a search prefers the older one.
func worstFirst(scores [][]float64) []int {
	indices := inOrder(len(scores))
	slices.SortFunc(indices, func(a, b int) int {
		return cmp.Or(cmp.Compare(mean(scores[a]), mean(scores[b])), b-a)
	})
	return indices
}

// pickFromFront chooses a candidate of the front with a probability proportional to the number of examples on which it
// is best.
func pickFromFront(r *rand.Rand, front map[int]int) int {
	var lots []int
	for _, c := range slices.Sorted(maps.Keys(front)) {
		lots = append(lots, slices.Repeat([]int{c}, front[c])...)
	}
	return lots[r.IntN(len(lots))]
}

func mean(scores []float64) float64 {
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	return sum / float64(len(scores))
}
