package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/writ-go/writ/module"
	"golang.org/x/term"
)

// bar shows how many calls a search has made, on the last line of a terminal. What is written to it appears above that
// line. Elsewhere there is no bar.
type bar struct {
	io.Writer
	terminal bool
	most     int // calls; 0 is no limit
	calls    atomic.Int64
}

func newBar(w io.Writer, most int) *bar {
	f, ok := w.(interface{ Fd() uintptr })
	return &bar{Writer: w, most: most, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// observe counts replies.
func (b *bar) observe(_ context.Context, e module.Event) {
	if _, is := e.(module.ModelResponse); is {
		b.show(int(b.calls.Add(1)))
	}
}

const clearLine = "\r\x1b[K"

func (b *bar) show(calls int) {
	const width = 30
	switch full := width * calls / max(b.most, 1); {
	case !b.terminal:
	case b.most == 0:
		fmt.Fprintf(b.Writer, clearLine+"%d calls", calls)
	default:
		full = min(full, width)
		fmt.Fprintf(b.Writer, clearLine+"[%s%s] %d of %d calls", strings.Repeat("#", full),
			strings.Repeat(".", width-full), calls, b.most)
	}
}

// Write writes lines in the place of the bar.
func (b *bar) Write(text []byte) (int, error) {
	b.end()
	return b.Writer.Write(text)
}

// end removes the bar.
func (b *bar) end() {
	if b.terminal {
		fmt.Fprint(b.Writer, clearLine)
	}
}
