package show

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
)

// screen returns the lines that a terminal shows after it has received text.
func screen(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		cells, at := []rune{}, 0
		for _, r := range line {
			switch {
			case r == '\r':
				at = 0
				continue
			case at == len(cells):
				cells = append(cells, r)
			default:
				cells[at] = r
			}
			at++
		}
		lines = append(lines, strings.TrimRight(string(cells), " "))
	}
	return strings.Join(lines, "\n")
}

func TestStatus(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	s := &Status{terminal: &b, doing: map[activity]event.Event{}}
	width := 60
	s.columns = func() int { return width }
	at := event.Origin{Run: 1, Step: 3, Time: time.Now().Add(time.Hour)} // no second passes in the test
	check := func(want string) {
		t.Helper()
		if got := screen(b.String()); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	s.Observe(t.Context(), event.ModelRequest{Origin: at})
	check("step 3: asking the model")
	fmt.Fprintln(s, "text")
	check("text\nstep 3: asking the model")
	s.Observe(t.Context(), event.ModelResponse{Origin: at})
	check("text\n")
	s.Observe(t.Context(), event.ProgramStart{Origin: at})
	check("text\nstep 3: running the program")
	for id, tool := range []string{"orders.get", "send", "orders.get", "\x1b[2J\n"} {
		s.Observe(t.Context(), event.ToolCallStart{Origin: at, Call: sandbox.Call{ID: id + 1, Tool: tool}})
	}
	check("text\n4 calls in progress: [2J , orders.get ×2, send")
	fmt.Fprint(s, "allow it? ")
	check("text\nallow it?")
	s.Observe(t.Context(), event.ToolCallEnd{Origin: at, Call: sandbox.Call{ID: 4}})
	check("text\nallow it?")
	b.WriteString("y\n") // by a person
	fmt.Fprint(s, "")
	check("text\nallow it? y\n3 calls in progress: orders.get ×2, send")
	for width = 1; width < 10; width++ {
		s.Observe(t.Context(), event.ToolCallEnd{Origin: at, Call: sandbox.Call{ID: 3}})
	}
	check("text\nallow it? y\n2 cal…")
	s.Observe(t.Context(), event.ProgramEnd{Origin: at})
	check("text\nallow it? y\n")
	at.Time = time.Now().Add(-time.Hour)
	width = 60
	s.Observe(t.Context(), event.ModelRequest{Origin: at})
	if got := screen(b.String()); !strings.Contains(got, "step 3: asking the model, 1h0m") {
		t.Errorf("got %s", got)
	}
	s.Observe(t.Context(), event.RunEnd{Origin: at})
	check("text\nallow it? y\n")
	if NewStatus(&b) != nil {
		t.Error("a buffer counts as a terminal")
	}
}
