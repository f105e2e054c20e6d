package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// input encodes a request's messages as items. If plain is set, it leaves out reasoning.
func (m *Responses) input(messages []llms.MessageContent, plain bool) (list []any, err error) {
	for i, message := range wire.CallIDs(messages, m.client.Provider, m.dialect.callID) {
		var items []any
		wrote, ok := message.Parts[0].(lm.Message)
		if ok && message.Role == llms.ChatMessageTypeAI && wrote.Provider == m.client.Provider && len(wrote.Raw) > 0 {
			items, err = returned(wrote.Raw, plain)
		} else {
			items, err = converted(message)
		}
		if err != nil {
			return nil, wire.Invalid("message %d (%s): %w", i+1, message.Role, err)
		}
		list = append(list, items...)
	}
	return list, nil
}

// converted encodes a message by way of the messages of a chat completion. Tool calls become an item each.
func converted(message llms.MessageContent) (items []any, err error) {
	m := Model{dialect: dialect{noEcho: true}}
	list, err := m.message(message)
	for _, l := range list {
		switch chat := l.(map[string]any); {
		case err != nil:
		case chat["role"] == "tool":
			items = append(items, map[string]any{
				"type": "function_call_output", "call_id": chat["tool_call_id"], "output": chat["content"],
			})
		case chat["role"] != "assistant":
			chat["content"], err = inputContent(chat["content"])
			items = append(items, chat)
		default:
			if text, _ := chat["content"].(string); text != "" { // the API refuses an empty text
				items = append(items, map[string]any{"role": "assistant", "content": text})
			}
			calls, _ := chat["tool_calls"].([]any)
			for _, c := range calls {
				call := c.(map[string]any)
				function := call["function"].(map[string]any)
				items = append(items, map[string]any{
					"type": "function_call", "call_id": call["id"], "name": function["name"],
					"arguments": cmp.Or(function["arguments"].(string), "{}"),
				})
			}
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
		part := p.(map[string]any)
		image, _ := part["image_url"].(map[string]any)
		file, _ := part["file"].(map[string]any)
		switch {
		case image != nil:
			detail, _ := image["detail"].(string)
			list[i] = map[string]any{"type": "input_image", "image_url": image["url"], "detail": cmp.Or(detail, "auto")}
		case file != nil:
			file["type"], list[i] = "input_file", file
		case part["type"] == "text":
			list[i] = map[string]any{"type": "input_text", "text": part["text"]}
		default:
			return nil, errors.New("OpenAI's Responses API does not take audio; use chat completions")
		}
	}
	return list, nil
}

// returned returns the items of a reply from this provider, verbatim except for reasoning that the API refuses: items
// without content, and items that are not followed by another kind. What followed such an item loses its id, by which
// the API would find out that the reasoning is missing.
func returned(raw json.RawMessage, plain bool) (items []any, err error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("the earlier reply in the conversation is not a list of items; remove it")
	}
	decoded := make([]outputItem, len(list)+1) // the last one, which does not exist, has no type
	for i := range list {
		if decoded[i], err = decodeItem(list[i]); err != nil {
			return nil, fmt.Errorf("item %d of the earlier reply in the conversation is malformed: %w", i+1, err)
		}
	}
	orphaned := false
	for i, item := range decoded[:len(list)] {
		next := decoded[i+1].Type
		var fields map[string]json.RawMessage
		switch {
		case item.Type == "reasoning":
			orphaned = plain || item.Encrypted == "" && len(item.Content) == 0 || next == "" || next == "reasoning"
			if !orphaned {
				items = append(items, list[i])
			}
		case orphaned && json.Unmarshal(list[i], &fields) == nil:
			delete(fields, "id")
			items = append(items, fields)
		default:
			items = append(items, list[i])
		}
	}
	return items, nil
}
