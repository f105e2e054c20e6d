package gemini

import (
	"cmp"
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

// conversation encodes the parts of a request's contents.
type conversation struct {
	provider string
	signed   bool            // the model requires thought signatures
	calls    map[string]call // the function calls so far, by id
}

type content struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"`
}

// call is a function call to which a later message may respond.
type call struct {
	name string
	id   string // as the provider wrote it; "" if it wrote none
}

// unsigned is the thought signature that Google documents for function calls that have none, such as those that
// another provider's model made.
const unsigned = "skip_thought_signature_validator"

// contents encodes messages. Only the responses to all calls of a reply are in one content.
func (c *conversation) contents(messages []llms.MessageContent) (system []object, contents []content, err error) {
	form := wire.Form{Raw: c.raw, Call: c.functionCall, Result: c.functionResponse, Attachment: attachment,
		Text: func(text string) object { return object{"text": text} }}
	system, turns, err := form.Conversation(messages)
	for _, t := range turns {
		if t.Role == "assistant" {
			t.Role = "model"
		}
		contents = append(contents, content{t.Role, t.Content})
	}
	return system, contents, err
}

// raw returns the parts of a reply that this service wrote. The calls after the message have their ids.
func (c *conversation) raw(m lm.Message, more []llms.ContentPart) (list []any, err error) {
	var parts []json.RawMessage
	if m.Provider != c.provider || json.Unmarshal(m.Raw, &parts) != nil {
		return nil, nil
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
		if calls < len(more) {
			if t, ok := more[calls].(llms.ToolCall); ok {
				c.calls[t.ID] = call{p.FunctionCall.Name, p.FunctionCall.ID}
			}
		}
		calls++
		list = append(list, c.signedCall(raw, &p, calls == 1))
	}
	return list, nil
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

// functionCall encodes a call that another provider's model made. Only the first call of a reply needs a signature.
func (c *conversation) functionCall(t llms.ToolCall, first bool) object {
	f := object{"args": wire.Arguments(t.FunctionCall)}
	if t.FunctionCall != nil {
		c.calls[t.ID] = call{name: t.FunctionCall.Name}
		f["name"] = t.FunctionCall.Name
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
	response := object{"name": cmp.Or(call.name, r.Name), "response": object{"output": r.Content}}
	set(response, "id", call.id)
	return object{"functionResponse": response}
}

// attachment encodes an image or another file.
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
	mediaType = wire.MediaType(mediaType)
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
