// Package openai is the provider of models that speak OpenAI's chat completions: OpenAI itself, and each provider and
// server that speaks a dialect of that protocol. [Responses] are models that speak OpenAI's Responses API.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// Model is an [llms.Model]. It is safe for concurrent use.
type Model struct {
	lm.CapableFunc
	name      string
	maxTokens int
	dialect   dialect
	client    wire.Client
	query     string // of every request
	schemas   wire.Schemas
}

// New returns the model with the given name. It makes no request.
func New(model string, o *wire.Options) (*Model, error) {
	d := dialects()[o.Dialect]
	d.callID = cmp.Or(d.callID, anyID)
	client, query, err := connect(d, o)
	if err != nil {
		return nil, err
	}
	m := &Model{name: model, maxTokens: o.MaxTokens, dialect: d, client: client, query: query}
	can := lm.Capabilities{Model: model, Schema: !d.noSchema, Tools: true, Thinking: true, Vision: !d.noVision,
		MaxTokens: o.MaxTokens}
	m.CapableFunc = lm.CapableFunc{Func: m.generate, States: func() lm.Capabilities { return can }}
	return m, nil
}

// generate implements GenerateContent. An error is a *models.Error or the error that a streaming function returned.
func (m *Model) generate(
	ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
) (*llms.ContentResponse, error) {
	call := lm.Options(options)
	params := lm.ParamsOf(ctx)
	body, err := m.request(call, params, lm.SamplingOf(options))
	if err != nil {
		return nil, err
	}
	if body["messages"], err = m.messages(messages); err != nil {
		return nil, err
	}
	if m.dialect.noSchema {
		params.Schema = nil
	}
	model := cmp.Or(call.Model, m.name)
	return m.schemas.Send(model, params.Schema, func(schema json.RawMessage) (*llms.ContentResponse, error) {
		if schema == nil {
			return m.send(ctx, body, call)
		}
		constrained := maps.Clone(body)
		constrained["response_format"] = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "answer", "schema": schema, "strict": true},
		}
		return m.send(ctx, constrained, call)
	})
}

// send makes one request.
func (m *Model) send(ctx context.Context, body map[string]any, call llms.CallOptions) (*llms.ContentResponse, error) {
	answer, err := m.client.Post(ctx, "/chat/completions"+m.query, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var c completion
	if body["stream"] == true {
		err = c.stream(ctx, answer, call)
	} else {
		err = answer.Decode(ctx, &c)
	}
	if err != nil {
		return nil, err
	}
	return c.response(m.client.Provider, answer)
}
