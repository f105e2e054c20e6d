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
		s := &tpe{sizes: []int{6, 6, 6}}
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
		random += mean(search(seed, (*tpe).uniform)[20:])
	}
	if informed < 2*random {
		t.Errorf("the mean score of late trials is %.2f, and %.2f by chance", informed/20, random/20)
	}
	t.Logf("%.2f, by chance %.2f", informed/20, random/20)
}

// A choice that is done is not proposed again while there are others, even if it is the best.
func TestTPELeavesOutWhatIsDone(t *testing.T) {
	t.Parallel()
	r, s, proposed := rand.New(rand.NewPCG(1, 2)), &tpe{sizes: []int{3, 3}}, map[[2]int]bool{}
	for range 9 {
		choice := s.propose(r, func(choice []int) bool { return proposed[[2]int(choice)] })
		proposed[[2]int(choice)] = true
		s.add(choice, float64(-choice[0]-choice[1]))
	}
	if len(proposed) < 8 { // the last one may not be found by chance
		t.Errorf("9 trials proposed only %d of 9 choices", len(proposed))
	}
}

func mean(scores []float64) float64 {
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	return sum / float64(len(scores))
}
