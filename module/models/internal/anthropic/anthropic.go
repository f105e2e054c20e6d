// Package anthropic is the provider of Claude models, through Anthropic's Messages API. It supports structured output,
// several tool calls in one reply, thinking, prompt caching, images and PDFs.
//
// Claude Opus 4.7 and later models reject temperature and top_p, and older ones reject them while they think. In these
// cases the provider does not send them.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

const provider = "anthropic" // the Provider of an [lm.Message]

// Model is an [llms.Model]. It is safe for concurrent use.
type Model struct {
	lm.CapableFunc
	model     string
	maxTokens int
	client    wire.Client
	schemas   wire.Schemas
}

// New returns the model with a name such as "claude-sonnet-5". It makes no request.
func New(model string, o *wire.Options) (*Model, error) {
	client, err := wire.NewClient(provider, "ANTHROPIC_API_KEY", "https://api.anthropic.com", false, o)
	if err != nil {
		return nil, err
	}
	client.BaseURL = strings.TrimSuffix(client.BaseURL, "/v1")
	client.Header = http.Header{"X-Api-Key": {client.Key}, "Anthropic-Version": {"2023-06-01"}}
	m := &Model{model: model, maxTokens: o.MaxTokens, client: client}
	// Current Claude models have every capability.
	can := lm.Capabilities{Model: model, Schema: true, Tools: true, Thinking: true, Caching: true, Vision: true,
		MaxTokens: cmp.Or(m.maxTokens, defaultTokens)}
	m.CapableFunc = lm.CapableFunc{Func: m.generate, States: func() lm.Capabilities { return can }}
	return m, nil
}

// generate returns the model's reply as one choice. It streams the reply if the call
// options contain a streaming function.
func (m *Model) generate(
	ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
) (*llms.ContentResponse, error) {
	p := lm.ParamsOf(ctx)
	o := lm.Options(options)
	model := cmp.Or(o.Model, m.model)
	r, err := m.newRequest(model, p, messages, options)
	if err != nil {
		return nil, err
	}
	return m.schemas.Send(model, p.Schema, func(schema json.RawMessage) (*llms.ContentResponse, error) {
		answer, err := m.client.Post(ctx, "/v1/messages", r.body(schema))
		if err != nil {
			return nil, err
		}
		defer answer.Close()
		if wire.Streams(o) {
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
	s := &stream{options: o}
	for e, err := range answer.Events(ctx) {
		if err != nil {
			return nil, err
		}
		err = s.add(ctx, e.Data)
		answer.Size = s.size
		if m, ok := errors.AsType[*wire.Malformed](err); ok {
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
