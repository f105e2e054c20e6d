package module

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// stepJSON is a step with what its prompt has beyond that of the step before.
type stepJSON struct {
	Step
	SharedMessages int           `json:"shared_messages,omitempty"` // how many are those of the step before
	Messages       []messageJSON `json:"messages,omitempty"`        // the others
	SharedTools    bool          `json:"shared_tools,omitempty"`    // they are those of the step before
	Tools          []toolJSON    `json:"tools,omitempty"`
}

// toolJSON is a tool that a model was given.
type toolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
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
		list[i] = stepJSON{Step: s, SharedMessages: shared, Messages: prompt[shared:]}
		if i > 0 && len(s.Tools) > 0 && sameTools(s.Tools, steps[i-1].Tools) {
			list[i].SharedTools = true
		} else {
			list[i].Tools = toolsJSON(s.Tools)
		}
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
		s.Step.Tools = toolsOf(s.Tools)
		if i > 0 && s.SharedTools {
			s.Step.Tools = steps[i-1].Tools
		}
		steps = append(steps, s.Step)
	}
	return steps
}

// sameTools reports whether two slices are the very same one, as in the steps of a run.
func sameTools(a, b []llms.Tool) bool { return len(a) == len(b) && &a[0] == &b[0] }

func toolsJSON(tools []llms.Tool) []toolJSON {
	var list []toolJSON
	for _, t := range tools {
		if t.Function != nil {
			raw, _ := json.Marshal(t.Function.Parameters) // a schema
			list = append(list, toolJSON{t.Function.Name, t.Function.Description, raw})
		}
	}
	return list
}

func toolsOf(list []toolJSON) []llms.Tool {
	var tools []llms.Tool
	for _, t := range list {
		tools = append(tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters,
		}})
	}
	return tools
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
	return m.Role == o.Role && m.Text == o.Text && slices.Equal(m.Attachments, o.Attachments)
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
	for _, t := range toolsJSON(tools) {
		fmt.Fprintf(&b, "--- tool %s ---\n%s\n%s\n", t.Name, t.Description, t.Parameters)
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

// lastText returns the text of the last message of a prompt.
func lastText(prompt []llms.MessageContent) string {
	if len(prompt) == 0 {
		return ""
	}
	return textOf(prompt[len(prompt)-1])
}
