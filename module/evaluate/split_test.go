package evaluate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/writ-go/writ/module/evaluate"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(101, all)
	for i := range examples {
		examples[i].ID = fmt.Sprint("id", i)
	}
	parts, err := evaluate.Split(examples, 1, 0.5, 0.25, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, size := range []float64{50.5, 25.25, 20.2} {
		if math.Abs(float64(len(parts[i]))-size) > 1 {
			t.Errorf("part %d has %d examples", i+1, len(parts[i]))
		}
		for _, e := range parts[i] {
			seen[e.ID]++
		}
	}
	if len(seen) < 95 || len(seen) > 97 {
		t.Errorf("%d examples", len(seen))
	}
	shuffled := slices.Clone(examples)
	rand.New(rand.NewPCG(2, 2)).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	again, err := evaluate.Split(shuffled, 1, 0.5, 0.25, 0.2)
	if err != nil || !reflect.DeepEqual(ids(parts[0]), ids(again[0])) {
		t.Errorf("the parts depend on the order: %v", err)
	}
	if other, _ := evaluate.Split(examples, 2, 0.5, 0.25, 0.2); reflect.DeepEqual(ids(parts[0]), ids(other[0])) {
		t.Error("the parts do not depend on the seed")
	}
}

func ids(list []evaluate.Example[Question, Answer]) map[string]bool {
	set := map[string]bool{}
	for _, e := range list {
		set[e.ID] = true
	}
	return set
}

func TestSplitKeepsGroups(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(100, all)
	for i := range examples {
		examples[i].Group = fmt.Sprint("g", i*i/500) // of very different sizes
	}
	for seed := range uint64(20) {
		parts, err := evaluate.Split(examples, seed, 0.5, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range parts[0] {
			if slices.ContainsFunc(parts[1], func(o evaluate.Example[Question, Answer]) bool { return o.Group == e.Group }) {
				t.Fatalf("group %s is in both parts", e.Group)
			}
		}
		if n := len(parts[0]); n < 45 || n > 55 {
			t.Errorf("%d and %d examples", n, len(parts[1]))
		}
	}
}

func TestSplitMistakes(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(2, all)
	for want, fractions := range map[string][]float64{
		"Split needs fractions":              nil,
		"the fraction 0 is not positive":     {0.5, 0},
		"the fraction NaN is not positive":   {math.NaN()},
		"the fractions add up to 1.5":        {1, 0.5},
		"part 3 of the split would be empty": {0.4, 0.3, 0.3},
	} {
		_, err := evaluate.Split(examples, 1, fractions...)
		contains(t, err, want)
	}
	_, err := evaluate.Split(examples[:0], 1, 1)
	contains(t, err, "the set of examples is empty")
}
