package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/module"
	"golang.org/x/term"
)

// bar shows how many calls a search has made, on the last line of a terminal. What is written to it appears above that
// line. Elsewhere there is no bar.
type bar struct {
	w        io.Writer
	terminal bool
	most     int // calls; 0 is no limit

	mu    sync.Mutex
	calls int
	shown time.Time
}

func newBar(w io.Writer, most int) *bar {
	f, ok := w.(interface{ Fd() uintptr })
	return &bar{w: w, most: most, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// observe counts replies.
func (b *bar) observe(_ context.Context, e module.Event) {
	if _, is := e.(module.ModelResponse); !is {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.terminal && time.Since(b.shown) >= 100*time.Millisecond {
		b.shown = time.Now()
		fmt.Fprint(b.w, clearLine+b.line())
	}
}

const clearLine = "\r\x1b[K"

func (b *bar) line() string {
	if b.most == 0 {
		return fmt.Sprintf("%d calls", b.calls)
	}
	const width = 30
	full := min(width*b.calls/b.most, width)
	return fmt.Sprintf("[%s%s] %d of %d calls", strings.Repeat("#", full), strings.Repeat(".", width-full), b.calls, b.most)
}

// Write writes lines above the bar.
func (b *bar) Write(text []byte) (int, error) {
	b.end()
	return b.w.Write(text)
}

// end removes the bar.
func (b *bar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.terminal {
		fmt.Fprint(b.w, clearLine)
	}
}
