package host

import (
	"bytes"
	"sync"
)

// logSize is how much is kept of a worker's standard error.
const logSize = 8 << 10

// stderrLog keeps the beginning of the text that is written to it, because a Go program that dies writes the
// reason first.
type stderrLog struct {
	mu   sync.Mutex
	text []byte
}

func (l *stderrLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p[:min(len(p), logSize-len(l.text))]...)
	return len(p), nil
}

// String returns what was kept.
func (l *stderrLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(bytes.TrimSpace(l.text))
}

func (l *stderrLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = l.text[:0]
}
