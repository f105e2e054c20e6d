// Package conversation builds the messages of requests: the question with its images and files ([Question]), the steps
// of a run ([Conversation]), and tool calls in the provider's protocol ([Calling]). If a conversation is too long, it
// leaves out the oldest steps.
package conversation

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/tools/journal"
)

// Conversation has a run's messages.
type Conversation struct {
	// Opening has the messages up to the question.
	Opening []Message

	// Closing is the last message when the steps are used up.
	Closing string

	steps     []exchange
	forgotten int // how many of the oldest steps are left out
}

// exchange is a step as the model sees it: its reply and the observation.
type exchange struct {
	messages []Message
	brief    string
}

// Add adds a step that has ended. Unless brief is empty, it replaces the last message of the step in later requests.
func (c *Conversation) Add(messages []Message, brief string) {
	c.steps = append(c.steps, exchange{messages, brief})
}

// Messages returns the messages of the next request: the opening and the earlier steps. All observations except the
// last are replaced by their briefs. In a request with a Closing, all observations are complete, since the model cannot
// print anything again. If steps have been left out, the question says so; before returns the calls that were made
// before a step.
func (c *Conversation) Messages(before func(step int) []journal.Entry) []Message {
	if len(c.steps) == 0 {
		return c.Opening
	}
	list := slices.Clone(c.Opening)
	if c.forgotten > 0 {
		list[len(list)-1].Text += prompt.Forgotten(c.forgotten, before(c.forgotten))
	}
	for i, e := range c.steps[c.forgotten:] {
		list = append(list, e.messages...)
		if e.brief != "" && c.Closing == "" && c.forgotten+i < len(c.steps)-1 {
			list[len(list)-1].Text = e.brief
		}
	}
	if c.Closing != "" {
		list = Append(list, Human(c.Closing))
	}
	return list
}

// Forget leaves the older half of the steps out of the conversation, but never the last step. It reports whether it
// left out any steps. Leaving out one step at a time would invalidate the provider's cache each time.
func (c *Conversation) Forget() bool {
	older := len(c.steps) - 1 - c.forgotten
	if older < 1 {
		return false
	}
	c.forgotten += (older + 1) / 2
	return true
}

// Message is one message of a conversation.
type Message struct {
	Role  llms.ChatMessageType
	Text  string
	Parts []llms.ContentPart // in addition to the text
}

// System returns the system prompt as a message.
func System(text string) Message { return Message{Role: llms.ChatMessageTypeSystem, Text: text} }

// Human returns a message to the model.
func Human(text string) Message { return Message{Role: llms.ChatMessageTypeHuman, Text: text} }

// Model returns a message of the model.
func Model(text string) Message { return Message{Role: llms.ChatMessageTypeAI, Text: text} }

// Append appends messages. Two human messages in a row are joined, since some providers require the roles to
// alternate.
func Append(list []Message, more ...Message) []Message {
	for _, m := range more {
		last := len(list) - 1
		if last < 0 || m.Role != llms.ChatMessageTypeHuman || list[last].Role != m.Role {
			list = append(list, m)
			continue
		}
		list[last].Text += "\n\n" + m.Text
		list[last].Parts = append(slices.Clip(list[last].Parts), m.Parts...)
	}
	return list
}

// Size returns the total size of the messages' text in bytes.
func Size(list []Message) (n int) {
	for _, m := range list {
		n += len(m.Text)
	}
	return n
}

// Contents converts messages for langchaingo. It fills empty messages, since providers reject them.
func Contents(list []Message) []llms.MessageContent {
	contents := make([]llms.MessageContent, len(list))
	for i, m := range list {
		contents[i].Role = m.Role
		blank := strings.TrimSpace(m.Text) == ""
		if blank && len(m.Parts) == 0 {
			m.Text, blank = "(nothing)", false
		}
		if !blank {
			contents[i].Parts = append(contents[i].Parts, llms.TextContent{Text: m.Text})
		}
		contents[i].Parts = append(contents[i].Parts, m.Parts...)
	}
	return contents
}
