package host

import (
	"bytes"
	"sync"
)

// logPart is how much is kept of the beginning and of the end of a worker's standard
// error. What kills a Go program comes first, what it did last comes at the end.
const logPart = 4 << 10

// stderrLog keeps the beginning and the end of what is written to it.
type stderrLog struct {
	mu         sync.Mutex
	head, rest []byte
	cut        bool
}

func (l *stderrLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(p), logPart-len(l.head))
	l.head = append(l.head, p[:n]...)
	l.rest = append(l.rest, p[n:]...)
	if over := len(l.rest) - logPart; over > 0 {
		l.rest, l.cut = append(l.rest[:0], l.rest[over:]...), true
	}
	return len(p), nil
}

// String returns what was kept.
func (l *stderrLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	gap := ""
	if l.cut {
		gap = "\n…\n"
	}
	return string(bytes.TrimSpace(bytes.Join([][]byte{l.head, l.rest}, []byte(gap))))
}

func (l *stderrLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head, l.rest, l.cut = l.head[:0], l.rest[:0], false
}
