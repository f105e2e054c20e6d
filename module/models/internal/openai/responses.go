package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// Responses is an [llms.Model] that speaks OpenAI's Responses API. Nothing is stored at the provider: reasoning comes
// encrypted, and is sent back with the next turn. It is safe for concurrent use.
type Responses struct {
	*Model
	plain sync.Map // the models that have no reasoning to encrypt
}

// NewResponses returns the model with the given name. It makes no request. The dialect is openai-responses or
// azure-responses.
func NewResponses(model string, o *wire.Options) (*Responses, error) {
	chat := *o
	chat.Dialect = strings.TrimSuffix(o.Dialect, "-responses")
	inner, err := New(model, &chat)
	if err != nil {
		return nil, err
	}
	m := &Responses{Model: inner}
	m.client.Provider = o.Dialect // messages of chat completions are those of another provider
	m.dialect.maxTokens, m.dialect.think, m.dialect.noUsage = "max_output_tokens", reasoningEffort, true
	m.CapableFunc.Func = m.generate
	return m, nil
}

func reasoningEffort(body map[string]any, effort string, _ int) { openRouterReasoning(body, effort, 0) }

// generate implements GenerateContent. An error is a *models.Error or the error that a streaming function returned.
func (m *Responses) generate(
	ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
) (*llms.ContentResponse, error) {
	call, params := lm.Options(options), lm.ParamsOf(ctx)
	body, err := m.request(call, params, lm.SamplingOf(options))
	if err != nil {
		return nil, err
	}
	model := cmp.Or(call.Model, m.name)
	return m.schemas.Send(model, params.Schema, func(schema json.RawMessage) (*llms.ContentResponse, error) {
		body := maps.Clone(body)
		if schema != nil {
			body["text"] = map[string]any{"format": map[string]any{
				"type": "json_schema", "name": "answer", "schema": schema, "strict": true,
			}}
		}
		_, plain := m.plain.Load(model)
		response, err := m.send(ctx, body, messages, call, plain)
		if plain || !aboutReasoning(err) {
			return response, err
		}
		if strings.Contains(err.Error(), "not supported") {
			m.plain.Store(model, true)
		}
		return m.send(ctx, body, messages, call, true)
	})
}

var encrypted = regexp.MustCompile(`(?i)encrypted.?content`)

// aboutReasoning reports whether a provider rejected a request because of encrypted reasoning: the model does not
// reason, or another account has encrypted it.
func aboutReasoning(err error) bool {
	e, ok := errors.AsType[*lm.Error](err)
	return ok && e.Status == http.StatusBadRequest && encrypted.MatchString(e.Error())
}

// send makes one request. If plain is set, it is without reasoning.
func (m *Responses) send(ctx context.Context, body map[string]any, messages []llms.MessageContent,
	call llms.CallOptions, plain bool) (*llms.ContentResponse, error) {
	input, err := m.input(messages, plain)
	if err != nil {
		return nil, err
	}
	body["input"] = input
	if delete(body, "include"); !plain {
		body["include"] = []string{"reasoning.encrypted_content"}
	}
	answer, err := m.client.Post(ctx, "/responses"+m.query, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	if body["stream"] == true {
		return m.stream(ctx, answer, call)
	}
	var r response
	if err := answer.Decode(ctx, &r); err != nil {
		return nil, err
	}
	return r.response(m.client.Provider, answer)
}

// request returns a request's body without its input and schema: that of a chat completion, converted.
func (m *Responses) request(call llms.CallOptions, params lm.Params, sampling lm.Sampling) (map[string]any, error) {
	body, err := m.Model.request(call, params, sampling)
	for _, name := range []string{"stop", "n", "frequency_penalty", "presence_penalty"} {
		if body[name] != nil {
			return nil, wire.Invalid("OpenAI's Responses API has no %q; leave it out, or use chat completions", name)
		}
	}
	body["store"] = false
	delete(body, m.dialect.seed) // which the API lacks, and which chat completions follow only roughly
	if format := body["response_format"]; format != nil {
		delete(body, "response_format")
		body["text"] = map[string]any{"format": format}
	}
	tools, _ := body["tools"].([]any)
	for i, tool := range tools {
		// The API takes schemas for strict ones unless strict is false.
		flat := map[string]any{"type": "function", "strict": false, "parameters": json.RawMessage(`{"type":"object"}`)}
		maps.Copy(flat, tool.(map[string]any)["function"].(map[string]any))
		tools[i] = flat
	}
	if choice, ok := body["tool_choice"].(llms.ToolChoice); ok && choice.Function != nil {
		body["tool_choice"] = map[string]any{"type": "function", "name": choice.Function.Name}
	}
	return body, err
}
