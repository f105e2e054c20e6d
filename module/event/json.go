package event

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/writ-go/writ/module/internal/lm"
)

// record is the JSON form of an event.
type record struct {
	Event    string               `json:"event"`
	Data     Event                `json:"data"`
	Messages []lm.RecordedMessage `json:"messages,omitempty"`
	Tools    []lm.RecordedTool    `json:"tools,omitempty"`
	Error    string               `json:"error,omitempty"`
}

// Name returns the name of the event's type, such as "RunEnd", or "" if e is nil or a pointer.
func Name(e Event) string {
	if t := reflect.TypeOf(e); t != nil {
		return t.Name()
	}
	return ""
}

// JSON returns an event as a JSON object. Its member "event" is the name of the event's type, such as "RunEnd"; "data"
// has the event's fields; "error" is its Err's message. For a [ModelRequest], the object also has "tools" and
// "messages", with the text of each message and the type and size of its images and files.
func JSON(e Event) ([]byte, error) {
	if t := reflect.TypeOf(e); t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("event: %T is not an event; events are not pointers", e)
	}
	r := record{Event: Name(e), Data: e}
	switch e := e.(type) {
	case ModelRequest:
		r.Messages, r.Tools = lm.RecordMessages(e.Messages), lm.RecordTools(e.Options.Tools)
	case ModelResponse:
		r.Error = message(e.Err)
	case RunEnd:
		r.Error = message(e.Err)
	case Scored: // JSON has no infinity
		e.Value = max(-math.MaxFloat64, min(e.Value, math.MaxFloat64))
		r.Data = e
	}
	return json.Marshal(r)
}

// message returns an error's message, even if its Error method panics.
func message(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}
