package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// request identifies a call. It has everything that the reply depends on, and nothing about how the reply is received.
type request struct {
	Label       string                     `json:"label,omitempty"`
	Rollout     int                        `json:"rollout,omitempty"`
	Temperature *float64                   `json:"temperature,omitempty"`
	TopP        *float64                   `json:"top_p,omitempty"`
	Params      *Params                    `json:"params,omitempty"`
	Options     map[string]json.RawMessage `json:"options,omitempty"`
	Messages    []requestMessage           `json:"messages"`
}

// requestMessage is a message in a request.
type requestMessage struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is text or another kind of content.
type part struct {
	Text  string          `json:"text,omitempty"`
	Kind  string          `json:"kind,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// requestOf returns a call's request, or an error if an option cannot be encoded as JSON.
func requestOf(ctx context.Context, label string, messages []llms.MessageContent,
	options []llms.CallOption) (*request, error) {
	sampling := lm.SamplingOf(options)
	for _, x := range []struct {
		name  string
		value *float64
	}{{"temperature", sampling.Temperature}, {"top_p", sampling.TopP}} {
		if x.value != nil && math.IsInf(*x.value, 0) {
			return nil, fmt.Errorf("models: the %s is %g, which cannot be written as JSON", x.name, *x.value)
		}
	}
	r := &request{Label: label, Rollout: lm.Rollout(ctx), Temperature: sampling.Temperature, TopP: sampling.TopP}
	var err error
	if r.Params, err = paramsOf(ctx); err != nil {
		return nil, err
	}
	if r.Options, err = optionsOf(lm.Options(options)); err != nil {
		return nil, err
	}
	for _, m := range messages {
		s := requestMessage{Role: string(m.Role)}
		for _, p := range m.Parts {
			part, err := partOf(p)
			if err != nil {
				return nil, err
			}
			s.Parts = append(s.Parts, part)
		}
		r.Messages = append(r.Messages, s)
	}
	return r, nil
}

// paramsOf returns the parameters in ctx, or nil if none are set.
func paramsOf(ctx context.Context) (*Params, error) {
	p := ParamsOf(ctx)
	if len(p.Schema) == 0 {
		p.Schema = nil
	} else if !json.Valid(p.Schema) {
		return nil, errors.New("models: the schema of Params is not valid JSON; pass a JSON Schema")
	}
	if reflect.ValueOf(p).IsZero() {
		return nil, nil
	}
	return &p, nil
}

// optionsOf returns the options that are set and that have no field in request. Streaming
// functions are ignored, since they only receive the reply.
func optionsOf(o llms.CallOptions) (map[string]json.RawMessage, error) {
	o.Temperature, o.TopP = 0, 0
	all, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("models: the call options cannot be written as JSON: %w", err)
	}
	var set map[string]json.RawMessage
	if err := json.Unmarshal(all, &set); err != nil {
		return nil, err
	}
	for name, value := range set {
		switch string(value) {
		case `0`, `""`, `null`, `false`, `[]`, `{}`:
			delete(set, name)
		}
	}
	return set, nil
}

func partOf(p llms.ContentPart) (part, error) {
	switch p := p.(type) {
	case llms.TextContent:
		if utf8.ValidString(p.Text) {
			return part{Text: p.Text}, nil
		}
		sum := sha256.Sum256([]byte(p.Text)) // in JSON, all invalid bytes look the same
		value, err := json.Marshal(hex.EncodeToString(sum[:]))
		return part{Text: p.Text, Kind: "not UTF-8", Value: value}, err
	case Message:
		value, err := json.Marshal(p)
		if err != nil {
			return part{}, fmt.Errorf("models: the message of provider %q cannot be written as JSON: %w",
				p.Provider, err)
		}
		return part{Kind: "message", Value: value}, nil
	case llms.BinaryContent:
		sum := sha256.Sum256(p.Data)
		value, err := json.Marshal(map[string]any{"type": p.MIMEType, "bytes": len(p.Data),
			"sha256": hex.EncodeToString(sum[:])})
		return part{Kind: "binary", Value: value}, err
	case llms.CachedContent:
		inner, err := partOf(p.ContentPart)
		if err != nil {
			return part{}, err
		}
		value, err := json.Marshal(map[string]any{"part": inner, "cache_control": p.CacheControl})
		return part{Kind: "cached", Value: value}, err
	}
	value, err := json.Marshal(p)
	if err != nil {
		return part{}, fmt.Errorf("models: a %T cannot be written as JSON: %w", p, err)
	}
	if replaced.Match(value) {
		return part{}, fmt.Errorf("models: a %T contains text that is not UTF-8", p)
	}
	return part{Kind: fmt.Sprintf("%T", p), Value: value}, nil
}

// replaced matches the escape by which JSON replaces a byte that is not UTF-8.
var replaced = regexp.MustCompile(`(^|[^\\])(\\\\)*\\ufffd`)

// keyOf returns a request's hash.
func keyOf(request json.RawMessage) string {
	sum := sha256.Sum256(request)
	return hex.EncodeToString(sum[:])
}
