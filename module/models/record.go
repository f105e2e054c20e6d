package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Redact takes out of a text what must not be written down, or what differs from
// run to run. It must return the same for the same text, and is called
// concurrently. Nil leaves texts as they are.
type Redact func(text string) string

// Record writes to w what model is asked and what it replies, or how it fails, for
// [Replay]: a line of JSON for each question that was answered, whichever way.
// What was cancelled is not written. Every text goes through redact; binary parts
// are written as their checksum alone.
//
// A reply that cannot be written down is an error. Writes are not concurrent.
func Record(model llms.Model, w io.Writer, redact Redact) llms.Model {
	var mu sync.Mutex
	return wrapped(func(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
		r, err := requestOf(ctx, "", messages, options)
		if err != nil {
			return nil, &Error{Kind: Invalid, Err: err}
		}
		response, err := lm.Generate(ctx, model, messages, options...)
		line, ok := redact.recording(r, response, err)
		if !ok {
			return response, err
		}
		mu.Lock()
		defer mu.Unlock()
		if _, failed := w.Write(line); failed != nil {
			return response, fmt.Errorf("models: the recording: %w", failed)
		}
		return response, err
	})
}

// recording is one line of a recording.
type recording struct {
	Request *request `json:"request"`
	Reply   response `json:"reply,omitempty"`
	Failure *failure `json:"failure,omitempty"`

	line int // in the file, from 1
}

// failure is an [Error] as it is written down.
type failure struct {
	Kind         Kind    `json:"kind"`
	Status       int     `json:"status,omitempty"`
	RetryAfter   float64 `json:"retry_after,omitempty"` // seconds
	MaybeCharged bool    `json:"maybe_charged,omitempty"`
	Message      string  `json:"message"`
}

func (f *failure) error() error {
	if f == nil {
		return nil
	}
	return &Error{Kind: f.Kind, Status: f.Status, MaybeCharged: f.MaybeCharged,
		RetryAfter: time.Duration(f.RetryAfter * float64(time.Second)), Err: errors.New(f.Message)}
}

// recording returns the line, or false if there is nothing to record.
func (redact Redact) recording(r *request, answer *llms.ContentResponse, err error) ([]byte, bool) {
	rec := recording{Request: redact.request(r)}
	if e := (*Error)(nil); errors.As(err, &e) {
		if e.Kind == Cancelled {
			return nil, false
		}
		rec.Failure = &failure{e.Kind, e.Status, e.RetryAfter.Seconds(), e.MaybeCharged, redact.text(e.Err.Error())}
	}
	if answer != nil {
		rec.Reply = redact.response(responseOf(answer))
	}
	line, err := json.Marshal(rec)
	if err != nil { // it was made of plain values
		panic(err)
	}
	return append(line, '\n'), true
}

func (redact Redact) text(s string) string {
	if redact == nil {
		return s
	}
	return redact(s)
}

// raw redacts the strings within a JSON value.
func (redact Redact) raw(value json.RawMessage) json.RawMessage {
	var v any
	if redact == nil || json.Unmarshal(value, &v) != nil {
		return value
	}
	text, err := json.Marshal(redact.value(v))
	if err != nil {
		return value
	}
	return text
}

func (redact Redact) value(v any) any {
	switch v := v.(type) {
	case string:
		return redact.text(v)
	case []any:
		for i := range v {
			v[i] = redact.value(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = redact.value(v[k])
		}
	}
	return v
}

// request returns a redacted copy.
func (redact Redact) request(r *request) *request {
	c := *r
	c.Options = map[string]json.RawMessage{}
	for name, value := range r.Options {
		c.Options[name] = redact.raw(value)
	}
	c.Messages = make([]said, len(r.Messages))
	for i, m := range r.Messages {
		c.Messages[i] = said{Role: m.Role}
		for _, p := range m.Parts {
			c.Messages[i].Parts = append(c.Messages[i].Parts, part{redact.text(p.Text), p.Kind, redact.raw(p.Value)})
		}
	}
	return &c
}

// response redacts a response.
func (redact Redact) response(r response) response {
	for i := range r {
		c := &r[i]
		c.Text, c.Reasoning = redact.text(c.Text), redact.text(c.Reasoning)
		c.Info, _ = redact.value(c.Info).(map[string]any)
		c.FuncCall = redact.call(c.FuncCall)
		for j, call := range c.ToolCalls {
			c.ToolCalls[j].Function = redact.call(call.Function)
		}
	}
	return r
}

func (redact Redact) call(c *llms.FunctionCall) *llms.FunctionCall {
	if c == nil {
		return nil
	}
	return &llms.FunctionCall{Name: c.Name, Arguments: redact.text(c.Arguments)}
}
