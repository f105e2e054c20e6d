package openai

import (
	"cmp"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// request returns a request's body without its messages and schema.
func (m *Model) request(call llms.CallOptions, params lm.Params, sampling lm.Sampling) (map[string]any, error) {
	d := m.dialect
	body := map[string]any{"model": cmp.Or(call.Model, m.name)}
	set(body, d.maxTokens, cmp.Or(call.MaxTokens, m.maxTokens))
	set(body, d.seed, call.Seed)
	set(body, "frequency_penalty", call.FrequencyPenalty)
	set(body, "presence_penalty", call.PresencePenalty)
	if n := max(call.N, call.CandidateCount); n > 1 {
		body["n"] = n
	}
	if sampling.Temperature != nil {
		body["temperature"] = *sampling.Temperature
	}
	if sampling.TopP != nil {
		body["top_p"] = *sampling.TopP
	}
	if len(call.StopWords) > 0 {
		body["stop"] = call.StopWords
	}
	if call.JSONMode {
		body["response_format"] = map[string]any{"type": "json_object"}
	}
	d.think(body, params.Effort, params.ThinkingTokens)
	if wire.Streams(call) {
		body["stream"] = true
		if !d.noUsage {
			body["stream_options"] = map[string]any{"include_usage": true}
		}
	}
	return body, setTools(body, call)
}

// set sets a field unless the value is zero.
func set[T comparable](body map[string]any, name string, value T) {
	var zero T
	if value != zero {
		body[name] = value
	}
}

func setTools(body map[string]any, call llms.CallOptions) error {
	if len(call.Tools) == 0 {
		return nil
	}
	var tools []any
	for i, t := range call.Tools {
		if t.Function == nil || t.Function.Name == "" {
			return wire.Invalid("tool %d has no function with a name; set Tool.Function", i+1)
		}
		function := map[string]any{"name": t.Function.Name, "description": t.Function.Description}
		if t.Function.Parameters != nil {
			function["parameters"] = t.Function.Parameters
		}
		set(function, "strict", t.Function.Strict)
		tools = append(tools, map[string]any{"type": "function", "function": function})
	}
	body["tools"] = tools
	if call.ToolChoice != nil {
		body["tool_choice"] = call.ToolChoice // a word or an llms.ToolChoice, whose JSON is OpenAI's
	}
	return nil
}
