package engine

import (
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// console makes the console: log, info, debug, dir and table write to stdout;
// warn, error and trace to stderr.
func (r *run) console() goja.Value {
	console := r.vm.NewObject()
	for _, name := range []string{"log", "info", "debug", "table", "dir"} {
		must(console.Set(name, r.function(name, r.print(&r.stdout))))
	}
	for _, name := range []string{"warn", "error", "trace"} {
		must(console.Set(name, r.function(name, r.print(&r.stderr))))
	}
	return console
}

func (r *run) print(stream *stream) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		words := make([]string, len(call.Arguments))
		for i, v := range call.Arguments {
			words[i] = r.inspect(v)
		}
		stream.write(strings.Join(words, " ")) // not joined with its end: a long text is not copied
		stream.write("\n")
		return goja.Undefined()
	}
}

// stream keeps the beginning of what is written to it, and counts the rest.
type stream struct {
	text  strings.Builder
	bytes int
	limit int
}

func (s *stream) write(text string) {
	s.bytes += len(text)
	room := s.limit - s.text.Len()
	if len(text) > room {
		text = text[:max(room, 0)]
		for len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) {
			text = text[:len(text)-1] // do not cut a character in two
		}
		s.limit = 0 // what follows would not be adjacent
	}
	s.text.WriteString(text)
}

func (s *stream) output() Output { return Output{Text: s.text.String(), Bytes: s.bytes} }
