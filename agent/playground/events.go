package playground

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/tools"
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
	maxValue  = 64 << 10 // bytes kept of a text or a value
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
	if err == nil {
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
	remove := func(which func(message) bool) {
		first := l.list[0].id
		l.list = slices.DeleteFunc(l.list, func(m message) bool {
			gone := l.size > maxEvents*3/4 && m.id != first && which(m)
			if gone {
				l.size -= len(m.data) + overhead
			}
			return gone
		})
	}
	remove(func(m message) bool { return m.delta })
	remove(func(message) bool { return true })
}

// after returns the messages after the one with this number.
func (l *events) after(id int) []message {
	i, _ := slices.BinarySearchFunc(l.list, id+1, func(m message, id int) int { return m.id - id })
	return slices.Clone(l.list[i:])
}

// short returns an event without what the page does not show: the prompt, calls in outcomes, and the rest of long values.
func short(e event.Event) event.Event {
	switch e := e.(type) {
	case event.ModelRequest:
		return event.ModelRequest{Origin: e.Origin, Predictor: e.Predictor, Model: e.Model, Extract: e.Extract}
	case event.TextDelta:
		e.Text = cut(e.Text)
		return e
	case event.ModelResponse:
		e.Text, e.Thinking = cut(e.Text), cut(e.Thinking)
		return e
	case event.ReplyRejected:
		e.Observation = cut(e.Observation)
		return e
	case event.ProgramStart:
		e.Code, e.Reasoning = cut(e.Code), cut(e.Reasoning)
		return e
	case event.ToolCallStart:
		e.Call.Args = cutJSON(e.Call.Args)
		return e
	case event.ToolCallEnd:
		e.Call.Args, e.Call.Result = cutJSON(e.Call.Args), cutJSON(e.Call.Result)
		if e.Call.Error != nil {
			e.Call.Error = &tools.ToolError{Kind: e.Call.Error.Kind, Message: cut(e.Call.Error.Message)}
		}
		return e
	case event.ProgramEnd:
		e.Observation = ""
		if e.Outcome != nil {
			o := *e.Outcome
			o.Calls, o.Value, o.Stdout.Text, o.Stderr.Text = nil, cutJSON(o.Value), cut(o.Stdout.Text), cut(o.Stderr.Text)
			e.Outcome = &o
		}
		return e
	case event.RunEnd:
		e.Output = cutJSON(e.Output)
		return e
	}
	return e
}

func cut(text string) string {
	if len(text) <= maxValue {
		return text
	}
	return strings.ToValidUTF8(text[:maxValue], "") + "…"
}

// cutJSON returns a value, or the beginning of its text as a string.
func cutJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxValue {
		return raw
	}
	text, err := json.Marshal(cut(string(raw)))
	if err != nil {
		return nil
	}
	return text
}
