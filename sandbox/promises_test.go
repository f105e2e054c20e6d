package sandbox

import "testing"

// A worker is not trusted: it may report calls that were not made.
func TestCallsOfAForgedReport(t *testing.T) {
	t.Parallel()
	h := &host{}
	if got := h.unawaited(make([]int, 1<<20)); got != "" {
		t.Errorf("calls that were not made: %.100q", got)
	}
}
