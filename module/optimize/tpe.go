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
	groups int   // the number of groups; variable v is in group v%groups
	trials []trial
}

// A trial is a choice of one category per variable, with its score.
type trial struct {
	choice []int
	score  float64
}

const (
	tpeStartup = 5    // the number of trials without estimates: the first one, and those that redraw chooses
	tpeGood    = 0.25 // the fraction of the trials that counts as good
	tpeDraws   = 24   // the number of choices from which propose takes the best
	tpePrior   = 1.0  // the number of trials that are assumed in advance, spread evenly over the categories
)

// add records the score of a choice.
func (t *tpe) add(choice []int, score float64) {
	t.trials = append(t.trials, trial{slices.Clone(choice), score})
}

// propose returns the choice to try next, after at least one trial. It leaves out choices that are done, unless it
// finds no other. The first choices change one group of variables at a time, so that their scores are easy to explain.
func (t *tpe) propose(r *rand.Rand, done func(choice []int) bool) []int {
	best := t.redraw(r, 0)
	for n := 1; n <= tpeDraws && done(best); n++ {
		best = t.redraw(r, n)
	}
	if len(t.trials) < tpeStartup {
		return best
	}
	good, others := t.split()
	top := math.Inf(-1)
	for range tpeDraws {
		choice, ratio := make([]int, len(t.sizes)), 0.0
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

// redraw returns the best choice so far with one group of variables drawn at random. The groups take turns.
func (t *tpe) redraw(r *rand.Rand, draw int) []int {
	good, _ := t.split()
	choice := slices.Clone(good[0].choice)
	for v := (len(t.trials) + draw) % t.groups; v < len(choice); v += t.groups {
		choice[v] = r.IntN(t.sizes[v])
	}
	return choice
}

// split divides the trials into the good ones and the rest.
func (t *tpe) split() (good, others []trial) {
	better := func(a, b trial) int { return cmp.Compare(b.score, a.score) }
	sorted := slices.SortedStableFunc(slices.Values(t.trials), better)
	n := int(math.Ceil(tpeGood * float64(len(sorted))))
	return sorted[:n], sorted[n:]
}

// frequencies returns how frequent each category of a variable is among trials.
func frequencies(trials []trial, variable, size int) []float64 {
	total := float64(len(trials)) + tpePrior
	f := slices.Repeat([]float64{tpePrior / float64(size) / total}, size)
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
