package lm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// sendable makes messages that every provider sends whole: anthropic's sends
// only the first part of what is not a human's, and panics where there is none;
// googleai's panics without a message. A [Message] is its text for models that are not
// [Capable].
func sendable(model llms.Model, messages []llms.MessageContent) ([]llms.MessageContent, error) {
	_, capable := model.(Capable)
	if len(messages) == 0 {
		return nil, &Error{Kind: KindInvalid, Err: fmt.Errorf("there is no message to send")}
	}
	list, copied := messages, false
	for i, m := range messages {
		if len(m.Parts) == 0 {
			return nil, &Error{Kind: KindInvalid, Err: fmt.Errorf("message %d (%s) is empty", i+1, m.Role)}
		}
		if capable || m.Role == llms.ChatMessageTypeHuman || !needsJoin(m.Parts) {
			continue
		}
		if !copied {
			list, copied = slices.Clone(messages), true
		}
		list[i].Parts = joinText(m.Parts)
	}
	return list, nil
}

// needsJoin reports whether parts are not one that every provider sends.
func needsJoin(parts []llms.ContentPart) bool {
	_, ours := parts[0].(Message)
	return ours || len(parts) > 1
}

// joinText makes one part of those that are text, if all are.
func joinText(parts []llms.ContentPart) []llms.ContentPart {
	texts := make([]string, len(parts))
	for i, p := range parts {
		switch text := p.(type) {
		case llms.TextContent:
			texts[i] = text.Text
		case Message:
			texts[i] = text.Text
		default:
			return parts
		}
	}
	return []llms.ContentPart{llms.TextPart(strings.Join(texts, "\n"))}
}

// Copied returns a copy of messages, for one of several attempts: a model that
// changes what it is given, as one that puts its own words before it may, does not
// change them for the next. What parts point to, such as binary data, is shared.
func Copied(messages []llms.MessageContent) []llms.MessageContent {
	n := 0
	for _, m := range messages {
		n += len(m.Parts)
	}
	list, parts := slices.Clone(messages), make([]llms.ContentPart, 0, n)
	for i, m := range messages {
		from := len(parts)
		parts = append(parts, m.Parts...)
		list[i].Parts = slices.Clip(parts[from:])
	}
	return list
}
