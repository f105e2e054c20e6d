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
	doing      map[activity]event.Event
}

// activity is a call of a run. The call 0 is the run itself.
type activity struct {
	run  uint64
	call int
}

// NewStatus returns a Status if w is a terminal, and otherwise nil. It is for one terminal for the whole process.
func NewStatus(w io.Writer) *Status {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	s := &Status{terminal: file, doing: map[activity]event.Event{}, columns: func() int {
		width, _, _ := term.GetSize(int(file.Fd()))
		return width
	}}
	go func() {
		for range time.Tick(time.Second) {
			s.update(func() {})
		}
	}()
	return s
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

// Observe records what is in progress. It is for module.Observe. A nil Status does nothing.
func (s *Status) Observe(_ context.Context, e event.Event) {
	if s == nil {
		return
	}
	run := e.From().Run
	s.update(func() {
		switch e := e.(type) {
		case event.ModelRequest, event.ProgramStart:
			s.doing[activity{run, 0}] = e
		case event.ToolCallStart:
			s.doing[activity{run, e.Call.ID}] = e
		case event.ToolCallEnd:
			delete(s.doing, activity{run, e.Call.ID})
		case event.ModelResponse, event.ProgramEnd, event.RunEnd:
			maps.DeleteFunc(s.doing, func(a activity, _ event.Event) bool { return a.run == run })
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

// text says what is in progress. It names calls, and steps only if no call is in progress.
func (s *Status) text() string {
	tools, calls := map[string]int{}, 0
	var parts []string
	for _, e := range s.doing {
		at := e.From()
		what := "running the program"
		switch e := e.(type) {
		case event.ToolCallStart:
			tools[e.Call.Tool]++
			calls++
			continue
		case event.ModelRequest:
			what = "asking the model"
		}
		what = fmt.Sprintf("step %d: %s", at.Step, what)
		if d := time.Since(at.Time).Truncate(time.Second); d > 0 {
			what += ", " + d.String()
		}
		parts = append(parts, what)
	}
	slices.Sort(parts)
	if calls == 0 {
		return strings.Join(parts, "; ")
	}
	parts = slices.Sorted(maps.Keys(tools))
	for i, tool := range parts {
		if n := tools[tool]; n > 1 {
			parts[i] += fmt.Sprintf(" ×%d", n)
		}
	}
	return display.Plural(calls, "call") + " in progress: " + strings.Join(parts, ", ")
}
