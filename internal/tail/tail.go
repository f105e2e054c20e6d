// Package tail keeps the end of a program's output for error messages.
package tail

import (
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/display"
)

// Buffer keeps the last Max bytes written to it.
type Buffer struct {
	Max int

	mu   sync.Mutex
	data []byte
	cut  bool
}

// Write implements [io.Writer].
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p[max(0, len(p)-b.Max):]...)
	if over := len(b.data) - b.Max; over > 0 || len(p) > b.Max {
		b.data, b.cut = append(b.data[:0], b.data[over:]...), true
	}
	return len(p), nil
}

// String returns the complete lines that were kept, made safe by [display.Text]. If no line is complete, it
// returns the kept text.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := string(b.data)
	if _, rest, ok := strings.Cut(text, "\n"); ok && b.cut {
		text = rest
	}
	return strings.TrimSpace(display.Text(text))
}
