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
	lm.CapableFunc
	name      string
	maxTokens int
	client    wire.Client
	path      string
	schemas   wire.Schemas
	plain     sync.Map // the models that do not encrypt reasoning, because they have none
}

// NewResponses returns the model with the given name. It makes no request.
func NewResponses(model string, o *wire.Options) (*Responses, error) {
	client, query, err := connect(o.Dialect, dialects()[strings.TrimSuffix(o.Dialect, "-responses")], o)
	if err != nil {
		return nil, err
	}
	m := &Responses{name: model, maxTokens: o.MaxTokens, client: client, path: "/responses" + query}
	can := lm.Capabilities{Model: model, Schema: true, Tools: true, Thinking: true, Vision: true}
	m.CapableFunc = lm.CapableFunc{Func: m.generate, States: func() lm.Capabilities { return can }}
	return m, nil
}

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

// send makes one request. If plain is set, it is without encrypted reasoning.
func (m *Responses) send(ctx context.Context, body map[string]any, messages []llms.MessageContent,
	call llms.CallOptions, plain bool) (*llms.ContentResponse, error) {
	input, err := m.input(messages, plain)
	if err != nil {
		return nil, err
	}
	body["input"] = input
	delete(body, "include")
	if !plain {
		body["include"] = []string{"reasoning.encrypted_content"}
	}
	answer, err := m.client.Post(ctx, m.path, body)
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

// request returns a request's body without its input and schema.
func (m *Responses) request(call llms.CallOptions, params lm.Params, sampling lm.Sampling) (map[string]any, error) {
	if len(call.StopWords) > 0 || max(call.N, call.CandidateCount) > 1 ||
		call.FrequencyPenalty != 0 || call.PresencePenalty != 0 {
		return nil, wire.Invalid("OpenAI's Responses API has no stop words, penalties or several choices; leave them out, " +
			"or use chat completions")
	}
	body := map[string]any{"model": cmp.Or(call.Model, m.name), "store": false}
	set(body, "max_output_tokens", cmp.Or(call.MaxTokens, m.maxTokens))
	if sampling.Temperature != nil {
		body["temperature"] = *sampling.Temperature
	}
	if sampling.TopP != nil {
		body["top_p"] = *sampling.TopP
	}
	if params.Effort != "" {
		body["reasoning"] = map[string]any{"effort": params.Effort}
	}
	if call.JSONMode {
		body["text"] = map[string]any{"format": map[string]any{"type": "json_object"}}
	}
	set(body, "stream", wire.Streams(call))
	if err := setTools(body, call); err != nil {
		return nil, err
	}
	flattenTools(body)
	return body, nil
}

// flattenTools converts the tools of a chat completion. They are not strict unless that is set; the API would otherwise
// take their schemas for strict ones.
func flattenTools(body map[string]any) {
	tools, _ := body["tools"].([]any)
	for i, tool := range tools {
		function := tool.(map[string]any)["function"].(map[string]any)
		flat := map[string]any{
			"type": "function", "strict": false, "parameters": map[string]any{"type": "object", "properties": map[string]any{}},
		}
		maps.Copy(flat, function)
		tools[i] = flat
	}
	if choice, ok := body["tool_choice"].(llms.ToolChoice); ok && choice.Function != nil {
		body["tool_choice"] = map[string]any{"type": "function", "name": choice.Function.Name}
	}
}
