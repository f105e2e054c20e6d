package feed

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
)

// The oldest pieces of text are dropped first, and the first message never.
func TestBound(t *testing.T) {
	t.Parallel()
	var l Log
	l.Reset()
	text := strings.Repeat("x", maxValue/2)
	l.Add(event.ProgramStart{Code: "first"})
	for range 3 * maxBytes / len(text) {
		l.Add(event.TextDelta{Text: text})
		if l.size > maxBytes {
			t.Fatalf("%d bytes are kept", l.size)
		}
	}
	if len(l.list) < 50 || !strings.Contains(string(l.list[1].Data), "first") {
		t.Errorf("%d messages, of which the second is %.100s", len(l.list), l.list[1].Data)
	}
	for range 3 * maxBytes / len(text) {
		l.Add(event.ProgramStart{Code: text})
	}
	if l.size > maxBytes || !strings.Contains(string(l.list[0].Data), "reset") || l.list[1].delta {
		t.Errorf("%d bytes, %.100s, %.100s", l.size, l.list[0].Data, l.list[1].Data)
	}
	if after := l.After(l.last - 2); len(after) != 2 || after[1].ID != l.last {
		t.Errorf("got %d messages", len(after))
	}
}

// Long values are cut, and remain JSON.
func TestShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxValue)
	value, _ := json.Marshal(map[string]string{"a": long})
	for _, e := range []event.Event{
		event.ToolCallStart{Call: sandbox.Call{Args: value}}, event.ToolCallEnd{Call: sandbox.Call{Result: value}},
		event.RunEnd{Output: value}, event.ProgramEnd{Outcome: &sandbox.Outcome{Value: value}, Observation: long},
		event.ModelRequest{Schema: value},
	} {
		var l Log
		l.Add(e)
		if len(l.list) != 1 || !json.Valid(l.list[0].Data) || len(l.list[0].Data) > 2*maxValue {
			t.Errorf("%T: %d messages", e, len(l.list))
		}
	}
}
