package ollama

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// request becomes the body of POST /api/chat.
type request struct {
	model   string
	fields  map[string]any
	context int // num_ctx
	bytes   int // the size of the prompt's text
	images  int
	calls   int // tool calls in the conversation so far
}

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	Images     [][]byte   `json:"images,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// newRequest encodes a call, except for its reply's schema.
func (m *Model) newRequest(
	ctx context.Context, p lm.Params, messages []llms.MessageContent, options []llms.CallOption,
) (*request, error) {
	o := lm.Options(options)
	model := cmp.Or(o.Model, m.model)
	r := &request{model: model, fields: map[string]any{
		"model": model, "stream": wire.Streams(o), "truncate": false, "shift": false,
	}}
	var all []any // a message, or the JSON of one that Ollama wrote
	for _, message := range messages {
		encoded, err := r.encode(message)
		if err != nil {
			return nil, err
		}
		all = append(all, encoded...)
	}
	r.fields["messages"] = all
	if len(o.Tools) > 0 {
		r.fields["tools"] = o.Tools
		tools, _ := json.Marshal(o.Tools) // Post reports what cannot be encoded
		r.bytes += len(tools)
	}
	if o.JSONMode {
		r.fields["format"] = "json"
	}
	room := replyRoom
	if think := thinkOf(p); think != nil {
		if m.describe(ctx, model).thinking {
			r.fields["think"], room = think, thinkRoom
		}
	}
	limit := cmp.Or(o.MaxTokens, m.options.MaxTokens)
	room = cmp.Or(limit, room+p.ThinkingTokens)
	r.context = m.contextFor(ctx, model, r.bytes, room+r.images*imageSize+len(messages)*turnSize)
	r.fields["options"] = r.options(o, lm.SamplingOf(options), limit)
	return r, nil
}

// options returns the model's parameters: num_ctx, and those that the caller set.
func (r *request) options(o llms.CallOptions, s lm.Sampling, limit int) map[string]any {
	options := map[string]any{"num_ctx": r.context}
	if limit > 0 {
		options["num_predict"] = limit
	}
	if o.Seed != 0 {
		options["seed"] = o.Seed
	}
	if len(o.StopWords) > 0 {
		options["stop"] = o.StopWords
	}
	if s.Temperature != nil {
		options["temperature"] = *s.Temperature
	}
	if s.TopP != nil {
		options["top_p"] = *s.TopP
	}
	return options
}

// body returns the request's body, with the reply's schema if it is not nil.
func (r *request) body(schema json.RawMessage) map[string]any {
	body := maps.Clone(r.fields)
	if schema != nil {
		body["format"] = schema
	}
	return body
}

// thinkOf returns the request's "think". Nil leaves it to Ollama.
func thinkOf(p lm.Params) any {
	switch p.Effort {
	case "none":
		return false
	case "minimal":
		return "low"
	case "":
		if p.ThinkingTokens == 0 {
			return nil
		}
		return true
	}
	return p.Effort
}

var roles = map[llms.ChatMessageType]string{
	llms.ChatMessageTypeSystem: "system", llms.ChatMessageTypeAI: "assistant", llms.ChatMessageTypeTool: "tool",
}

// encode returns one message for the texts, attachments and tool calls of m, and one for each
// tool result. A reply that Ollama wrote is sent back verbatim.
func (r *request) encode(m llms.MessageContent) (all []any, err error) {
	own := &message{Role: cmp.Or(roles[m.Role], "user")}
	var texts []string
	var raw json.RawMessage
	attachments := 0
	for _, part := range m.Parts {
		switch p := part.(type) {
		case lm.Message:
			if p.Provider == provider {
				raw = p.Raw
			}
			texts = append(texts, p.Text)
		case llms.TextContent:
			texts = append(texts, p.Text)
		case llms.BinaryContent:
			attachments++
			text, err := own.attach(attachments, p)
			if err != nil {
				return nil, err
			}
			texts = append(texts, text...)
		case llms.ToolCall:
			own.ToolCalls = append(own.ToolCalls, callOf(p))
		case llms.ToolCallResponse:
			all = append(all, &message{Role: "tool", Content: p.Content, ToolName: p.Name, ToolCallID: p.ToolCallID})
			r.bytes += len(p.Content)
		case llms.ImageURLContent:
			return nil, wire.Invalid(
				"an attachment is a URL; ollama takes images only as data, so fetch it and pass the bytes")
		default:
			return nil, wire.Invalid("a message has a %T, which the Ollama provider cannot send", part)
		}
	}
	own.Content = strings.Join(texts, "\n")
	r.bytes += max(len(own.Content), len(raw))
	r.images += len(own.Images)
	r.calls += len(own.ToolCalls)
	switch {
	case raw != nil:
		all = append(all, raw)
	case own.Content != "" || len(own.Images)+len(own.ToolCalls) > 0:
		all = append(all, own)
	}
	return all, nil
}

// attach adds an image to the message, or returns the text of a file. Modules' prompts refer to attachments by their
// number within the message.
func (m *message) attach(number int, p llms.BinaryContent) (text []string, err error) {
	switch {
	case strings.HasPrefix(p.MIMEType, "image/"):
		m.Images = append(m.Images, p.Data)
		return nil, nil
	case utf8.Valid(p.Data) && p.MIMEType != "application/pdf":
		return []string{fmt.Sprintf("attachment %d:\n%s", number, p.Data)}, nil
	}
	return nil, wire.Invalid("attachment %d is of type %q; ollama takes only images and text", number, p.MIMEType)
}

// callOf encodes a tool call. Ollama accepts only an object as the arguments; anything else is sent as an empty one.
func callOf(call llms.ToolCall) toolCall {
	c := toolCall{ID: call.ID, Function: function{Arguments: json.RawMessage("{}")}}
	if f := call.FunctionCall; f != nil {
		c.Function.Name = f.Name
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(f.Arguments), &object) == nil && object != nil {
			c.Function.Arguments = json.RawMessage(f.Arguments)
		}
	}
	return c
}
