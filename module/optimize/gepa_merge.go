package optimize

import (
	"cmp"
	"context"
	"slices"
)

// mergeSample is the number of examples of Val on which a merge is tried before it is evaluated on all of Val.
const mergeSample = 5

// merge tries to combine two candidates of the front if a candidate was accepted since the last attempt. It reports
// whether it evaluated a merge. For each component, the merge takes the text that changed since the common ancestor.
func (s *gepaSearch) merge(ctx context.Context) (tried bool, err error) {
	if !s.mergeDue || s.Merges <= 0 {
		return false, nil
	}
	s.mergeDue = false
	pairs := s.mergeable()
	if len(pairs) == 0 {
		return false, nil
	}
	pair := pairs[s.task.rand.IntN(len(pairs))]
	s.merged[pair] = true
	child := s.combine(pair)
	if !s.isNew(child) {
		return false, nil
	}
	sample := s.contested(pair)
	outcomes, err := s.task.evaluate(ctx, child, valSplit, sample)
	if err != nil {
		return true, err
	}
	if total(outcomes) < max(s.task.totalOnVal(pair.a, sample), s.task.totalOnVal(pair.b, sample)) {
		s.task.reject(child, "it is worse than one of its parents on a part of Val")
		return true, nil
	}
	s.Merges--
	if err := s.accept(ctx, &gepaCandidate{Candidate: child, next: max(pair.a.next, pair.b.next)}); err != nil {
		return true, err
	}
	s.mergeDue = false // the next iteration reflects
	return true, nil
}

// A mergePair is two candidates with a common ancestor.
type mergePair struct{ a, b, ancestor *gepaCandidate }

// mergeable returns the pairs that are worth merging: neither candidate descends from the other, both are at least as
// good as the ancestor, and each changed a component that the other did not change.
func (s *gepaSearch) mergeable() []mergePair {
	front := paretoFront(s.pool, s.task.val)
	var pairs []mergePair
	for i, a := range s.pool {
		for j, b := range s.pool[:i] {
			if front[i] == 0 || front[j] == 0 {
				continue
			}
			ofA, ofB := s.ancestors(a), s.ancestors(b)
			if slices.Contains(ofA, b) || slices.Contains(ofB, a) {
				continue
			}
			for _, ancestor := range ofA {
				pair := mergePair{a, b, ancestor}
				if slices.Contains(ofB, ancestor) && !s.merged[pair] && s.complement(pair) {
					pairs = append(pairs, pair)
				}
			}
		}
	}
	return pairs
}

// complement reports whether a merge can be better than both candidates.
func (s *gepaSearch) complement(p mergePair) bool {
	if p.a.Score < p.ancestor.Score || p.b.Score < p.ancestor.Score {
		return false
	}
	changed := func(c *gepaCandidate, other *gepaCandidate) bool {
		return slices.ContainsFunc(s.components, func(k component) bool {
			before := k.text(p.ancestor.Candidate)
			return k.text(c.Candidate) != before && k.text(other.Candidate) == before
		})
	}
	return changed(p.a, p.b) && changed(p.b, p.a)
}

// ancestors returns the accepted candidates that a candidate descends from, oldest first.
func (s *gepaSearch) ancestors(c *gepaCandidate) []*gepaCandidate {
	ids := map[int]bool{}
	for _, id := range c.Parents {
		ids[id] = true
	}
	var found []*gepaCandidate
	for _, other := range slices.Backward(s.pool) { // children come after their parents
		if ids[other.ID] {
			found = append(found, other)
			for _, id := range other.Parents {
				ids[id] = true
			}
		}
	}
	slices.Reverse(found)
	return found
}

// combine returns the merge of two candidates: the better one, with the texts of the other where only the other changed
// them.
func (s *gepaSearch) combine(p mergePair) *Candidate {
	better, other := p.a, p.b
	if other.Score > better.Score {
		better, other = other, better
	}
	child := newCandidate(better.Candidate, "GEPA: merge")
	child.Parents = []int{p.a.ID, p.b.ID}
	for _, k := range s.components {
		if k.text(better.Candidate) == k.text(p.ancestor.Candidate) {
			k.set(child, k.text(other.Candidate))
		}
	}
	return child
}

// contested returns examples of Val for a first comparison: about equal numbers of examples on which a is better, on
// which b is better, and on which they are equal.
func (s *gepaSearch) contested(p mergePair) []int {
	groups := map[int][]int{} // by the comparison of the scores
	for _, i := range s.task.rand.Perm(len(p.a.Scores)) {
		c := cmp.Compare(p.a.Scores[i], p.b.Scores[i])
		groups[c] = append(groups[c], i)
	}
	turns, sample := []int{1, -1, 0}, []int(nil)
	for n := 0; len(sample) < min(mergeSample, len(p.a.Scores)); n++ {
		c := turns[n%3]
		if g := groups[c]; len(g) > 0 {
			sample, groups[c] = append(sample, g[0]), g[1:]
		}
	}
	return sample
}
