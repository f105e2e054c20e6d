// Package anthropic is a provider of Claude models through Anthropic's Messages API. It supports
// structured output, several tool calls in one reply, thinking, prompt caching, images and PDFs.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/tmc/langchaingo/llms"
//		"github.com/writ-go/writ/module/models/anthropic"
//	)
//
//	func main() {
//		model, err := anthropic.New("claude-sonnet-5", nil) // the key is in ANTHROPIC_API_KEY
//		if err != nil {
//			log.Fatal(err)
//		}
//		reply, err := llms.GenerateFromSinglePrompt(context.Background(), model, "What is the capital of Bhutan?")
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(reply)
//	}
//
// A Model makes one request per call and does not retry. Errors say what to do and whether
// it is worth trying again; models.Retry acts on that.
//
// Claude Opus 4.7 and later models refuse temperature and top_p, and older ones refuse them
// while they think. In these cases the Model does not send them.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

const (
	provider = "anthropic" // of an [lm.Message]
	variable = "ANTHROPIC_API_KEY"
)

// Options of [New]. Nil and the zero value are the defaults.
type Options struct {
	// Key is the API key. Default: the environment variable ANTHROPIC_API_KEY.
	Key string

	// BaseURL is the address of the API, with or without /v1. Default:
	// https://api.anthropic.com.
	BaseURL string

	// Client makes the requests. Default: a client without a timeout; the context of each
	// call limits it.
	Client *http.Client

	// MaxTokens limits each reply, including its thinking. The call option
	// llms.WithMaxTokens wins. Default: 16,000 tokens (fewer for older models) plus the
	// tokens that the call allows for thinking.
	MaxTokens int

	// Extra is merged into the JSON of each request and wins. It is for fields that Writ
	// does not know, such as {"service_tier": "standard_only"}. A nil removes a field.
	Extra map[string]any
}

// Model is an [llms.Model]. It is safe for concurrent use.
type Model struct {
	model     string
	maxTokens int
	client    wire.Client
	schemas   wire.Schemas
}

var (
	_ llms.Model = (*Model)(nil)
	_ lm.Capable = (*Model)(nil)
)

// New returns the model with a name such as "claude-sonnet-5". It makes no request.
func New(model string, o *Options) (*Model, error) {
	if o == nil {
		o = &Options{}
	}
	if model == "" {
		return nil, invalid("the name of the model is empty; pass one such as \"claude-sonnet-5\"")
	}
	key, err := wire.Key(o.Key, variable)
	if err != nil {
		return nil, err
	}
	base, err := wire.BaseURL(cmp.Or(o.BaseURL, "https://api.anthropic.com"))
	if err != nil {
		return nil, err
	}
	return &Model{model: model, maxTokens: o.MaxTokens, client: wire.Client{
		Provider: provider, Variable: variable, BaseURL: strings.TrimSuffix(base, "/v1"),
		Header: http.Header{"X-Api-Key": {key}, "Anthropic-Version": {"2023-06-01"}}, Key: key,
		HTTP: o.Client, Extra: maps.Clone(o.Extra),
	}}, nil
}

// Capabilities returns every capability: current Claude models have all of them.
func (m *Model) Capabilities() lm.Capabilities {
	return lm.Capabilities{Model: m.model, Schema: true, Tools: true, Thinking: true, Caching: true, Vision: true}
}

// Call returns the reply to a prompt.
func (m *Model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// GenerateContent returns the model's reply as one choice. It streams the reply if the call
// options contain a streaming function.
func (m *Model) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	p := lm.ParamsOf(ctx)
	o := lm.Options(options)
	model := cmp.Or(o.Model, m.model)
	r, err := m.newRequest(model, p, messages, options)
	if err != nil {
		return nil, err
	}
	return wire.Send(&m.schemas, model, p.Schema, func(schema json.RawMessage) (*llms.ContentResponse, error) {
		answer, err := m.client.Post(ctx, "/v1/messages", r.body(schema))
		if err != nil {
			return nil, err
		}
		defer answer.Close()
		if streams(o) {
			return readStream(ctx, answer, o)
		}
		return read(ctx, answer)
	})
}

// read reads a reply that is not streamed.
func read(ctx context.Context, answer *wire.Answer) (*llms.ContentResponse, error) {
	var r reply
	if err := answer.Decode(ctx, &r); err != nil {
		return nil, err
	}
	return finish(answer, &r)
}

// readStream reads a streamed reply and passes its text and its thoughts on to the caller.
func readStream(ctx context.Context, answer *wire.Answer, o llms.CallOptions) (*llms.ContentResponse, error) {
	s := &stream{text: o.StreamingFunc, thought: o.StreamingReasoningFunc}
	for e, err := range answer.Events(ctx) {
		if err != nil {
			return nil, err
		}
		err = s.add(ctx, e.Data)
		answer.Size = s.size
		if m, ok := errors.AsType[*malformed](err); ok {
			return nil, answer.Malformed(e.Data, m)
		}
		if err != nil {
			return nil, err
		}
		if s.ended {
			r, err := s.whole()
			if err != nil {
				return nil, answer.Malformed(e.Data, err)
			}
			return finish(answer, r)
		}
	}
	return nil, answer.Cut()
}

func finish(answer *wire.Answer, r *reply) (*llms.ContentResponse, error) {
	if r.Content == nil {
		return nil, answer.Missing("content")
	}
	response, err := r.response()
	if err != nil {
		return nil, answer.Malformed(r.Content, err)
	}
	return response, nil
}
