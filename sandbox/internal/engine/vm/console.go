package vm

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// console returns the console. log, info, debug, dir and table write to stdout; warn, error
// and trace to stderr.
func (r *run) console() goja.Value {
	console := r.vm.NewObject()
	for _, name := range []string{"log", "info", "debug", "table", "dir"} {
		must(console.Set(name, r.function(name, r.print(&r.stdout))))
	}
	for _, name := range []string{"warn", "error", "trace"} {
		must(console.Set(name, r.function(name, r.print(&r.stderr))))
	}
	for _, m := range consoleMethods { // in a fixed order, which programs can observe
		must(console.Set(m.name, r.function(m.name, func(c goja.FunctionCall) goja.Value {
			m.method(r, c)
			return goja.Undefined()
		})))
	}
	return console
}

// consoleMethods are the methods of the console besides those that only print, as in Node.
var consoleMethods = []struct {
	name   string
	method func(*run, goja.FunctionCall)
}{
	{"group", (*run).consoleGroup},
	{"groupCollapsed", (*run).consoleGroup},
	{"groupEnd", func(r *run, _ goja.FunctionCall) { r.printed.indent = max(0, r.printed.indent-1) }},
	{"clear", func(*run, goja.FunctionCall) {}},
	{"assert", (*run).consoleAssert},
	{"count", (*run).consoleCount},
	{"countReset", func(r *run, c goja.FunctionCall) { delete(r.printed.counts, r.label(c)) }},
	{"time", (*run).consoleTime},
	{"timeLog", func(r *run, c goja.FunctionCall) { r.consoleElapsed("timeLog", c) }},
	{"timeEnd", func(r *run, c goja.FunctionCall) {
		r.consoleElapsed("timeEnd", c)
		delete(r.printed.timers, r.label(c))
	}},
}

// consoleState is the state of the console for one program.
type consoleState struct {
	indent int
	counts map[string]int
	timers map[string]time.Time
}

func (r *run) print(stream *stream) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		r.printLine(stream, "", call.Arguments)
		return goja.Undefined()
	}
}

// printLine prints values on one line, after a text if that is not empty.
func (r *run) printLine(stream *stream, text string, values []goja.Value) {
	words := make([]string, 0, len(values)+1)
	if text != "" {
		words = append(words, text)
	}
	for _, v := range values {
		words = append(words, r.convert.Inspect(v))
	}
	line := strings.Join(words, " ")
	if r.printed.indent > 0 {
		indent := strings.Repeat("  ", min(r.printed.indent, maxIndent))
		line = indent + strings.ReplaceAll(line, "\n", "\n"+indent)
	}
	stream.write(line) // written separately, so that a long text is not copied
	stream.write("\n")
}

// maxIndent bounds the indentation of groups.
const maxIndent = 20

func (r *run) consoleGroup(c goja.FunctionCall) {
	if len(c.Arguments) > 0 {
		r.printLine(&r.stdout, "", c.Arguments)
	}
	r.printed.indent++
}

func (r *run) consoleAssert(c goja.FunctionCall) {
	switch {
	case c.Argument(0).ToBoolean():
	case len(c.Arguments) > 1:
		r.printLine(&r.stderr, "Assertion failed:", c.Arguments[1:])
	default:
		r.printLine(&r.stderr, "Assertion failed", nil)
	}
}

func (r *run) consoleCount(c goja.FunctionCall) {
	label := r.label(c)
	if r.printed.counts == nil {
		r.printed.counts = map[string]int{}
	}
	r.printed.counts[label]++
	r.printLine(&r.stdout, fmt.Sprintf("%s: %d", label, r.printed.counts[label]), nil)
}

func (r *run) consoleTime(c goja.FunctionCall) {
	put(&r.printed.timers, r.label(c), r.clock.time())
}

func (r *run) consoleElapsed(method string, c goja.FunctionCall) {
	label := r.label(c)
	start, ok := r.printed.timers[label]
	if !ok {
		r.printLine(&r.stderr, fmt.Sprintf("No such label '%s' for console.%s()", label, method), nil)
		return
	}
	ms := float64(r.clock.time().Sub(start)) / float64(time.Millisecond)
	r.printLine(&r.stdout, fmt.Sprintf("%s: %.3fms", label, ms), c.Arguments[min(1, len(c.Arguments)):])
}

// label returns the first argument, which identifies a count or a timer.
func (r *run) label(c goja.FunctionCall) string {
	if label := c.Argument(0); !goja.IsUndefined(label) {
		return label.String()
	}
	return "default"
}

// stream keeps the beginning and the end of what is written to it, and counts all bytes.
type stream struct {
	text  strings.Builder
	tail  []byte // the end, once something did not fit; longer than what is kept
	full  bool
	bytes int
	limit int
}

func (s *stream) write(text string) {
	s.bytes += len(text)
	if !s.full {
		head := text[:min(len(text), s.limit-s.text.Len())]
		if s.full = len(head) < len(text); s.full { // do not split a character
			head = head[:len(head)-partial(head)]
		}
		s.text.WriteString(head)
		text = text[len(head):]
	}
	if s.full {
		s.keep(text)
	}
}

// keep appends to the tail. It drops the beginning of the tail before that grows too long.
func (s *stream) keep(text string) {
	most := s.limit / tailShare
	if len(s.tail)+len(text) > 4*most {
		s.tail = s.tail[:copy(s.tail, s.tail[max(0, len(s.tail)-most):])]
		text = text[max(0, len(text)-most):]
	}
	s.tail = append(s.tail, text...)
}

// tailShare is the part of the limit that is kept of the end, in addition to the beginning.
const tailShare = 16

func (s *stream) output() engine.Output {
	tail := s.tail[max(0, len(s.tail)-s.limit/tailShare):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return engine.Output{Text: s.text.String(), Tail: string(tail), Bytes: s.bytes}
}

// partial returns the length of an incomplete character at the end of a text.
func partial(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if utf8.FullRuneInString(text[len(text)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}
