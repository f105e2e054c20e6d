package lm

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// RecordedMessage is the JSON form of a message.
type RecordedMessage struct {
	Role        llms.ChatMessageType `json:"role"`
	Text        string               `json:"text"`
	Attachments []string             `json:"attachments,omitempty"` // the type and the size of each
}

// RecordedTool is the JSON form of a tool in a request.
type RecordedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// RecordMessages returns the messages' text.
func RecordMessages(messages []llms.MessageContent) []RecordedMessage {
	list := make([]RecordedMessage, len(messages))
	for i, m := range messages {
		list[i] = RecordedMessage{Role: m.Role, Text: TextOf(m)}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llms.BinaryContent:
				list[i].Attachments = append(list[i].Attachments, fmt.Sprintf("%s, %d bytes", p.MIMEType, len(p.Data)))
			case llms.ImageURLContent:
				list[i].Attachments = append(list[i].Attachments, p.URL)
			}
		}
	}
	return list
}

// RecordTools returns tool declarations.
func RecordTools(tools []llms.Tool) []RecordedTool {
	var list []RecordedTool
	for _, t := range tools {
		if t.Function != nil {
			raw, _ := json.Marshal(t.Function.Parameters) // a schema always encodes
			list = append(list, RecordedTool{t.Function.Name, t.Function.Description, raw})
		}
	}
	return list
}

// Prompt has a request's messages and tools.
type Prompt struct {
	Messages []llms.MessageContent
	Tools    []llms.Tool
}

// RecordedPrompt is the JSON form of a prompt, with the messages and tools that differ from the previous prompt.
type RecordedPrompt struct {
	SharedMessages int               `json:"shared_messages,omitempty"` // how many of the first messages are unchanged
	Messages       []RecordedMessage `json:"messages,omitempty"`        // the remaining messages
	SharedTools    bool              `json:"shared_tools,omitempty"`    // the tools are unchanged
	Tools          []RecordedTool    `json:"tools,omitempty"`
}

// Record returns what differs from the previous prompt. Tools count as unchanged only if both prompts have the same
// slice, as within a run.
func (p Prompt) Record(before Prompt) RecordedPrompt {
	messages, known := RecordMessages(p.Messages), RecordMessages(before.Messages)
	shared := 0
	for shared < min(len(known), len(messages)) && reflect.DeepEqual(known[shared], messages[shared]) {
		shared++
	}
	r := RecordedPrompt{SharedMessages: shared, Messages: messages[shared:]}
	if n := len(p.Tools); n > 0 && n == len(before.Tools) && &p.Tools[0] == &before.Tools[0] {
		r.SharedTools = true
	} else {
		r.Tools = RecordTools(p.Tools)
	}
	return r
}

// Restore returns a record's prompt, without attachments.
func (r RecordedPrompt) Restore(before Prompt) (p Prompt) {
	p.Messages = append(p.Messages, before.Messages[:max(0, min(r.SharedMessages, len(before.Messages)))]...)
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, llms.TextParts(m.Role, m.Text))
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, t.tool())
	}
	if r.SharedTools {
		p.Tools = before.Tools
	}
	return p
}

func (t RecordedTool) tool() llms.Tool {
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: t.Name, Description: t.Description, Parameters: t.Parameters,
	}}
}

// Transcript returns a request as text for people.
func Transcript(messages []llms.MessageContent, tools []llms.Tool, schema json.RawMessage) string {
	var b strings.Builder
	for _, m := range RecordMessages(messages) {
		fmt.Fprintf(&b, "--- %s ---\n%s\n", m.Role, m.Text)
		for _, a := range m.Attachments {
			fmt.Fprintf(&b, "(%s)\n", a)
		}
	}
	for _, t := range RecordTools(tools) {
		fmt.Fprintf(&b, "--- tool %s ---\n%s\n%s\n", t.Name, t.Description, t.Parameters)
	}
	if schema != nil {
		fmt.Fprintf(&b, "--- schema ---\n%s\n", schema)
	}
	return b.String()
}

// TextOf returns a message's text, including its tool calls and their results.
func TextOf(m llms.MessageContent) string {
	var texts []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			texts = append(texts, p.Text)
		case Message:
			texts = append(texts, p.Text)
		case llms.ToolCall:
			if p.FunctionCall != nil {
				texts = append(texts, fmt.Sprintf("%s(%s)", p.FunctionCall.Name, p.FunctionCall.Arguments))
			}
		case llms.ToolCallResponse:
			texts = append(texts, p.Content)
		}
	}
	return strings.Join(texts, "\n")
}

// LastText returns the last message's text, or "".
func LastText(messages []llms.MessageContent) string {
	if len(messages) == 0 {
		return ""
	}
	return TextOf(messages[len(messages)-1])
}
