package bedrock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/anthropic"
	"github.com/writ-go/writ/module/models/internal/wire"
)

type object = map[string]any

// request becomes the body of Converse.
type request struct {
	claude   bool
	system   []object
	messages []message
	called   []string // the tools that earlier replies called
	output   object
	fields   object // the remaining fields
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // an object, or the JSON of one that the model wrote
}

// newRequest encodes a call, except for its reply's schema.
func (m *model) newRequest(p lm.Params, g anthropic.Generation, messages []llms.MessageContent,
	options []llms.CallOption) (*request, error) {
	r := &request{claude: m.claude, output: object{}, fields: object{}}
	o, s := lm.Options(options), lm.SamplingOf(options)
	config, tokens := object{}, 0
	if m.claude {
		thinking, effort, budget := g.Think(p)
		if thinking != nil {
			r.fields["additionalModelRequestFields"] = object{"thinking": thinking}
			tokens = 16_000 + budget
		}
		if effort != "" {
			r.output["effort"] = effort
		}
		if !g.Sampling || thinking != nil {
			s = lm.Sampling{}
		}
	}
	if limit := cmp.Or(o.MaxTokens, m.maxTokens, tokens); limit > 0 {
		config["maxTokens"] = limit
	}
	if s.Temperature != nil {
		config["temperature"] = *s.Temperature
	} else if s.TopP != nil { // Claude takes only one of them
		config["topP"] = *s.TopP
	}
	if len(o.StopWords) > 0 {
		config["stopSequences"] = o.StopWords
	}
	if len(config) > 0 {
		r.fields["inferenceConfig"] = config
	}
	for _, message := range messages {
		if err := r.add(message); err != nil {
			return nil, err
		}
	}
	r.addTools(o, p.CacheSystem)
	if p.CacheSystem && len(r.system) > 0 {
		r.system = append(r.system, cachePoint())
	}
	return r, nil
}

func cachePoint() object { return object{"cachePoint": object{"type": "default"}} }

// body returns the request's body, with the reply's schema if it is not nil.
func (r *request) body(schema json.RawMessage) object {
	body, output := maps.Clone(r.fields), maps.Clone(r.output)
	body["messages"] = r.messages
	if len(r.system) > 0 {
		body["system"] = r.system
	}
	if schema != nil {
		output["textFormat"] = object{"type": "json_schema",
			"structure": object{"jsonSchema": object{"name": "answer", "schema": string(schema)}}}
	}
	if len(output) > 0 {
		body["outputConfig"] = output
	}
	return body
}

// addTools encodes the tools and the tool choice of the call options. Bedrock rejects messages with tool calls if the
// request declares no tools; then the tools that were called are declared.
func (r *request) addTools(o llms.CallOptions, cache bool) {
	var tools []object
	declare := func(name, description string, schema any) {
		if schema == nil {
			schema = object{"type": "object"}
		}
		spec := object{"name": name, "inputSchema": object{"json": schema}}
		if description != "" {
			spec["description"] = description
		}
		tools = append(tools, object{"toolSpec": spec})
	}
	for _, t := range o.Tools {
		if f := t.Function; f != nil {
			declare(f.Name, f.Description, f.Parameters)
		}
	}
	if len(tools) == 0 {
		for _, name := range r.called {
			declare(name, "No longer available. Do not call it.", nil)
		}
	}
	if len(tools) == 0 {
		return
	}
	if cache {
		tools = append(tools, cachePoint())
	}
	config := object{"tools": tools}
	switch choice := o.ToolChoice.(type) {
	case string:
		if choice == "required" || choice == "any" {
			config["toolChoice"] = object{"any": object{}}
		}
	case llms.ToolChoice:
		if choice.Function != nil {
			config["toolChoice"] = object{"tool": object{"name": choice.Function.Name}}
		}
	}
	r.fields["toolConfig"] = config
}

// add appends a message. Consecutive messages with the same role are merged, because Bedrock requires that the roles
// alternate.
func (r *request) add(m llms.MessageContent) error {
	role := "user"
	if m.Role == llms.ChatMessageTypeAI {
		role = "assistant"
	}
	content, err := r.content(m.Parts)
	if err != nil || len(content) == 0 { // Bedrock rejects empty messages
		return err
	}
	if m.Role == llms.ChatMessageTypeSystem {
		for _, b := range content {
			text, _ := b.(object)
			if text["text"] == nil {
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

// content encodes a message's parts. A reply that Bedrock sent is sent back as it was received.
func (r *request) content(parts []llms.ContentPart) (content []any, err error) {
	attachments := 0
	for _, part := range parts {
		var encoded object
		switch p := part.(type) {
		case lm.Message:
			var blocks []json.RawMessage
			if p.Provider == provider && json.Unmarshal(p.Raw, &blocks) == nil {
				return r.sentBack(blocks), nil
			}
			encoded = object{"text": p.Text}
		case llms.TextContent:
			encoded = object{"text": p.Text}
		case llms.ToolCall:
			encoded = r.toolUse(p)
		case llms.ToolCallResponse:
			text := p.Content
			if strings.TrimSpace(text) == "" {
				text = "(empty)" // Bedrock rejects blank texts
			}
			encoded = object{"toolResult": object{"toolUseId": p.ToolCallID, "content": []object{{"text": text}}}}
		case llms.BinaryContent:
			attachments++
			if encoded, err = binary(attachments, p); err != nil {
				return nil, err
			}
		default:
			return nil, wire.Invalid("a message has a %T, which Bedrock does not read; send attachments as bytes", part)
		}
		if text, is := encoded["text"].(string); !is || strings.TrimSpace(text) != "" {
			content = append(content, encoded)
		}
	}
	return content, nil
}

// sentBack returns the blocks of an earlier reply. Only Claude takes its reasoning back, and only with a signature.
func (r *request) sentBack(blocks []json.RawMessage) (content []any) {
	for _, raw := range blocks {
		var b block
		if json.Unmarshal(raw, &b) != nil || b.Text != nil && strings.TrimSpace(*b.Text) == "" ||
			b.Reasoning != nil && (!r.claude || b.Reasoning.Text.Signature == "" && b.Reasoning.Redacted == "") {
			continue
		}
		if b.ToolUse != nil && !slices.Contains(r.called, b.ToolUse.Name) {
			r.called = append(r.called, b.ToolUse.Name)
		}
		content = append(content, raw)
	}
	return content
}

// toolUse encodes a tool call. Bedrock accepts only an object as the input; anything else is sent as an empty one.
func (r *request) toolUse(call llms.ToolCall) object {
	use := object{"toolUseId": call.ID, "input": object{}}
	if f := call.FunctionCall; f != nil {
		use["name"] = f.Name
		if !slices.Contains(r.called, f.Name) {
			r.called = append(r.called, f.Name)
		}
		var input map[string]json.RawMessage
		if json.Unmarshal([]byte(f.Arguments), &input) == nil && input != nil {
			use["input"] = input
		}
	}
	return object{"toolUse": use}
}

// binary encodes an image or a document.
func binary(number int, p llms.BinaryContent) (object, error) {
	kind := p.MIMEType
	if plain, _, err := mime.ParseMediaType(kind); err == nil {
		kind = plain
	}
	class, format, _ := strings.Cut(kind, "/")
	source := object{"bytes": p.Data}
	switch {
	case class == "image":
		return object{"image": object{"format": format, "source": source}}, nil
	case class == "text" && format != "csv" && format != "html":
		format = "txt"
	case class != "text" && kind != "application/pdf":
		return nil, wire.Invalid("attachment %d is of type %q, which Bedrock does not read; send an image, a PDF or text",
			number, kind)
	}
	return object{"document": object{"name": fmt.Sprintf("attachment %d", number), "format": format, "source": source}},
		nil
}
