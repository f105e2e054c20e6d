package anthropic

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// object is a JSON object.
type object = map[string]any

// request becomes the body of POST /v1/messages.
type request struct {
	system   []object
	messages []wire.Turn
	tools    []object
	fields   object // the remaining fields
}

// defaultTokens limits a reply if the caller sets no limit, since the API requires one.
const defaultTokens = 16_000

// newRequest encodes a call, except for its reply's schema.
func (m *Model) newRequest(
	model string, p lm.Params, messages []llms.MessageContent, options []llms.CallOption,
) (*request, error) {
	o, g := lm.Options(options), GenerationOf(model)
	think, effort, tokens := g.Think(p)
	r := &request{fields: object{
		"model":      model,
		"max_tokens": cmp.Or(o.MaxTokens, m.maxTokens, defaultTokens+tokens),
	}}
	if think != nil {
		r.fields["thinking"] = think
	}
	if effort != "" {
		r.fields["output_config"] = object{"effort": effort}
	}
	if len(o.StopWords) > 0 {
		r.fields["stop_sequences"] = o.StopWords
	}
	if wire.Streams(o) {
		r.fields["stream"] = true
	}
	if s := lm.SamplingOf(options); g.Sampling && think == nil && s.Temperature != nil {
		r.fields["temperature"] = *s.Temperature
	} else if g.Sampling && think == nil && s.TopP != nil { // the API takes only one of them
		r.fields["top_p"] = *s.TopP
	}
	var err error
	if r.system, r.messages, err = form().Conversation(messages); err != nil {
		return nil, err
	}
	r.addTools(o)
	if p.CacheSystem {
		r.cache()
	}
	return r, nil
}

// body returns the request's body, with the reply's schema if it is not nil.
func (r *request) body(schema json.RawMessage) object {
	body := maps.Clone(r.fields)
	body["messages"] = r.messages
	if len(r.system) > 0 {
		body["system"] = r.system
	}
	if len(r.tools) > 0 {
		body["tools"] = r.tools
	}
	if schema != nil {
		config := object{"format": object{"type": "json_schema", "schema": schema}}
		if ours, ok := body["output_config"].(object); ok {
			maps.Copy(config, ours)
		}
		body["output_config"] = config
	}
	return body
}

// addTools encodes the tools and the tool choice of the call options.
func (r *request) addTools(o llms.CallOptions) {
	for _, t := range o.Tools {
		if f := t.Function; f != nil {
			schema := f.Parameters
			if schema == nil {
				schema = object{"type": "object"}
			}
			r.tools = append(r.tools, object{"name": f.Name, "description": f.Description, "input_schema": schema})
		}
	}
	if len(r.tools) == 0 {
		return
	}
	switch choice := o.ToolChoice.(type) {
	case string:
		if choice == "required" {
			choice = "any"
		}
		if choice != "" {
			r.fields["tool_choice"] = object{"type": choice}
		}
	case llms.ToolChoice:
		if choice.Function != nil {
			r.fields["tool_choice"] = object{"type": "tool", "name": choice.Function.Name}
		}
	}
}

// cache marks the end of the tools and of the system message as cache breakpoints. The API puts the tools first.
func (r *request) cache() {
	for _, list := range [][]object{r.tools, r.system} {
		if n := len(list); n > 0 {
			list[n-1]["cache_control"] = object{"type": "ephemeral"}
		}
	}
}

func form() *wire.Form {
	return &wire.Form{
		Provider: provider, CallID: wire.ClaudeID, Alternate: true, Raw: rawContent, Call: toolUse,
		Attachment: attachment,
		Text:       func(text string) object { return object{"type": "text", "text": text} },
		Result: func(p llms.ToolCallResponse) object {
			return object{"type": "tool_result", "tool_use_id": p.ToolCallID, "content": p.Content}
		},
	}
}

// rawContent returns the content of a reply that Claude wrote, which is sent back verbatim.
func rawContent(m lm.Message, _ []llms.ContentPart) (content []any, err error) {
	if m.Provider != provider {
		return nil, nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(m.Raw, &blocks); err != nil {
		return nil, wire.Invalid("the earlier reply in the conversation is not an array of content blocks: %w", err)
	}
	for _, b := range blocks {
		var read struct{ Type, Text string }
		if json.Unmarshal(b, &read) == nil && read.Type == "text" && strings.TrimSpace(read.Text) == "" {
			continue // the API rejects blank text, even text that the model wrote
		}
		content = append(content, b)
	}
	return content, nil
}

// toolUse encodes a tool call.
func toolUse(call llms.ToolCall, _ bool) object {
	block := object{"type": "tool_use", "id": call.ID, "input": wire.Arguments(call.FunctionCall)}
	if f := call.FunctionCall; f != nil {
		block["name"] = f.Name
	}
	return block
}
