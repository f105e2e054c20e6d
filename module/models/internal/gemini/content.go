package gemini

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// conversation becomes the contents of a request.
type conversation struct {
	provider string
	signed   bool // the model requires thought signatures
	system   []any
	contents []content
	calls    map[string]call // the function calls so far, by id
}

type content struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"` // an object, or the JSON of one that the provider wrote
}

// call is a function call to which a later message may respond.
type call struct {
	name string
	id   string // as the provider wrote it; "" if it wrote none
}

// unsigned is the thought signature that Google documents for function calls that have none, such as those that
// another provider's model made.
const unsigned = "skip_thought_signature_validator"

// add appends a message. Consecutive function responses are merged, because the API expects the responses to all calls
// of a reply in one content.
func (c *conversation) add(m llms.MessageContent) error {
	role := "user"
	switch m.Role {
	case llms.ChatMessageTypeAI:
		role = "model"
	case llms.ChatMessageTypeSystem:
		role = "system"
	}
	parts, err := c.parts(m.Parts)
	switch {
	case err != nil:
		return err
	case len(parts) == 0:
		return nil // the API rejects empty contents
	case role == "system":
		for _, p := range parts {
			if o, _ := p.(object); o["text"] == nil {
				return wire.Invalid("a system message may have only text; move attachments to a human message")
			}
		}
		c.system = append(c.system, parts...)
		return nil
	}
	if n := len(c.contents); n > 0 && c.contents[n-1].Role == role && role == "user" &&
		responds(c.contents[n-1].Parts) == responds(parts) {
		c.contents[n-1].Parts = append(c.contents[n-1].Parts, parts...)
		return nil
	}
	c.contents = append(c.contents, content{role, parts})
	return nil
}

// responds reports whether parts are function responses.
func responds(parts []any) bool {
	first, _ := parts[0].(object)
	return first["functionResponse"] != nil
}

// parts encodes a message's parts. A reply that this service wrote is sent back as it was received.
func (c *conversation) parts(parts []llms.ContentPart) (list []any, err error) {
	attachments, calls := 0, 0
	for _, part := range parts {
		var encoded object
		switch p := part.(type) {
		case lm.Message:
			if raw := c.raw(p); raw != nil {
				return raw, nil
			}
			encoded = object{"text": p.Text}
		case llms.TextContent:
			encoded = object{"text": p.Text}
		case llms.ToolCall:
			calls++
			encoded = c.functionCall(p, calls == 1)
		case llms.ToolCallResponse:
			encoded = c.functionResponse(p)
		default:
			attachments++
			if encoded, err = attachment(attachments, part); err != nil {
				return nil, err
			}
		}
		if text, ok := encoded["text"].(string); !ok || text != "" { // the API rejects empty texts
			list = append(list, encoded)
		}
	}
	return list, nil
}

// raw returns the parts of a reply that this service wrote, or nil if it is another provider's reply.
func (c *conversation) raw(m lm.Message) (list []any) {
	var parts []json.RawMessage
	if m.Provider != c.provider || json.Unmarshal(m.Raw, &parts) != nil {
		return nil
	}
	calls := 0
	for _, raw := range parts {
		var p part
		if json.Unmarshal(raw, &p) != nil || p.blank() {
			continue
		}
		if p.FunctionCall == nil {
			list = append(list, raw)
			continue
		}
		calls++
		c.calls[p.FunctionCall.id(calls)] = call{p.FunctionCall.Name, p.FunctionCall.ID}
		list = append(list, c.signedCall(raw, &p, calls == 1))
	}
	return list
}

// signedCall returns a function call of an earlier reply. An older model may have written it without a signature.
func (c *conversation) signedCall(raw json.RawMessage, p *part, first bool) any {
	var fields map[string]json.RawMessage
	if !c.signed || !first || p.ThoughtSignature != "" || json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	fields["thoughtSignature"] = json.RawMessage(`"` + unsigned + `"`)
	return fields
}

// functionCall encodes a call that another provider's model made. Arguments that are not an object are left out. The
// API expects a signature only on the first call of a reply.
func (c *conversation) functionCall(t llms.ToolCall, first bool) object {
	f := object{}
	if t.FunctionCall != nil {
		c.calls[t.ID] = call{name: t.FunctionCall.Name}
		f["name"] = t.FunctionCall.Name
		var arguments map[string]json.RawMessage
		if json.Unmarshal([]byte(t.FunctionCall.Arguments), &arguments) == nil && arguments != nil {
			f["args"] = arguments
		}
	}
	encoded := object{"functionCall": f}
	if c.signed && first {
		encoded["thoughtSignature"] = unsigned
	}
	return encoded
}

// functionResponse encodes a result. It is sent as a string, because the API would round large numbers.
func (c *conversation) functionResponse(r llms.ToolCallResponse) object {
	call := c.calls[r.ToolCallID]
	if call.name == "" {
		call.name = r.Name
	}
	response := object{"name": call.name, "response": object{"output": r.Content}}
	set(response, "id", call.id)
	return object{"functionResponse": response}
}

// attachment encodes an image or another file. Modules' prompts refer to attachments by their number within the
// message.
func attachment(number int, part llms.ContentPart) (object, error) {
	switch p := part.(type) {
	case llms.BinaryContent:
		return binary(number, p.MIMEType, p.Data)
	case llms.ImageURLContent:
		file := object{"fileUri": p.URL}
		if u, err := url.Parse(p.URL); err == nil {
			set(file, "mimeType", mime.TypeByExtension(strings.ToLower(path.Ext(u.Path))))
		}
		return object{"fileData": file}, nil
	}
	return nil, wire.Invalid("a message has a %T, which the Gemini provider cannot send", part)
}

func binary(number int, mediaType string, data []byte) (object, error) {
	if plain, _, err := mime.ParseMediaType(mediaType); err == nil {
		mediaType = plain
	}
	switch class, _, _ := strings.Cut(mediaType, "/"); {
	case class == "image", class == "audio", class == "video", mediaType == "application/pdf":
		encoded := base64.StdEncoding.EncodeToString(data)
		return object{"inlineData": object{"mimeType": mediaType, "data": encoded}}, nil
	case utf8.Valid(data):
		return object{"text": fmt.Sprintf("attachment %d:\n%s", number, data)}, nil
	}
	return nil, wire.Invalid("attachment %d is of type %q, which Gemini does not read; send an image, audio, video, a "+
		"PDF or text", number, mediaType)
}
