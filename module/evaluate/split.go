package evaluate

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Split divides a set of examples into parts, such as one for training, one for validation and one for the final test:
//
//	parts, err := evaluate.Split(examples, 1, 0.5, 0.25, 0.25)
//
// The parts have about the given fractions of the examples; if the fractions add up to less than 1, the remaining
// examples are left out. All examples of a Group are in the same part. The same seed and the same IDs always give the
// same parts, even if the examples are in another order. Within a part, examples keep their order.
//
// Split returns an error if the set is not valid, a fraction is not positive, the fractions add up to more than 1, or a
// part would be empty.
func Split[In, Out any](examples []Example[In, Out], seed uint64, fractions ...float64) ([][]Example[In, Out], error) {
	if err := checkFractions(fractions); err != nil {
		return nil, err
	}
	set, err := numbered(examples)
	if err != nil {
		return nil, err
	}
	targets, total := make([]float64, len(fractions)+1), 0.0
	for i, f := range fractions {
		targets[i] = f * float64(len(set))
		total += f
	}
	targets[len(fractions)] = max(1-total, 0) * float64(len(set)) // the rest
	parts := make([][]int, len(targets))
	for _, unit := range units(set, seed) {
		neediest := 0
		for i := range targets {
			if targets[i]-float64(len(parts[i])) > targets[neediest]-float64(len(parts[neediest]))+1e-9 {
				neediest = i
			}
		}
		parts[neediest] = append(parts[neediest], unit...)
	}
	list := make([][]Example[In, Out], len(fractions))
	for i := range list {
		if len(parts[i]) == 0 {
			return nil, fmt.Errorf("evaluate: part %d of the split would be empty: there are too few examples or "+
				"groups", i+1)
		}
		slices.Sort(parts[i])
		for _, at := range parts[i] {
			list[i] = append(list[i], set[at])
		}
	}
	return list, nil
}

func checkFractions(fractions []float64) error {
	total := 0.0
	for _, f := range fractions {
		if !(f > 0) {
			return fmt.Errorf("evaluate: the fraction %v is not positive", f)
		}
		total += f
	}
	switch {
	case len(fractions) == 0:
		return errors.New("evaluate: Split needs fractions, such as 0.5, 0.25, 0.25")
	case total > 1+1e-9:
		return fmt.Errorf("evaluate: the fractions add up to %v, more than 1", total)
	}
	return nil
}

// units returns the indices of the examples that must stay together. The units are in random order, but the largest
// come first, so that small ones can fill up the parts.
func units[In, Out any](set []Example[In, Out], seed uint64) [][]int {
	members := map[string][]int{}
	for i, e := range set {
		key := clusterOf(e.Group, e.ID)
		members[key] = append(members[key], i)
	}
	keys := slices.Sorted(maps.Keys(members))
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	slices.SortStableFunc(keys, func(a, b string) int { return len(members[b]) - len(members[a]) })
	list := make([][]int, len(keys))
	for i, key := range keys {
		list[i] = members[key]
	}
	return list
}
