package lm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// sendable returns messages that every provider sends completely. anthropic's provider in langchaingo sends only the
// first part of messages that are not from a human, and panics if a message has no parts; googleai's provider panics if
// there are no messages. Models that are not [Capable] get the text of a [Message].
func sendable(model llms.Model, messages []llms.MessageContent) ([]llms.MessageContent, error) {
	_, capable := model.(Capable)
	if len(messages) == 0 {
		return nil, &Error{Kind: KindInvalid, Err: fmt.Errorf("the request has no messages")}
	}
	list := messages
	for i, m := range messages {
		if len(m.Parts) == 0 {
			return nil, &Error{Kind: KindInvalid, Err: fmt.Errorf("message %d (%s) is empty", i+1, m.Role)}
		}
		if _, text := m.Parts[0].(llms.TextContent); capable || m.Role == llms.ChatMessageTypeHuman ||
			text && len(m.Parts) == 1 {
			continue
		}
		if &list[0] == &messages[0] {
			list = slices.Clone(messages)
		}
		list[i].Parts = joinText(m.Parts)
	}
	return list, nil
}

// joinText joins the parts into one if all are text.
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
