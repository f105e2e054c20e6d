// Package feed keeps the last events of a run for readers that may be slow.
package feed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/event"
)

// Log keeps the events of an attempt at a run, as far as its limits allow. It is not safe for concurrent use.
type Log struct {
	Bytes int // that are kept; zero means 8 MiB
	Count int // of messages that are kept; zero means as many as Bytes allows

	list []Message
	last int // the number of the last message, also of earlier attempts
	size int
}

// Message is an event as JSON, without line breaks.
type Message struct {
	ID    int // counts the messages; an event that is too large has an ID, but is not kept
	delta bool
	Name  string
	Data  []byte

	Public []byte // of an event: Data without contents, see [event.Public]
}

const (
	maxBytes = 8 << 20  // the default of Log.Bytes
	maxValue = 64 << 10 // bytes kept of a call's arguments or result, or of a program's value
	overhead = 400      // bytes that a message takes besides its data
)

// Reset begins an attempt. Readers discard what they have of the attempt before.
func (l *Log) Reset() {
	l.list, l.size = nil, 0
	l.Keep(Message{Data: []byte(`{"event":"reset"}`)})
}

// Add adds an event, without what readers do not show.
func (l *Log) Add(e event.Event) {
	_, delta := e.(event.TextDelta)
	data, err := event.JSON(short(e))
	var line bytes.Buffer
	if err == nil {
		err = json.Compact(&line, data)
	}
	if err == nil && line.Len() < l.max()/4 {
		public, _ := event.JSON(event.Public(e)) // an error means that nothing is public
		l.Keep(Message{delta: delta, Name: event.Name(e), Data: line.Bytes(), Public: public})
	} else {
		l.last++
	}
}

func (l *Log) max() int { return cmp.Or(l.Bytes, maxBytes) }

// Keep adds a message. If there are too many, the oldest pieces of text go first, and then the oldest other messages
// except for the first one.
func (l *Log) Keep(m Message) {
	l.last++
	m.ID = l.last
	l.list = append(l.list, m)
	l.size += len(m.Data) + overhead
	if l.size <= l.max() && (l.Count == 0 || len(l.list) <= l.Count) {
		return
	}
	first, count := l.list[0].ID, len(l.list)
	for _, all := range []bool{false, true} {
		l.list = slices.DeleteFunc(l.list, func(m Message) bool {
			much := l.size > l.max()*3/4 || l.Count > 0 && count > l.Count*3/4
			gone := much && m.ID != first && (all || m.delta)
			if gone {
				l.size, count = l.size-len(m.Data)-overhead, count-1
			}
			return gone
		})
	}
}

// Last returns the ID of the last message, or 0.
func (l *Log) Last() int { return l.last }

// After returns the messages after the one with this ID.
func (l *Log) After(id int) []Message {
	i, _ := slices.BinarySearchFunc(l.list, id+1, func(m Message, id int) int { return m.ID - id })
	return slices.Clone(l.list[i:])
}

// short returns an event without what readers do not show, and with long values cut.
func short(e event.Event) event.Event {
	switch e := e.(type) {
	case event.ModelRequest:
		return event.ModelRequest{Origin: e.Origin, Extract: e.Extract}
	case event.ToolCallStart:
		e.Call.Args = cut(e.Call.Args)
		return e
	case event.ToolCallEnd:
		e.Call.Args, e.Call.Result = cut(e.Call.Args), cut(e.Call.Result)
		return e
	case event.ProgramEnd:
		e.Observation = ""
		if e.Outcome != nil {
			o := *e.Outcome
			o.Calls, o.Value = nil, cut(o.Value)
			e.Outcome = &o
		}
		return e
	case event.RunEnd: // the answer is part of the run
		return event.RunEnd{Origin: e.Origin}
	}
	return e
}

// cut returns a value, or the beginning of its text as a string.
func cut(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxValue {
		raw, _ = json.Marshal(strings.ToValidUTF8(string(raw[:maxValue]), "") + "…")
	}
	return raw
}
