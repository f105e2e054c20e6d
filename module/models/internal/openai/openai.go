// Package openai is the provider of models that speak OpenAI's chat completions: OpenAI itself, and each provider and
// server that speaks a dialect of that protocol.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

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
	schemas   wire.Schemas
}

// New returns a model by its name. It makes no request.
func New(model string, o *wire.Options) (*Model, error) {
	if o == nil {
		o = &wire.Options{}
	}
	all := dialects()
	name := cmp.Or(o.Dialect, "openai")
	d, ok := all[name]
	if !ok {
		return nil, wire.Invalid("the dialect %q does not exist; choose one of %s", name,
			strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	if model == "" {
		return nil, wire.Invalid("the model has no name; pass one that %s knows", name)
	}
	key, err := wire.Key(o.Key, d.variable)
	if err != nil && !d.local {
		return nil, err
	}
	base, err := wire.BaseURL(cmp.Or(o.BaseURL, d.url))
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	d.name = name
	m := &Model{
		name: model, maxTokens: o.MaxTokens, dialect: d,
		client: wire.Client{
			Provider: name, Variable: d.variable, BaseURL: base, Header: header, Key: key, HTTP: o.Client,
			Extra: maps.Clone(o.Extra),
		},
	}
	can := lm.Capabilities{Model: model, Schema: !d.noSchema, Tools: true, Thinking: true, Vision: !d.noVision}
	m.CapableFunc = lm.CapableFunc{Func: m.generate, States: func() lm.Capabilities { return can }}
	return m, nil
}

// generate implements GenerateContent. An error is a *models.Error, or what a streaming function returned.
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
	return wire.Send(&m.schemas, model, params.Schema, func(schema json.RawMessage) (*llms.ContentResponse, error) {
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
	answer, err := m.client.Post(ctx, "/chat/completions", body)
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
	return c.response(m.dialect.name, answer)
}
