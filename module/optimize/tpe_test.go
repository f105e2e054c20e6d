package optimize

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The score of a choice is the number of its variables that have the right category, with noise.
func TestTPE(t *testing.T) {
	t.Parallel()
	right := []int{3, 1, 4}
	search := func(seed uint64, propose func(*tpe, *rand.Rand) []int) (scores []float64) {
		r, noise := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
		s := &tpe{sizes: []int{6, 6, 6}, groups: 1}
		s.add([]int{0, 0, 0}, 0)
		for range 40 {
			choice := propose(s, r)
			score := 0.0
			for v := range right {
				if choice[v] == right[v] {
					score++
				}
			}
			s.add(choice, score+noise.NormFloat64()*0.3)
			scores = append(scores, score)
		}
		return scores
	}
	uniform := func(s *tpe, r *rand.Rand) []int { return s.redraw(r, 0) } // all variables are in one group
	informedBy := func(s *tpe, r *rand.Rand) []int {
		return s.propose(r, func([]int) bool { return false })
	}
	var informed, random float64
	for seed := range uint64(20) {
		scores := search(seed, informedBy)
		if again := search(seed, informedBy); !slices.Equal(scores, again) {
			t.Fatalf("seed %d: the same seed gives %v and %v", seed, scores, again)
		}
		informed += mean(scores[20:])
		random += mean(search(seed, uniform)[20:])
	}
	if informed < 2*random {
		t.Errorf("the mean score of late trials is %.2f, and %.2f by chance", informed/20, random/20)
	}
	t.Logf("%.2f, by chance %.2f", informed/20, random/20)
}

// A choice that is done is not proposed again while there are others, even if it is the best.
func TestTPELeavesOutWhatIsDone(t *testing.T) {
	t.Parallel()
	r, s, proposed := rand.New(rand.NewPCG(1, 2)), &tpe{sizes: []int{3, 3}, groups: 1}, map[[2]int]bool{{}: true}
	s.add([]int{0, 0}, 0)
	for range 8 {
		choice := s.propose(r, func(choice []int) bool { return proposed[[2]int(choice)] })
		proposed[[2]int(choice)] = true
		s.add(choice, float64(-choice[0]-choice[1]))
	}
	if len(proposed) < 8 { // the last one may not be found by chance
		t.Errorf("9 trials have only %d of 9 choices", len(proposed))
	}
}

// The first choices change one group of variables of the best choice so far, and leave a group without other choices.
func TestTPEChangesOneGroupAtATime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ sizes, changed []int }{
		{[]int{50, 50, 50, 50}, []int{1, 0, 1, 0}}, // with the variables 0 and 2 in group 0, and 1 and 3 in group 1
		{[]int{1, 50, 1, 50}, []int{1, 1, 1, 1}},
	} {
		r, s := rand.New(rand.NewPCG(1, 2)), &tpe{sizes: tt.sizes, groups: 2}
		best := make([]int, len(tt.sizes))
		s.add(best, 0)
		for n, group := range tt.changed {
			choice := s.propose(r, func(choice []int) bool { return slices.Equal(choice, best) })
			for v := range choice {
				if v%2 != group && choice[v] != best[v] {
					t.Errorf("sizes %v, trial %d: got %v, want only group %d of %v changed",
						tt.sizes, n+1, choice, group, best)
				}
			}
			if slices.Equal(choice, best) {
				t.Errorf("sizes %v, trial %d: got %v again", tt.sizes, n+1, choice)
			}
			score := float64(1 - n) // the first choice is the best
			if s.add(choice, score); n == 0 {
				best = choice
			}
		}
	}
}

func mean(scores []float64) float64 {
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	return sum / float64(len(scores))
}
