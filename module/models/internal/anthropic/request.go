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
	messages []message
	tools    []object
	fields   object // the remaining fields
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // an object, or the JSON of one that the provider wrote
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
	for _, message := range messages {
		if err := r.add(message); err != nil {
			return nil, err
		}
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

// add appends a message. Consecutive messages with the same role are merged, because the API expects the results of all
// tool calls in one message.
func (r *request) add(m llms.MessageContent) error {
	role := "user"
	switch m.Role {
	case llms.ChatMessageTypeAI:
		role = "assistant"
	case llms.ChatMessageTypeSystem:
		role = "system"
	}
	content, err := contentOf(m.Parts)
	switch {
	case err != nil:
		return err
	case len(content) == 0:
		return nil // the API rejects empty messages
	case role == "system":
		for _, b := range content {
			text, _ := b.(object)
			if text["type"] != "text" {
				return wire.Invalid("a system message may have only text; move attachments to a human message")
			}
			r.system = append(r.system, text)
		}
		return nil
	}
	if n := len(r.messages); n > 0 && r.messages[n-1].Role == role {
		r.messages[n-1].Content = append(r.messages[n-1].Content, content...)
		return nil
	}
	r.messages = append(r.messages, message{role, content})
	return nil
}

// contentOf encodes a message's content. A reply that Claude wrote is sent back verbatim.
func contentOf(parts []llms.ContentPart) (content []any, err error) {
	attachments := 0
	for _, part := range parts {
		var block object
		switch p := part.(type) {
		case lm.Message:
			if p.Provider == provider {
				return rawContent(p.Raw)
			}
			block = object{"type": "text", "text": p.Text}
		case llms.TextContent:
			block = object{"type": "text", "text": p.Text}
		case llms.ToolCall:
			block = toolUse(p)
		case llms.ToolCallResponse:
			block = object{"type": "tool_result", "tool_use_id": p.ToolCallID, "content": p.Content}
		default:
			attachments++
			if block, err = attachment(attachments, part); err != nil {
				return nil, err
			}
		}
		if text, is := block["text"].(string); !is || strings.TrimSpace(text) != "" { // the API rejects blank texts
			content = append(content, block)
		}
	}
	return content, nil
}

func rawContent(raw json.RawMessage) (content []any, err error) {
	var blocks []json.RawMessage
	if err := json.Unmarshal(raw, &blocks); err != nil {
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

// toolUse encodes a tool call. The API accepts only an object as the input; anything else is sent as an empty one.
func toolUse(call llms.ToolCall) object {
	block := object{"type": "tool_use", "id": call.ID, "input": object{}}
	if f := call.FunctionCall; f != nil {
		block["name"] = f.Name
		var input map[string]json.RawMessage
		if json.Unmarshal([]byte(f.Arguments), &input) == nil && input != nil {
			block["input"] = input
		}
	}
	return block
}
