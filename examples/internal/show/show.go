// Package show prints the events of a run for people.
package show

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
)

// Writer returns a writer to w that removes terminal control sequences from text that comes from models, tools and
// servers.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ io.Writer }

// Write implements [io.Writer].
func (w writer) Write(text []byte) (int, error) {
	_, err := io.WriteString(w.Writer, display.Text(string(text)))
	return len(text), err
}

// Progress returns a handler for module.Options.OnEvent that prints programs, calls and their
// results to w.
func Progress(w io.Writer) func(context.Context, event.Event) {
	var mu sync.Mutex
	w = Writer(w)
	return func(_ context.Context, e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case event.ModelRequest:
			fmt.Fprintf(w, "\n── step %d: asking the model\n", e.Step)
		case event.ModelResponse:
			fmt.Fprintf(w, "   it answered in %s\n", short(e.Duration))
		case event.ProgramStart:
			fmt.Fprintf(w, "\n   program:\n%s\n", Indent(e.Code, "   │ "))
		case event.ToolCallEnd:
			fmt.Fprintf(w, "   → %s\n", Call(e.Call))
		case event.ProgramEnd:
			outcome(w, e)
		}
	}
}

func outcome(w io.Writer, e event.ProgramEnd) {
	switch f := e.Outcome.Failure; {
	case f != nil && !f.Ran():
		fmt.Fprintf(w, "   refused before anything ran:\n%s\n", Indent(f.String(), "   ✗ "))
	case f != nil:
		fmt.Fprintf(w, "   failed after %s:\n%s\n", short(e.Outcome.Duration), Indent(f.String(), "   ✗ "))
	case e.Outcome.Submitted:
		fmt.Fprintf(w, "   submitted after %s\n", short(e.Outcome.Duration))
	default:
		fmt.Fprintf(w, "   ended after %s\n", short(e.Outcome.Duration))
	}
	if e.Observation != "" && e.Outcome.Submitted {
		fmt.Fprintf(w, "   not accepted:\n%s\n", Indent(e.Observation, "   ✗ "))
	}
}

// Call returns one tool call on one line.
func Call(c sandbox.Call) string {
	line := fmt.Sprintf("%s(%s)  %s", c.Tool, clip(string(c.Args), 80), short(c.Duration))
	switch {
	case c.Error != nil:
		return line + "  failed: " + clip(c.Error.Message, 120)
	case c.Pending:
		return line + "  not finished"
	case c.Recorded:
		return line + "  from the record"
	}
	return line
}

// Indent puts a prefix before every line.
func Indent(text, prefix string) string {
	return prefix + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+prefix)
}

func clip(text string, limit int) string {
	return display.Cut(strings.Join(strings.Fields(text), " "), limit)
}

func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
