package wire

import (
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Turn is a message of a conversation.
type Turn struct {
	Role    string `json:"role"`    // "user" or "assistant"
	Content []any  `json:"content"` // a JSON object, or the JSON of one that the provider wrote
}

// Form is how a provider writes the parts of messages. Each function but Raw returns a JSON object.
type Form struct {
	Provider   string         // if set, calls that another provider's model made get IDs that match CallID
	CallID     *regexp.Regexp // see [CallIDs]
	Alternate  bool           // the roles of turns must alternate
	Text       func(text string) map[string]any
	Call       func(c llms.ToolCall, first bool) map[string]any // first: of its message
	Result     func(llms.ToolCallResponse) map[string]any
	Attachment func(number int, part llms.ContentPart) (map[string]any, error)

	// Raw returns the content of a reply, or nil if another provider wrote it. More has the message's further parts.
	Raw func(m lm.Message, more []llms.ContentPart) ([]any, error)
}

// Conversation encodes messages. Blank texts and empty messages are left out, because providers reject them.
// Consecutive messages are merged if they have the same role or, if turns must alternate, become turns of the same
// role. System messages, which may have only text, are returned separately.
func (f *Form) Conversation(messages []llms.MessageContent) (system []map[string]any, turns []Turn, err error) {
	if f.Provider != "" {
		messages = CallIDs(messages, f.Provider, f.CallID)
	}
	var before llms.ChatMessageType
	for _, m := range messages {
		content, err := f.content(m.Parts)
		switch {
		case err != nil:
			return nil, nil, err
		case len(content) == 0:
			continue
		case m.Role == llms.ChatMessageTypeSystem:
			for _, part := range content {
				text, _ := part.(map[string]any)
				if text["text"] == nil {
					return nil, nil, Invalid("a system message may have only text; move attachments to a human message")
				}
				system = append(system, text)
			}
			continue
		}
		role := "user"
		if m.Role == llms.ChatMessageTypeAI {
			role = "assistant"
		}
		if n := len(turns) - 1; n >= 0 && turns[n].Role == role && (f.Alternate || m.Role == before) {
			turns[n].Content = append(turns[n].Content, content...)
		} else {
			turns = append(turns, Turn{role, content})
		}
		before = m.Role
	}
	return system, turns, nil
}

// content encodes a message's parts. Modules' prompts refer to attachments by their number within the message.
func (f *Form) content(parts []llms.ContentPart) (content []any, err error) {
	attachments, calls := 0, 0
	for i, part := range parts {
		text := ""
		var encoded map[string]any
		switch p := part.(type) {
		case lm.Message:
			if raw, err := f.Raw(p, parts[i+1:]); raw != nil || err != nil {
				return raw, err
			}
			text = p.Text
		case llms.TextContent:
			text = p.Text
		case llms.ToolCall:
			calls++
			encoded = f.Call(p, calls == 1)
		case llms.ToolCallResponse:
			encoded = f.Result(p)
		default:
			attachments++
			if encoded, err = f.Attachment(attachments, part); err != nil {
				return nil, err
			}
		}
		if strings.TrimSpace(text) != "" {
			encoded = f.Text(text)
		}
		if encoded != nil {
			content = append(content, encoded)
		}
	}
	return content, nil
}

// ClaudeID matches the IDs of calls that Anthropic and Bedrock accept.
var ClaudeID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// CallIDs returns messages in which each call that another provider's model made has an ID that matches accepted and
// that no call before has. The result of a call gets the call's ID.
func CallIDs(messages []llms.MessageContent, provider string, accepted *regexp.Regexp) []llms.MessageContent {
	list, taken, given := slices.Clone(messages), map[string]bool{}, map[string]string{}
	for i, m := range list {
		parts, own := slices.Clone(m.Parts), false
		for k, part := range parts {
			switch p := part.(type) {
			case lm.Message:
				own = p.Provider == provider
			case llms.ToolCall:
				id := p.ID
				for n := len(taken); !own && (taken[id] || !accepted.MatchString(id)); n++ {
					id = fmt.Sprintf("call%05d", n+1)
				}
				taken[id], given[p.ID] = true, id
				p.ID = id
				parts[k] = p
			case llms.ToolCallResponse:
				if id, ok := given[p.ToolCallID]; ok {
					p.ToolCallID = id
				}
				parts[k] = p
			}
		}
		list[i].Parts = parts
	}
	return list
}

// Arguments returns a tool call's arguments if they are a JSON object, and otherwise an empty object. Most providers
// accept nothing else from a history.
func Arguments(f *llms.FunctionCall) map[string]json.RawMessage {
	var arguments map[string]json.RawMessage
	if f == nil || json.Unmarshal([]byte(f.Arguments), &arguments) != nil || arguments == nil {
		return map[string]json.RawMessage{}
	}
	return arguments
}

// MediaType returns a MIME type without its parameters.
func MediaType(full string) string {
	if plain, _, err := mime.ParseMediaType(full); err == nil {
		return plain
	}
	return full
}
