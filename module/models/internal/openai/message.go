package openai

import (
	"encoding/base64"
	"fmt"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// messages encodes a request's messages.
func (m *Model) messages(messages []llms.MessageContent) ([]any, error) {
	var list []any
	for i, message := range wire.CallIDs(messages, m.client.Provider, m.dialect.callID) {
		more, err := m.message(message)
		if err != nil {
			return nil, wire.Invalid("message %d (%s): %w", i+1, message.Role, err)
		}
		list = append(list, more...)
	}
	return list, nil
}

// message encodes a message. Tool results become one message each.
func (m *Model) message(message llms.MessageContent) ([]any, error) {
	switch message.Role {
	case llms.ChatMessageTypeSystem:
		content, err := content(message.Parts)
		return []any{map[string]any{"role": "system", "content": content}}, err
	case llms.ChatMessageTypeHuman, llms.ChatMessageTypeGeneric:
		content, err := content(message.Parts)
		return []any{map[string]any{"role": "user", "content": content}}, err
	case llms.ChatMessageTypeAI:
		return m.assistant(message.Parts)
	case llms.ChatMessageTypeTool:
		return results(message.Parts)
	}
	return nil, fmt.Errorf("the role is not supported; use system, human, ai or tool")
}

// assistant encodes a reply from the model. A reply from this provider is sent back verbatim.
func (m *Model) assistant(parts []llms.ContentPart) ([]any, error) {
	wrote, ok := parts[0].(lm.Message)
	if ok && wrote.Provider == m.client.Provider && len(wrote.Raw) > 0 && !m.dialect.noEcho {
		return []any{wrote.Raw}, nil
	}
	var texts []string
	var calls []any
	for _, part := range parts {
		switch p := part.(type) {
		case lm.Message:
			texts = append(texts, p.Text)
		case llms.TextContent:
			texts = append(texts, p.Text)
		case llms.ToolCall:
			if p.FunctionCall == nil {
				return nil, fmt.Errorf("the tool call %q has no function; set ToolCall.FunctionCall", p.ID)
			}
			function := map[string]any{"name": p.FunctionCall.Name, "arguments": p.FunctionCall.Arguments}
			calls = append(calls, map[string]any{"id": p.ID, "type": "function", "function": function})
		default:
			return nil, unknownPart(part)
		}
	}
	message := map[string]any{"role": "assistant", "content": strings.Join(texts, "\n")}
	if calls != nil {
		message["tool_calls"] = calls
		if message["content"] == "" {
			message["content"] = nil
		}
	}
	return []any{message}, nil
}

// results encodes tool results, one message each.
func results(parts []llms.ContentPart) ([]any, error) {
	var list []any
	for _, part := range parts {
		p, ok := part.(llms.ToolCallResponse)
		if !ok {
			return nil, unknownPart(part)
		}
		list = append(list, map[string]any{"role": "tool", "tool_call_id": p.ToolCallID, "content": p.Content})
	}
	return list, nil
}

func unknownPart(part llms.ContentPart) error {
	return fmt.Errorf("a part of type %T is not allowed in this message; move it to a message with the role for that "+
		"type", part)
}

// content encodes text parts as one string, since some servers accept nothing else, and other parts as a list.
func content(parts []llms.ContentPart) (any, error) {
	var texts []string
	var list []any
	for i, part := range parts {
		encoded, err := encode(i+1, part)
		if err != nil {
			return nil, err
		}
		if text, ok := encoded["text"].(string); ok {
			texts = append(texts, text)
		}
		list = append(list, encoded)
	}
	if len(texts) == len(list) {
		return strings.Join(texts, "\n"), nil
	}
	return list, nil
}

// encode encodes a part as OpenAI documents it: images as URLs, audio in two formats, text as
// text, other files by their name and content.
func encode(number int, part llms.ContentPart) (map[string]any, error) {
	switch p := part.(type) {
	case llms.TextContent:
		return textPart(p.Text), nil
	case llms.ImageURLContent:
		return imagePart(p.URL, p.Detail), nil
	case llms.BinaryContent:
		return encodeFile(number, p), nil
	}
	return nil, unknownPart(part)
}

func encodeFile(number int, p llms.BinaryContent) map[string]any {
	kind := p.MIMEType
	if plain, _, err := mime.ParseMediaType(kind); err == nil {
		kind = plain
	}
	data := base64.StdEncoding.EncodeToString(p.Data)
	url := "data:" + kind + ";base64," + data
	switch class, format, _ := strings.Cut(kind, "/"); {
	case class == "image":
		return imagePart(url, "")
	case class == "audio" && slices.Contains([]string{"wav", "wave", "x-wav", "vnd.wave"}, format):
		return map[string]any{"type": "input_audio", "input_audio": map[string]any{"data": data, "format": "wav"}}
	case class == "audio" && (format == "mpeg" || format == "mp3"):
		return map[string]any{"type": "input_audio", "input_audio": map[string]any{"data": data, "format": "mp3"}}
	case (class == "text" || format == "json" || format == "xml" || format == "yaml") && utf8.Valid(p.Data):
		return textPart(fmt.Sprintf("attachment %d:\n%s", number, p.Data))
	default:
		if len(format) > 5 || strings.Trim(format, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			format = "bin"
		}
		name := fmt.Sprintf("attachment-%d.%s", number, format) // the API requires one
		return map[string]any{"type": "file", "file": map[string]any{"filename": name, "file_data": url}}
	}
}

func textPart(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func imagePart(url, detail string) map[string]any {
	image := map[string]any{"url": url}
	set(image, "detail", detail)
	return map[string]any{"type": "image_url", "image_url": image}
}
