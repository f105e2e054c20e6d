package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Redact removes the parts of a text that must not be recorded or that differ from run to
// run. It must return the same result for the same text and is called concurrently. Nil
// leaves texts unchanged.
type Redact func(text string) string

// Record returns a model that writes each request with its reply or error to w, as a line
// of JSON for [Replay]. Canceled requests are not written. Every text is passed through
// redact, and binary parts are written as checksums. The model's capabilities are written
// too.
//
// Redact also sees the names in metadata and infos, roles, stop reasons and tool calls. It
// should not change its own results when it is applied to them again.
//
// If a reply cannot be written, the error is an *[Error] of kind [KindUnknown], which is
// returned together with the response. Writes are not concurrent.
func Record(model llms.Model, w io.Writer, redact Redact) llms.Model {
	var mu sync.Mutex
	return wrap(model, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		if w == nil {
			return nil, &Error{Kind: KindInvalid, Err: errors.New("Record has no writer; pass one")}
		}
		r, err := requestOf(ctx, "", messages, options)
		if err != nil {
			return nil, &Error{Kind: KindInvalid, Err: err}
		}
		response, err := lm.Generate(ctx, model, messages, options...)
		line, ok := redact.recording(model, r, response, err)
		if !ok {
			return response, err
		}
		mu.Lock()
		defer mu.Unlock()
		if _, failed := w.Write(line); failed != nil {
			return response, unwritten(failed, err)
		}
		return response, err
	})
}

// unwritten returns the error of a call that could not be recorded, with the call's own
// error if that failed too.
func unwritten(failed, err error) *Error {
	failed = fmt.Errorf("models: the recording: %w", failed)
	if err != nil {
		failed = fmt.Errorf("%w; and the call: %w", failed, err)
	}
	return &Error{Kind: KindUnknown, MaybeCharged: true, Err: failed}
}

// recording is one line of a recording.
type recording struct {
	Request *request `json:"request"`
	Reply   response `json:"reply,omitempty"`
	Failure *failure `json:"failure,omitempty"`

	// Capabilities are those of the model; nil if it states none.
	Capabilities *Capabilities `json:"capabilities,omitempty"`

	line int // in the file, from 1
}

// failure is an [Error] as JSON.
type failure struct {
	Kind         Kind    `json:"kind"`
	Status       int     `json:"status,omitempty"`
	RetryAfter   float64 `json:"retry_after,omitempty"` // seconds
	MaybeCharged bool    `json:"maybe_charged,omitempty"`
	Message      string  `json:"message"`
}

func failureOf(e *Error, redact Redact) *failure {
	f := &failure{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter.Seconds(), MaybeCharged: e.MaybeCharged}
	if e.Err != nil {
		f.Message = redact.text(e.Err.Error())
	}
	return f
}

func (f *failure) error() error {
	if f == nil {
		return nil
	}
	e := &Error{Kind: f.Kind, Status: f.Status, MaybeCharged: f.MaybeCharged,
		RetryAfter: span(f.RetryAfter, time.Second)}
	if f.Message != "" {
		e.Err = errors.New(f.Message)
	}
	return e
}

// span returns n units, limited to a year.
func span(n float64, unit time.Duration) time.Duration {
	const most = 365 * 24 * time.Hour
	if !(n > 0) {
		return 0
	}
	if n > float64(most/unit) {
		return most
	}
	return time.Duration(n * float64(unit))
}

// recording returns the line to write, or false if the call was canceled.
func (redact Redact) recording(model llms.Model, r *request, answer *llms.ContentResponse, err error) ([]byte, bool) {
	rec := recording{Request: redact.request(r)}
	if e := (*Error)(nil); errors.As(err, &e) {
		if e.Kind == KindCancelled {
			return nil, false
		}
		rec.Failure = failureOf(e, redact)
	}
	if lm.IsCapable(model) {
		can := CapabilitiesOf(model)
		rec.Capabilities = &can
	}
	if answer != nil {
		rec.Reply = redact.response(responseOf(answer))
	}
	line, err := json.Marshal(rec)
	if err != nil { // impossible: all values are plain
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
	if redact == nil {
		return value
	}
	numbers := json.NewDecoder(bytes.NewReader(value))
	numbers.UseNumber() // a seed may have more digits than a float
	var v any
	if numbers.Decode(&v) != nil {
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
		return redact.object(v)
	}
	return v
}

// object redacts names and values. Names that become equal get a suffix, so that nothing
// is lost.
func (redact Redact) object(m map[string]any) map[string]any {
	if redact == nil || m == nil {
		return m
	}
	c := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		name := redact(k)
		for _, taken := c[name]; taken; _, taken = c[name] {
			name += "_"
		}
		c[name] = redact.value(m[k])
	}
	return c
}

// request returns a redacted copy.
func (redact Redact) request(r *request) *request {
	c := *r
	if r.Params != nil {
		p := *r.Params
		p.Schema, p.Effort = redact.raw(p.Schema), redact.text(p.Effort)
		c.Params = &p
	}
	c.Options = map[string]json.RawMessage{}
	for name, value := range r.Options {
		c.Options[name] = redact.raw(value)
	}
	c.Messages = make([]said, len(r.Messages))
	for i, m := range r.Messages {
		c.Messages[i] = said{Role: redact.text(m.Role)}
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
		c.StopReason = redact.text(c.StopReason)
		c.Info = redact.object(c.Info)
		c.FuncCall = redact.call(c.FuncCall)
		if m := c.Message; m != nil {
			m.Text, m.Provider, m.Raw = redact.text(m.Text), redact.text(m.Provider), redact.raw(m.Raw)
		}
		for j, call := range c.ToolCalls {
			c.ToolCalls[j] = toolCall{redact.text(call.ID), redact.text(call.Type), redact.call(call.Function)}
		}
	}
	return r
}

func (redact Redact) call(c *llms.FunctionCall) *llms.FunctionCall {
	if c == nil {
		return nil
	}
	return &llms.FunctionCall{Name: redact.text(c.Name), Arguments: redact.text(c.Arguments)}
}
