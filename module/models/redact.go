package models

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/writ-go/writ/module/internal/lm"
)

// failure is an [Error] as JSON.
type failure struct {
	Kind         Kind    `json:"kind"`
	Status       int     `json:"status,omitempty"`
	RetryAfter   float64 `json:"retry_after,omitempty"` // seconds
	MaybeCharged bool    `json:"maybe_charged,omitempty"`
	Message      string  `json:"message"`
}

func failureOf(e *Error, redact func(string) string) *failure {
	f := &failure{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter.Seconds(), MaybeCharged: e.MaybeCharged}
	if e.Err != nil {
		f.Message = redact(e.Err.Error())
	}
	return f
}

func (f *failure) error() error {
	e := &Error{Kind: f.Kind, Status: f.Status, MaybeCharged: f.MaybeCharged, RetryAfter: lm.Seconds(f.RetryAfter)}
	if f.Message != "" {
		e.Err = errors.New(f.Message)
	}
	return e
}

func (s *Store) redact(text string) string {
	if s.options.Redact == nil {
		return text
	}
	return s.options.Redact(text)
}

// redacted returns a value as JSON with redacted strings.
func (s *Store) redacted(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil { // impossible: all values are plain
		panic(err)
	}
	if s.options.Redact == nil {
		return raw
	}
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber() // a seed may have more digits than a float
	var value any
	if err = numbers.Decode(&value); err == nil {
		raw, err = json.Marshal(s.redactedValue(value))
	}
	if err != nil { // impossible: it was JSON
		panic(err)
	}
	return raw
}

func (s *Store) redactedValue(v any) any {
	switch v := v.(type) {
	case string:
		return s.redact(v)
	case []any:
		for i := range v {
			v[i] = s.redactedValue(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = s.redactedValue(v[name])
		}
	}
	return v
}
