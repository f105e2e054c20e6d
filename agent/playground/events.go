package playground

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/event"
)

// events are the events of an attempt at a run, as far as they are kept.
type events struct {
	list []message
	last int // the number of the last message, also of earlier attempts
	size int
}

// message is an event as JSON, without line breaks. The first message of each attempt is "reset".
type message struct {
	id    int
	delta bool
	data  []byte
}

const (
	maxEvents = 8 << 20  // bytes kept of a run
	maxValue  = 64 << 10 // bytes kept of a call's arguments or result, or of a program's value
	overhead  = 100      // bytes that a message takes besides its data
)

// reset begins an attempt. The page discards what it shows of the attempt before.
func (l *events) reset() {
	l.list, l.size = nil, 0
	l.keep(message{data: []byte(`{"event":"reset"}`)})
}

func (l *events) add(e event.Event) {
	_, delta := e.(event.TextDelta)
	data, err := event.JSON(short(e))
	var line bytes.Buffer
	if err == nil {
		err = json.Compact(&line, data)
	}
	if err == nil && line.Len() < maxEvents/4 {
		l.keep(message{delta: delta, data: line.Bytes()})
	}
}

// keep adds a message. If there are too many, the oldest pieces of text go first, and then the oldest other messages
// except for the first one.
func (l *events) keep(m message) {
	l.last++
	m.id = l.last
	l.list = append(l.list, m)
	l.size += len(m.data) + overhead
	if l.size <= maxEvents {
		return
	}
	first := l.list[0].id
	for _, all := range []bool{false, true} {
		l.list = slices.DeleteFunc(l.list, func(m message) bool {
			gone := l.size > maxEvents*3/4 && m.id != first && (all || m.delta)
			if gone {
				l.size -= len(m.data) + overhead
			}
			return gone
		})
	}
}

// after returns the messages after the one with this number.
func (l *events) after(id int) []message {
	i, _ := slices.BinarySearchFunc(l.list, id+1, func(m message, id int) int { return m.id - id })
	return slices.Clone(l.list[i:])
}

// short returns an event without what the page does not show, and with long values cut.
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
