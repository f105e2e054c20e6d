package lm

import (
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
)

// Message is a reply as its provider wrote it. It is sent back verbatim as the first part of the assistant message in
// the next turn: Gemini needs its thought signatures, DeepSeek its reasoning, Anthropic its signed thinking, OpenAI's
// Responses API its encrypted reasoning. Other providers receive the text. Tool calls follow as separate parts, which
// the provider that wrote the message ignores.
type Message struct {
	llms.TextContent
	Provider string          // the provider that wrote it, such as "anthropic"
	Raw      json.RawMessage // the message in the provider's protocol
}

// message is the JSON of a [Message].
type message struct {
	Text     string          `json:"text"`
	Provider string          `json:"provider"`
	Raw      json.RawMessage `json:"raw"`
}

// MarshalJSON writes all fields; the embedded type would write only the text.
func (m Message) MarshalJSON() ([]byte, error) {
	return json.Marshal(message{m.Text, m.Provider, m.Raw})
}

// UnmarshalJSON reads the form of MarshalJSON.
func (m *Message) UnmarshalJSON(raw []byte) error {
	var read message
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	*m = Message{llms.TextContent{Text: read.Text}, read.Provider, read.Raw}
	return nil
}

// Keys of a choice's GenerationInfo, in addition to token counts.
const (
	CachedKey  = "writ:cached"  // bool: a cache answered
	MessageKey = "writ:message" // *Message: the reply as the provider wrote it
	ModelKey   = "writ:model"   // string: the model that answered
	IDKey      = "writ:id"      // string: the provider's id of the reply
	FailedKey  = "writ:failed"  // string: the errors of the attempts before
)
