package lm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// sendable makes messages that every provider sends whole: anthropic's sends
// only the first part of what is not a human's, and panics where there is none;
// googleai's panics without a message.
func sendable(messages []llms.MessageContent) ([]llms.MessageContent, error) {
	if len(messages) == 0 {
		return nil, &Error{Kind: Invalid, Err: fmt.Errorf("there is no message to send")}
	}
	list, copied := messages, false
	for i, m := range messages {
		if len(m.Parts) == 0 {
			return nil, &Error{Kind: Invalid, Err: fmt.Errorf("message %d (%s) is empty", i+1, m.Role)}
		}
		if m.Role == llms.ChatMessageTypeHuman || len(m.Parts) == 1 {
			continue
		}
		if !copied {
			list, copied = slices.Clone(messages), true
		}
		list[i].Parts = joinText(m.Parts)
	}
	return list, nil
}

// joinText makes one part of those that are text, if all are.
func joinText(parts []llms.ContentPart) []llms.ContentPart {
	texts := make([]string, len(parts))
	for i, p := range parts {
		text, ok := p.(llms.TextContent)
		if !ok {
			return parts
		}
		texts[i] = text.Text
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
