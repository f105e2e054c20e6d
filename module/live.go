package module

import (
	"reflect"
	"strings"
	"sync"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// live has the reply that a model is writing, for [Stream.Partials].
type live struct {
	out     reflect.Type  // the output type of the runs to follow
	changed chan struct{} // signals that there is more text

	mu     sync.Mutex
	number int             // of the reply
	prefix *replies.Prefix // nil if only complete replies can be read
	text   strings.Builder
}

// follow makes the stream read r's replies, if the run's output has the type that the stream delivers.
func follow[In, Out any](r *run, sig *signature.Signature[In, Out]) {
	if l := r.scope.live; l != nil && l.out == reflect.TypeFor[Out]() {
		r.live, r.needed = l, sig.Spec()
	}
}

// liveReply begins a reply. It returns the function that adds text to the reply.
func (r *run) liveReply() func(text string) {
	l := r.live
	if l == nil {
		return func(string) {}
	}
	var prefix *replies.Prefix
	needed := func(name string) bool { _, ok := r.needed.Field(name); return ok }
	switch r.predictor.adapterFor(r.spec).(type) {
	case prompt.Markers:
		prefix = replies.NewPrefix(r.spec, needed, replies.Markers)
	case prompt.Object, prompt.Native:
		prefix = replies.NewPrefix(r.spec, needed, replies.Object)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number++
	number := l.number
	l.prefix, l.text = prefix, strings.Builder{}
	return func(text string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.number == number { // another reply may have begun
			l.text.WriteString(text)
		}
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
}

// read returns the number and the size of the reply, and what the reply determines. So that a long reply is not read
// too often, read returns false unless the reply has grown by a thirtieth.
func (l *live) read(before, size int) (number, read int, found replies.Begun, ok bool) {
	l.mu.Lock()
	number, prefix, text := l.number, l.prefix, l.text.String()
	l.mu.Unlock()
	if prefix == nil || number == before && len(text) <= size+size/30 {
		return before, size, found, false
	}
	return number, len(text), prefix.Read(text), true
}
