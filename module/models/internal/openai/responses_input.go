package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// input encodes a request's messages as items. If plain is set, it leaves out reasoning.
func (m *Responses) input(messages []llms.MessageContent, plain bool) ([]any, error) {
	var list []any
	for i, message := range messages {
		items, err := m.items(message, plain)
		if err != nil {
			return nil, wire.Invalid("message %d (%s): %w", i+1, message.Role, err)
		}
		list = append(list, items...)
	}
	return list, nil
}

// items encodes a message. It has an item for each tool call and each tool result.
func (m *Responses) items(message llms.MessageContent, plain bool) ([]any, error) {
	if message.Role == llms.ChatMessageTypeAI {
		wrote, ok := message.Parts[0].(lm.Message)
		if ok && wrote.Provider == m.client.Provider && len(wrote.Raw) > 0 {
			return returned(wrote.Raw, plain)
		}
	}
	chats := Model{dialect: dialect{noEcho: true}}
	list, err := chats.message(message)
	var items []any
	for _, item := range list {
		chat := item.(map[string]any)
		if chat["role"] == "tool" {
			items = append(items, map[string]any{
				"type": "function_call_output", "call_id": chat["tool_call_id"], "output": chat["content"],
			})
			continue
		}
		calls, _ := chat["tool_calls"].([]any)
		if text := chat["content"]; text != nil && (text != "" || chat["role"] != "assistant") {
			content, err := inputContent(text)
			if err != nil {
				return nil, err
			}
			items = append(items, map[string]any{"role": chat["role"], "content": content})
		}
		for _, c := range calls {
			call := c.(map[string]any)
			function := call["function"].(map[string]any)
			items = append(items, map[string]any{
				"type": "function_call", "call_id": call["id"], "name": function["name"],
				"arguments": cmp.Or(function["arguments"].(string), "{}"),
			})
		}
	}
	return items, err
}

// inputContent converts the content of a chat completion's message.
func inputContent(content any) (any, error) {
	parts, ok := content.([]any)
	if !ok {
		return content, nil
	}
	list := make([]any, len(parts))
	for i, p := range parts {
		switch part := p.(map[string]any); part["type"] {
		case "text":
			list[i] = map[string]any{"type": "input_text", "text": part["text"]}
		case "image_url":
			image := part["image_url"].(map[string]any)
			detail, _ := image["detail"].(string)
			list[i] = map[string]any{"type": "input_image", "image_url": image["url"], "detail": cmp.Or(detail, "auto")}
		case "file":
			file := part["file"].(map[string]any)
			list[i] = map[string]any{"type": "input_file", "filename": file["filename"], "file_data": file["file_data"]}
		default:
			return nil, errors.New("OpenAI's Responses API does not take audio; use chat completions")
		}
	}
	return list, nil
}

// returned returns the items of a reply from this provider, verbatim except for reasoning that the API would refuse:
// items without content, and items that nothing follows. The items that followed lose their ids, which refer to them.
func returned(raw json.RawMessage, plain bool) (items []any, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("the earlier reply in the conversation is not a list of items; remove it")
	}
	read := make([]outputItem, len(list)+1)
	for i := range list {
		if read[i], err = decodeItem(list[i]); err != nil {
			return nil, err
		}
	}
	orphaned := false
	for i, item := range list {
		if read[i].Type == "reasoning" {
			next := read[i+1].Type
			orphaned = plain || read[i].Encrypted == "" && len(read[i].Content) == 0 || next == "reasoning" || next == ""
			if !orphaned {
				items = append(items, item)
			}
			continue
		}
		if orphaned {
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(item, &fields); err != nil {
				return nil, err
			}
			delete(fields, "id")
			items = append(items, fields)
			continue
		}
		items = append(items, item)
	}
	return items, nil
}

// outputItem has the decoded fields of an item that the model wrote.
type outputItem struct {
	Type, Phase, Name string
	Arguments         json.RawMessage
	CallID            string `json:"call_id"`
	Encrypted         string `json:"encrypted_content"`
	Summary           []outputPart
	Content           []outputPart
}

type outputPart struct{ Type, Text, Refusal string }

// decodeItem decodes an item. Of items that are not a message, reasoning or a call of a function, it reads only the
// type, because their fields may be of other types.
func decodeItem(raw json.RawMessage) (item outputItem, err error) {
	var kind struct{ Type string }
	if err := json.Unmarshal(raw, &kind); err != nil {
		return item, err
	}
	switch kind.Type {
	case "message", "reasoning", "function_call":
		err = json.Unmarshal(raw, &item)
	}
	item.Type = cmp.Or(kind.Type, "unknown")
	return item, err
}

// text returns an item's text, and whether it is a refusal.
func (i outputItem) text() (text string, refused bool) {
	var all strings.Builder
	for _, part := range i.Content {
		all.WriteString(part.Text + part.Refusal)
		refused = refused || part.Refusal != ""
	}
	return all.String(), refused
}
