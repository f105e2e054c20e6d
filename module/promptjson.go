package module

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// stepJSON is a step with what its prompt has beyond that of the step before.
type stepJSON struct {
	Step
	SharedMessages int           `json:"shared_messages,omitempty"` // how many are those of the step before
	Messages       []messageJSON `json:"messages,omitempty"`        // the others
}

// messageJSON is a message of a prompt as text.
type messageJSON struct {
	Role        llms.ChatMessageType `json:"role"`
	Text        string               `json:"text"`
	Attachments []string             `json:"attachments,omitempty"` // the type and the size of each
}

func stepsJSON(steps []Step) []stepJSON {
	list := make([]stepJSON, len(steps))
	var before []messageJSON
	for i, s := range steps {
		prompt := messagesJSON(s.Prompt)
		shared := 0
		for shared < min(len(before), len(prompt)) && before[shared].equal(prompt[shared]) {
			shared++
		}
		list[i] = stepJSON{s, shared, prompt[shared:]}
		before = prompt
	}
	return list
}

// stepsOf reads what stepsJSON has written, as far as it is text.
func stepsOf(list []stepJSON) []Step {
	var steps []Step
	for i, s := range list {
		if i > 0 {
			before := steps[i-1].Prompt
			s.Prompt = append(s.Prompt, before[:max(0, min(s.SharedMessages, len(before)))]...)
		}
		for _, m := range s.Messages {
			s.Prompt = append(s.Prompt, llms.TextParts(m.Role, m.Text))
		}
		steps = append(steps, s.Step)
	}
	return steps
}

func messagesJSON(messages []llms.MessageContent) []messageJSON {
	list := make([]messageJSON, len(messages))
	for i, m := range messages {
		list[i] = messageJSON{Role: m.Role, Text: textOf(m)}
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

func (m messageJSON) equal(o messageJSON) bool {
	return m.Role == o.Role && m.Text == o.Text && len(m.Attachments)+len(o.Attachments) == 0
}

// sentText is a prompt as text.
func sentText(messages []llms.MessageContent, tools []llms.Tool, schema json.RawMessage) string {
	var b strings.Builder
	for _, m := range messagesJSON(messages) {
		fmt.Fprintf(&b, "--- %s ---\n%s\n", m.Role, m.Text)
		for _, a := range m.Attachments {
			fmt.Fprintf(&b, "(%s)\n", a)
		}
	}
	for _, t := range tools {
		if t.Function != nil {
			raw, _ := json.Marshal(t.Function.Parameters) // a schema
			fmt.Fprintf(&b, "--- tool %s ---\n%s\n%s\n", t.Function.Name, t.Function.Description, raw)
		}
	}
	if schema != nil {
		fmt.Fprintf(&b, "--- schema ---\n%s\n", schema)
	}
	return b.String()
}

// textOf is the text of a message, with its tool calls and their results as text.
func textOf(m llms.MessageContent) string {
	var texts []string
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			texts = append(texts, p.Text)
		case lm.Message:
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
