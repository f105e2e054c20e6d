package show

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/event"
	"golang.org/x/term"
)

// Status is a writer to a terminal that keeps a line below the text, which says what is in progress. The line is not
// shown next to an unfinished line, such as a question.
type Status struct {
	terminal io.Writer
	columns  func() int

	mu         sync.Mutex
	line       string // what the terminal shows
	unfinished bool   // the text does not end with a line break
	steps      map[uint64]step
	calls      map[call]string // the tools that are called
}

// step is what a run does.
type step struct {
	doing string
	began time.Time
}

type call struct {
	run uint64
	id  int
}

// NewStatus returns a Status if w is a terminal, and otherwise nil. It is for one terminal for the whole process.
func NewStatus(w io.Writer) *Status {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	s := newStatus(file)
	s.columns = func() int {
		width, _, _ := term.GetSize(int(file.Fd()))
		return width
	}
	go func() {
		for range time.Tick(time.Second) {
			s.update(func() {})
		}
	}()
	return s
}

func newStatus(w io.Writer) *Status {
	return &Status{terminal: w, steps: map[uint64]step{}, calls: map[call]string{}}
}

// Write implements [io.Writer]. If there is no text, a person has finished the line.
func (s *Status) Write(text []byte) (n int, err error) {
	s.update(func() {
		s.erase()
		n, err = s.terminal.Write(text)
		s.unfinished = n > 0 && text[n-1] != '\n'
	})
	return n, err
}

// With returns a handler for module.Options.OnEvent that calls another one and shows what is in progress. A nil Status
// shows nothing.
func (s *Status) With(handle func(context.Context, event.Event)) func(context.Context, event.Event) {
	if s == nil {
		return handle
	}
	return func(ctx context.Context, e event.Event) {
		handle(ctx, e)
		s.observe(e)
	}
}

func (s *Status) observe(e event.Event) {
	run, doing := e.From().Run, fmt.Sprintf("step %d: ", e.From().Step)
	s.update(func() {
		switch e := e.(type) {
		case event.ModelRequest:
			s.steps[run] = step{doing + "asking the model", e.Time}
		case event.ProgramStart:
			s.steps[run] = step{doing + "running the program", e.Time}
		case event.ToolCallStart:
			s.calls[call{run, e.Call.ID}] = e.Call.Tool
		case event.ToolCallEnd:
			delete(s.calls, call{run, e.Call.ID})
		case event.ModelResponse, event.ProgramEnd, event.RunEnd:
			delete(s.steps, run)
			maps.DeleteFunc(s.calls, func(c call, _ string) bool { return c.run == run })
		}
	})
}

// update changes what the terminal shows.
func (s *Status) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	line := display.Cut(display.OneLine(s.text()), s.columns()-1) // a character has at least as many bytes as columns
	if s.unfinished {
		line = ""
	}
	if line != s.line {
		s.erase()
		fmt.Fprint(s.terminal, line)
		s.line = line
	}
}

// erase overwrites the line with spaces, since not every terminal understands control sequences.
func (s *Status) erase() {
	if s.line != "" {
		fmt.Fprintf(s.terminal, "\r%s\r", strings.Repeat(" ", len(s.line)))
		s.line = ""
	}
}

// text says what is in progress.
func (s *Status) text() string {
	var parts []string
	if len(s.calls) == 0 {
		for _, what := range s.steps {
			if d := time.Since(what.began).Truncate(time.Second); d > 0 {
				what.doing += ", " + d.String()
			}
			parts = append(parts, what.doing)
		}
		slices.Sort(parts)
		return strings.Join(parts, "; ")
	}
	count := map[string]int{}
	for _, tool := range s.calls {
		count[tool]++
	}
	for _, tool := range slices.Sorted(maps.Keys(count)) {
		if parts = append(parts, tool); count[tool] > 1 {
			parts[len(parts)-1] += fmt.Sprintf(" ×%d", count[tool])
		}
	}
	return display.Plural(len(s.calls), "call") + " in progress: " + strings.Join(parts, ", ")
}
