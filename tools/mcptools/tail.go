package mcptools

import (
	"strings"
	"sync"
)

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	max  int
	data []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-t.max):]...)
	if over := len(t.data) - t.max; over > 0 || len(p) > t.max {
		t.data, t.cut = append(t.data[:0], t.data[over:]...), true
	}
	return len(p), nil
}

// String returns the whole lines among what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.data)
	if _, rest, ok := strings.Cut(text, "\n"); ok && t.cut {
		text = rest
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
}
