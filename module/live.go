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
	number int // of the reply
	prefix *replies.Prefix
	text   strings.Builder
}

// follow makes the stream read r's replies, if the run's output has the type that the stream delivers.
func follow[In, Out any](r *run, sig *signature.Signature[In, Out]) {
	if l := r.scope.live; l != nil && l.out == reflect.TypeFor[Out]() {
		r.live, r.task = l, sig.Spec()
	}
}

// liveReply begins a reply. It returns the function that adds the reply's text.
func (r *run) liveReply() func(text string) {
	l := r.live
	if l == nil {
		return func(string) {}
	}
	var prefix *replies.Prefix
	needed := func(name string) bool { _, ok := r.task.Field(name); return ok }
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
		if l.number == number { // another reply may have begun
			l.text.WriteString(text)
		}
		l.mu.Unlock()
		select {
		case l.changed <- struct{}{}:
		default:
		}
	}
}

// reader reads the partial outputs of a live reply.
type reader struct {
	*live
	number, size int    // of the reply that was read last
	last         string // what was found in it
}

// next returns what the reply determines, unless that has not changed. So that a long reply is not read too often, it
// must have grown by a thirtieth.
func (r *reader) next() (found replies.Begun, ok bool) {
	r.mu.Lock()
	number, prefix, text := r.live.number, r.prefix, r.text.String()
	r.mu.Unlock()
	if prefix == nil || number == r.number && len(text) <= r.size+r.size/30 {
		return found, false
	}
	if number != r.number {
		r.last = ""
	}
	r.number, r.size = number, len(text)
	found = prefix.Read(text)
	now := found.Values.String() + found.Open + strings.Join(found.Done, " ")
	ok = now != r.last && len(found.Values) > 0
	r.last = now
	return found, ok
}

// replies returns how many replies have begun.
func (l *live) replies() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.number
}
