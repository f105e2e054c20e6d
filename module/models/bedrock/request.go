package bedrock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
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
	messages []wire.Turn
	called   []string // the tools that earlier replies called
	output   object
	fields   object // the remaining fields

	documents int // the number of documents so far
}

// newRequest encodes a call, except for its reply's schema.
func (m *model) newRequest(p lm.Params, messages []llms.MessageContent,
	options []llms.CallOption) (*request, error) {
	can := m.states()
	r := &request{claude: can.Thinking, output: object{}, fields: object{}}
	o, s := lm.Options(options), lm.SamplingOf(options)
	config, tokens := object{}, 0
	if g := anthropic.GenerationOf(m.base); r.claude {
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
	form := wire.Form{Provider: provider, CallID: wire.ClaudeID, Alternate: true, Raw: r.sentBack, Call: r.toolUse,
		Result: result, Attachment: r.attachment,
		Text: func(text string) object { return object{"text": text} }}
	var err error
	if r.system, r.messages, err = form.Conversation(messages); err != nil {
		return nil, err
	}
	cache := p.CacheSystem && can.Caching
	r.addTools(o, cache)
	if cache && len(r.system) > 0 {
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
		slices.Sort(r.called)
		for _, name := range slices.Compact(r.called) {
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

// sentBack returns the content of a reply that Bedrock sent. Only Claude takes its reasoning back, and only with a
// signature.
func (r *request) sentBack(m lm.Message, _ []llms.ContentPart) (content []any, err error) {
	var blocks []json.RawMessage
	if m.Provider != provider || json.Unmarshal(m.Raw, &blocks) != nil {
		return nil, nil
	}
	for _, raw := range blocks {
		var b block
		if json.Unmarshal(raw, &b) != nil || b.Text != nil && strings.TrimSpace(*b.Text) == "" ||
			b.Reasoning != nil && (!r.claude || b.Reasoning.Text.Signature == "" && b.Reasoning.Redacted == "") {
			continue
		}
		if b.ToolUse != nil {
			r.called = append(r.called, b.ToolUse.Name)
		}
		content = append(content, raw)
	}
	return content, nil
}

func (r *request) toolUse(call llms.ToolCall, _ bool) object {
	use := object{"toolUseId": call.ID, "input": wire.Arguments(call.FunctionCall)}
	if f := call.FunctionCall; f != nil {
		use["name"] = f.Name
		r.called = append(r.called, f.Name)
	}
	return object{"toolUse": use}
}

func result(p llms.ToolCallResponse) object {
	if strings.TrimSpace(p.Content) == "" {
		p.Content = "(empty)" // Bedrock rejects blank texts
	}
	return object{"toolResult": object{"toolUseId": p.ToolCallID, "content": []object{{"text": p.Content}}}}
}

// attachment encodes an image or a document.
func (r *request) attachment(number int, part llms.ContentPart) (object, error) {
	p, ok := part.(llms.BinaryContent)
	if !ok {
		return nil, wire.Invalid("a message has a %T, which Bedrock does not read; send attachments as bytes", part)
	}
	kind := wire.MediaType(p.MIMEType)
	class, format, _ := strings.Cut(kind, "/")
	source := object{"bytes": p.Data}
	switch {
	case class == "image":
		return object{"image": object{"format": format, "source": source}}, nil
	case class == "text" && format != "csv" && format != "html":
		format = "txt"
	case class != "text" && kind != "application/pdf":
		return nil, wire.Invalid("attachment %d is of type %q, which Bedrock does not read; "+
			"send an image, a PDF or text", number, kind)
	}
	r.documents++ // Bedrock rejects two documents of the same name
	name := fmt.Sprintf("attachment %d (document %d)", number, r.documents)
	return object{"document": object{"name": name, "format": format, "source": source}}, nil
}
