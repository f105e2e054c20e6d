package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// request is what becomes the body of POST /v1/messages.
type request struct {
	system   []*block
	messages []message
	tools    []*tool
	fields   map[string]any // the others
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // a *block, or the JSON of one that the provider wrote
}

// block is one piece of content; its type says which fields it has.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	Title        string          `json:"title,omitempty"`
	Source       *source         `json:"source,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      string          `json:"content,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type tool struct {
	Name         string        `json:"name"`
	Description  string        `json:"description,omitempty"`
	InputSchema  any           `json:"input_schema"`
	CacheControl *cacheControl `json:"cache_control,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// newRequest is the request for messages, without a schema.
func (m *Model) newRequest(p lm.Params, messages []llms.MessageContent, options []llms.CallOption) (*request, error) {
	o, g := lm.Options(options), generationOf(m.model)
	think, effort, tokens := g.think(p)
	r := &request{fields: map[string]any{
		"model":      m.model,
		"max_tokens": cmp.Or(o.MaxTokens, m.options.MaxTokens, g.reply+tokens),
	}}
	if think != nil {
		r.fields["thinking"] = think
	}
	if effort != "" {
		r.fields["output_config"] = map[string]any{"effort": effort}
	}
	if len(o.StopWords) > 0 {
		r.fields["stop_sequences"] = o.StopWords
	}
	if streams(o) {
		r.fields["stream"] = true
	}
	if s := lm.SamplingOf(options); g.sampling && think == nil && s.Temperature != nil {
		r.fields["temperature"] = *s.Temperature
	} else if g.sampling && think == nil && s.TopP != nil { // the API takes only one of them
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

// body is the request with the schema of the reply, if that is not nil.
func (r *request) body(schema json.RawMessage) map[string]any {
	body := maps.Clone(r.fields)
	body["messages"] = r.messages
	if len(r.system) > 0 {
		body["system"] = r.system
	}
	if len(r.tools) > 0 {
		body["tools"] = r.tools
	}
	if schema != nil {
		config := map[string]any{"format": map[string]any{"type": "json_schema", "schema": schema}}
		if ours, ok := body["output_config"].(map[string]any); ok {
			maps.Copy(config, ours)
		}
		body["output_config"] = config
	}
	return body
}

// addTools takes over the tools of the call options and how they may be chosen.
func (r *request) addTools(o llms.CallOptions) {
	for _, t := range o.Tools {
		if t.Function == nil {
			continue
		}
		schema := t.Function.Parameters
		if schema == nil {
			schema = map[string]any{"type": "object"}
		}
		r.tools = append(r.tools, &tool{Name: t.Function.Name, Description: t.Function.Description, InputSchema: schema})
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
			r.fields["tool_choice"] = map[string]any{"type": choice}
		}
	case llms.ToolChoice:
		if choice.Function != nil {
			r.fields["tool_choice"] = map[string]any{"type": "tool", "name": choice.Function.Name}
		}
	}
}

// cache ends the part of the request that the provider should keep: the API puts tools
// before the system message.
func (r *request) cache() {
	if n := len(r.tools); n > 0 {
		r.tools[n-1].CacheControl = &cacheControl{"ephemeral"}
	}
	if n := len(r.system); n > 0 {
		r.system[n-1].CacheControl = &cacheControl{"ephemeral"}
	}
}

// add appends a message. Those of one role in a row become one, as the API demands for
// the results of several tool calls.
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
		return nil // the API refuses empty messages
	case role == "system":
		for _, b := range content {
			text, ok := b.(*block)
			if !ok || text.Type != "text" {
				return invalid("a system message may have only text; move attachments to a human message")
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

// contentOf is the content of a message. A reply of Claude's goes back as it came.
func contentOf(parts []llms.ContentPart) (content []any, err error) {
	attachments := 0
	for _, part := range parts {
		var b *block
		switch p := part.(type) {
		case lm.Message:
			if p.Provider == provider {
				return rawContent(p.Raw)
			}
			b = textBlock(p.Text)
		case llms.TextContent:
			b = textBlock(p.Text)
		case llms.ToolCall:
			b = toolUse(p)
		case llms.ToolCallResponse:
			b = &block{Type: "tool_result", ToolUseID: p.ToolCallID, Content: p.Content}
		default:
			attachments++
			if b, err = attachment(attachments, part); err != nil {
				return nil, err
			}
		}
		if b != nil {
			content = append(content, b)
		}
	}
	return content, nil
}

func rawContent(raw json.RawMessage) (content []any, err error) {
	var blocks []json.RawMessage
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, invalid("the earlier reply in the conversation is not an array of content blocks: %w", err)
	}
	for _, b := range blocks {
		content = append(content, b)
	}
	return content, nil
}

// textBlock returns nil for an empty text, which the API refuses.
func textBlock(text string) *block {
	if text == "" {
		return nil
	}
	return &block{Type: "text", Text: text}
}

// toolUse is a call that the model made. The API takes only objects as input.
func toolUse(call llms.ToolCall) *block {
	b := &block{Type: "tool_use", ID: call.ID, Input: json.RawMessage("{}")}
	if f := call.FunctionCall; f != nil {
		b.Name = f.Name
		if object := map[string]json.RawMessage(nil); json.Unmarshal([]byte(f.Arguments), &object) == nil && object != nil {
			b.Input = json.RawMessage(f.Arguments)
		}
	}
	return b
}

func invalid(format string, args ...any) error {
	return &lm.Error{Kind: lm.Invalid, Err: fmt.Errorf(format, args...)}
}
