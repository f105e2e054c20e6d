package journal

import "slices"

// Find returns the last call of the open step that has a key (see [tools.Binding.Key]) and that is done, uncertain or
// still in progress. It ignores reads and calls to repeatable tools.
func (j *Journal) Find(key string) (e Entry, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range slices.Backward(j.byKey[key]) {
		if e.Step == j.step && e.ordered() && e.counts() {
			return e.Entry, true
		}
	}
	return Entry{}, false
}
