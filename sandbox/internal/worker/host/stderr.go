package host

import (
	"bytes"
	"sync"
)

// logEnd is how much of either end of a worker's standard error is kept. What
// kills a Go program is told first, and what it did last.
const logEnd = 4 << 10

// tail keeps the beginning and the end of what is written to it.
type stderrLog struct {
	mu         sync.Mutex
	head, rest []byte
	cut        bool
}

func (t *stderrLog) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := min(len(p), logEnd-len(t.head))
	t.head = append(t.head, p[:n]...)
	t.rest = append(t.rest, p[n:]...)
	if over := len(t.rest) - logEnd; over > 0 {
		t.rest, t.cut = append(t.rest[:0], t.rest[over:]...), true
	}
	return len(p), nil
}

// String returns what was kept.
func (t *stderrLog) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	parts := [][]byte{t.head, t.rest}
	gap := ""
	if t.cut {
		gap = "\n…\n"
	}
	return string(bytes.TrimSpace(bytes.Join(parts, []byte(gap))))
}

// reset forgets everything.
func (t *stderrLog) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.head, t.rest, t.cut = t.head[:0], t.rest[:0], false
}
