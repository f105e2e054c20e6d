package stub

import (
	"fmt"
	"slices"
	"strings"
)

// anthropicBlocks are the fields of the blocks of content.
var anthropicBlocks = map[string][]string{
	"text":              {"cache_control", "citations", "text", "type"},
	"image":             {"cache_control", "source", "type"},
	"document":          {"cache_control", "citations", "context", "source", "title", "type"},
	"tool_use":          {"cache_control", "id", "input", "name", "type"},
	"tool_result":       {"cache_control", "content", "is_error", "tool_use_id", "type"},
	"thinking":          {"signature", "thinking", "type"},
	"redacted_thinking": {"data", "type"},
}

// anthropicMessages checks that roles alternate, that the blocks are valid, that the next
// message has the result of each tool call, and that thoughts come back unchanged.
func anthropicMessages(r Request, _ *Options) string {
	messages, _ := r.Body["messages"].([]any)
	if len(messages) == 0 {
		return "messages: at least one message is required"
	}
	var open []string // tool calls of the previous message
	var before any
	for i, item := range messages {
		m, _ := item.(map[string]any)
		role := m["role"]
		switch {
		case role != "user" && role != "assistant":
			return fmt.Sprintf(`messages: Unexpected role "%v". The Messages API accepts a top-level `+"`system`"+
				` parameter, not "system" as an input message role.`, role)
		case role == before:
			return fmt.Sprintf(`messages: roles must alternate between "user" and "assistant", `+
				`but found multiple "%v" roles in a row`, role)
		case i == 0 && role != "user":
			return "messages: first message must use the \"user\" role"
		}
		before = role
		blocks, ok := m["content"].([]any)
		if text, _ := m["content"].(string); text != "" {
			blocks, ok = []any{map[string]any{"type": "text", "text": text}}, true
		}
		if !ok || len(blocks) == 0 {
			return fmt.Sprintf("messages.%d: all messages must have non-empty content "+
				"except for the optional final assistant message", i)
		}
		calls, problem := anthropicContent(i, blocks, open)
		if problem != "" {
			return problem
		}
		if len(calls) > 0 && role == "user" {
			return fmt.Sprintf("messages.%d: `tool_use` blocks can only be in `assistant` messages", i)
		}
		open = calls
	}
	if len(open) > 0 {
		return unfinished(len(messages)-1, open)
	}
	return anthropicThoughts(r, messages)
}

// anthropicContent checks the blocks of a message, and returns the ids of its tool calls.
func anthropicContent(i int, blocks []any, open []string) (calls []string, problem string) {
	for k, b := range blocks {
		block, _ := b.(map[string]any)
		at := fmt.Sprintf("messages.%d.content.%d", i, k)
		kind, _ := block["type"].(string)
		fields, known := anthropicBlocks[kind]
		if !known {
			return nil, fmt.Sprintf("%s: Input tag '%s' found using 'type' does not match any of the expected tags", at, kind)
		}
		if problem := extra(block, fields...); problem != "" {
			return nil, fmt.Sprintf("%s.%s.%s", at, kind, problem)
		}
		text, _ := block["text"].(string)
		id, _ := block["tool_use_id"].(string)
		_, isObject := block["input"].(map[string]any)
		switch {
		case kind == "text" && text == "":
			return nil, "messages: text content blocks must be non-empty"
		case kind == "tool_use" && !isObject:
			return nil, at + ".tool_use.input: Input should be a valid dictionary"
		case kind == "tool_use":
			calls = append(calls, fmt.Sprint(block["id"]))
		case kind == "tool_result" && !slices.Contains(open, id):
			return nil, fmt.Sprintf("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block "+
				"must have a corresponding `tool_use` block in the previous message.", at, id)
		case kind == "tool_result":
			open = slices.DeleteFunc(slices.Clone(open), func(s string) bool { return s == id })
		case len(open) > 0:
			return nil, unfinished(i-1, open)
		case kind == "thinking" || kind == "redacted_thinking":
			if problem := tampered(block); problem != "" {
				return nil, at + ": " + problem
			}
		}
	}
	if len(open) > 0 {
		return nil, unfinished(i-1, open)
	}
	return calls, ""
}

func unfinished(i int, ids []string) string {
	return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		i, strings.Join(ids, ", "))
}

// tampered returns the complaint about a thought that was changed, or "".
func tampered(block map[string]any) string {
	if block["type"] == "thinking" {
		if thought, _ := block["thinking"].(string); block["signature"] != signature(thought) {
			return "Invalid `signature` in `thinking` block"
		}
		return ""
	}
	data, _ := block["data"].(string)
	if secret, signed, _ := strings.Cut(data, "."); signed != signature(secret) {
		return "Invalid `data` in `redacted_thinking` block"
	}
	return ""
}

// anthropicThoughts checks that the last reply begins with thinking, if it called tools.
func anthropicThoughts(r Request, messages []any) string {
	thinking, _ := r.Body["thinking"].(map[string]any)
	if thinking["type"] != "enabled" || len(messages) < 2 {
		return ""
	}
	i := len(messages) - 2
	last, _ := messages[i].(map[string]any)
	blocks, _ := last["content"].([]any)
	calls := slices.ContainsFunc(blocks, func(b any) bool {
		block, _ := b.(map[string]any)
		return block["type"] == "tool_use"
	})
	if !calls {
		return ""
	}
	first, _ := blocks[0].(map[string]any)
	if kind := first["type"]; kind != "thinking" && kind != "redacted_thinking" {
		return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%v`. "+
			"When `thinking` is enabled, a final `assistant` message must start with a thinking block "+
			"(preceding the lastmost set of `tool_use` and `tool_result` blocks).", i, kind)
	}
	return ""
}
