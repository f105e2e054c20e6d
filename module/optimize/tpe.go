package optimize

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// tpe proposes choices of categories: a Tree-structured Parzen Estimator (Bergstra et al., "Algorithms for
// Hyper-Parameter Optimization", NeurIPS 2011) without a tree. It estimates, for each variable, the frequency of each
// category among the good trials and among the rest, and proposes choices that are frequent among the good ones and
// rare among the rest.
type tpe struct {
	sizes  []int // the number of categories of each variable
	trials []trial
}

// A trial is a choice of one category per variable, with its score.
type trial struct {
	choice []int
	score  float64
}

const (
	tpeStartup = 5    // the number of trials that are chosen at random
	tpeGood    = 0.25 // the fraction of the trials that counts as good
	tpeDraws   = 24   // the number of choices from which propose takes the best
	tpePrior   = 1.0  // the number of trials that are assumed in advance, spread evenly over the categories
)

// add records the score of a choice.
func (t *tpe) add(choice []int, score float64) {
	t.trials = append(t.trials, trial{slices.Clone(choice), score})
}

// propose returns the choice to try next. It leaves out choices that are done, unless it finds no other.
func (t *tpe) propose(r *rand.Rand, done func(choice []int) bool) []int {
	best := t.uniform(r)
	for n := 0; n < tpeDraws && done(best); n++ {
		best = t.uniform(r)
	}
	if len(t.trials) < tpeStartup {
		return best
	}
	good, others := t.split()
	top := math.Inf(-1)
	for range tpeDraws {
		choice := make([]int, len(t.sizes))
		ratio := 0.0
		for v, size := range t.sizes {
			inGood, inOthers := frequencies(good, v, size), frequencies(others, v, size)
			choice[v] = drawFrom(r, inGood)
			ratio += math.Log(inGood[choice[v]] / inOthers[choice[v]])
		}
		if ratio > top && !done(choice) {
			top, best = ratio, choice
		}
	}
	return best
}

func (t *tpe) uniform(r *rand.Rand) []int {
	choice := make([]int, len(t.sizes))
	for v, size := range t.sizes {
		choice[v] = r.IntN(size)
	}
	return choice
}

// split divides the trials into the good ones and the rest.
func (t *tpe) split() (good, others []trial) {
	sorted := slices.Clone(t.trials)
	slices.SortStableFunc(sorted, func(a, b trial) int { return cmp.Compare(b.score, a.score) })
	n := int(math.Ceil(tpeGood * float64(len(sorted))))
	return sorted[:n], sorted[n:]
}

// frequencies returns how frequent each category of a variable is among trials.
func frequencies(trials []trial, variable, size int) []float64 {
	f := make([]float64, size)
	total := float64(len(trials)) + tpePrior
	for c := range f {
		f[c] = tpePrior / float64(size) / total
	}
	for _, t := range trials {
		f[t.choice[variable]] += 1 / total
	}
	return f
}

// drawFrom returns an index with the given probabilities.
func drawFrom(r *rand.Rand, probabilities []float64) int {
	x := r.Float64()
	for i, p := range probabilities {
		if x -= p; x < 0 {
			return i
		}
	}
	return len(probabilities) - 1
}
