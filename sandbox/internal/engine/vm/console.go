package vm

import (
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// console returns the console object. Methods such as count and time do nothing.
func (r *machine) console() goja.Value {
	console := r.vm.NewObject()
	set := func(print func(goja.FunctionCall) goja.Value, names ...string) {
		for _, name := range names {
			must(console.Set(name, r.function(name, print)))
		}
	}
	log := func(c goja.FunctionCall) goja.Value { return r.print(&r.stdout, c) }
	set(log, "log", "info", "debug", "table", "dir")
	set(func(c goja.FunctionCall) goja.Value {
		if len(c.Arguments) == 0 {
			return goja.Undefined()
		}
		return log(c)
	}, "group", "groupCollapsed")
	set(func(c goja.FunctionCall) goja.Value { return r.print(&r.stderr, c) }, "warn", "error", "trace")
	set(r.consoleAssert, "assert")
	set(undefined, "groupEnd", "clear", "count", "countReset", "time", "timeLog", "timeEnd")
	return console
}

func undefined(goja.FunctionCall) goja.Value { return goja.Undefined() }

func (r *machine) print(stream *stream, call goja.FunctionCall) goja.Value {
	words := make([]string, len(call.Arguments))
	for i, v := range call.Arguments {
		words[i] = r.convert.Inspect(v)
	}
	stream.write(strings.Join(words, " ")) // written separately, so that a long line is not copied
	stream.write("\n")
	return goja.Undefined()
}

func (r *machine) consoleAssert(c goja.FunctionCall) goja.Value {
	if c.Argument(0).ToBoolean() {
		return goja.Undefined()
	}
	words := []goja.Value{r.vm.ToValue("Assertion failed")}
	if len(c.Arguments) > 1 {
		words = append([]goja.Value{r.vm.ToValue("Assertion failed:")}, c.Arguments[1:]...)
	}
	return r.print(&r.stderr, goja.FunctionCall{Arguments: words})
}

// stream keeps the beginning and the end of what is written to it, and counts all bytes.
type stream struct {
	text  strings.Builder
	tail  []byte // the end of what did not fit into text; may be longer than Output.Tail
	full  bool
	bytes int
	limit int
}

func (s *stream) write(text string) {
	s.bytes += len(text)
	if !s.full {
		head := text[:min(len(text), s.limit-s.text.Len())]
		if s.full = len(head) < len(text); s.full { // do not split a character
			head = strings.ToValidUTF8(head, "")
		}
		s.text.WriteString(head)
		text = text[len(head):]
	}
	if s.full {
		s.keep(text)
	}
}

// keep appends to the tail, and drops the beginning of the tail when the tail grows too long.
func (s *stream) keep(text string) {
	size := s.limit / tailShare
	if len(s.tail)+len(text) > 4*size {
		s.tail = s.tail[:copy(s.tail, s.tail[max(0, len(s.tail)-size):])]
		text = text[max(0, len(text)-size):]
	}
	s.tail = append(s.tail, text...)
}

// tailShare determines the tail's size: 1/tailShare of the limit.
const tailShare = 16

func (s *stream) output() engine.Output {
	tail := s.tail[max(0, len(s.tail)-s.limit/tailShare):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return engine.Output{Text: s.text.String(), Tail: string(tail), Bytes: s.bytes}
}
