package conversation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Submit is the tool whose arguments are the answer.
const Submit = "submit"

// Limits of the tools that are declared in the provider's protocol. If a set exceeds them, the model writes its calls
// as text and can search for tools.
const (
	maxDeclaredTools = 100
	maxDeclaredBytes = 200_000
)

// Calling is the adapter for models that call tools in their provider's protocol. It implements module.Adapter.
type Calling struct {
	// Tools has the tools' declarations.
	Tools []llms.Tool

	text  string // a briefing for calls as text; System replaces it with the briefing for declared tools
	steps int
	paths map[string]string // the paths of tools by their names in the protocol
	names map[string]string // the names in the protocol by the paths of tools
}

// NewCalling returns nil if the set has too many tools to be declared.
func NewCalling(task *signature.Spec, set *tools.Set, text string, steps int) *Calling {
	if set.Len() > maxDeclaredTools {
		return nil
	}
	c := &Calling{text: text, steps: steps, paths: map[string]string{}, names: map[string]string{}}
	size := 0
	for _, b := range set.Bindings() {
		c.declare(b.Path(), b.Description, b.InputSchema)
		size += len(b.Description) + len(b.InputSchema)
	}
	answer, ok := task.OutputSchema().Strict()
	if !ok {
		answer = task.OutputSchema().Raw()
	}
	c.declare(Submit, "Gives the answer and ends the task.", answer)
	if size > maxDeclaredBytes {
		return nil
	}
	return c
}

func (c *Calling) declare(path, description string, arguments json.RawMessage) {
	name := c.name(path)
	c.paths[name], c.names[path] = path, name
	c.Tools = append(c.Tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: name, Description: description, Parameters: arguments,
	}})
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// MaxToolName is the maximum length of a tool's name that all providers accept.
const MaxToolName = 64

// name returns a unique name for the tool with the path. All providers accept the name.
func (c *Calling) name(path string) string {
	safe := strings.Trim(unsafeInName.ReplaceAllString(path, "_"), "_")
	if safe == "" {
		safe = "tool"
	}
	name := safe[:min(len(safe), MaxToolName)]
	for n := 2; c.paths[name] != "" || name == Submit && path != Submit; n++ {
		end := fmt.Sprintf("_%d", n)
		name = safe[:min(len(safe), MaxToolName-len(end))] + end
	}
	return name
}

// Path returns the called tool's path, or "" if there is no such tool.
func (c *Calling) Path(call llms.ToolCall) string { return c.paths[call.FunctionCall.Name] }

// System returns the system prompt, without the tools, which the provider declares.
func (c *Calling) System(spec *signature.Spec, briefing string) string {
	if briefing == c.text {
		briefing = prompt.CallingBriefing(c.steps)
	}
	return prompt.Calling(spec, briefing)
}

// Question writes the inputs and a reminder.
func (c *Calling) Question(_ *signature.Spec, inputs signature.Values) string {
	return prompt.Question(inputs, prompt.CallingReminder)
}

// Answer returns the thought of a demo. The demo's call is a separate part of the message.
func (c *Calling) Answer(_ *signature.Spec, outputs signature.Values) string {
	return textOf(outputs, "thought")
}

// Read always fails: an answer is a call to submit, never text.
func (c *Calling) Read(*signature.Spec, string, bool) (signature.Values, error) {
	return nil, ErrNoCall
}

// ErrNoCall is the error for a reply without a tool call.
var ErrNoCall = errors.New("it calls no tool; to give the answer, call submit")

// textOf returns a value as text, or "" if it is missing.
func textOf(values signature.Values, name string) string {
	value, _ := values.Get(name)
	if len(value) == 0 {
		return ""
	}
	return replies.PlainText(value)
}

// Example returns the call of a demo or of an earlier turn as the n-th message, and its result,
// which is the observation unless that is empty.
func (c *Calling) Example(n int, outputs signature.Values, observation string) []Message {
	path := textOf(outputs, "tool")
	name, known := c.names[path]
	if !known {
		name = c.name(path)
	}
	args, _ := outputs.Get("args")
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	id := strconv.FormatInt(int64(n)%(36*36), 36) // some providers want nine letters and digits
	call := llms.ToolCall{ID: fmt.Sprintf("example%02s", id), Type: "function",
		FunctionCall: &llms.FunctionCall{Name: name, Arguments: string(args)}}
	done := cmp.Or(observation, "(The result is omitted.)")
	if path == Submit && observation == "" {
		done = "The answer is accepted."
	}
	return []Message{reply(c.Answer(nil, outputs), nil, []llms.ToolCall{call}), result(call, done)}
}

// Reply returns the messages of a reply and its observation. Wrote is the reply as its provider wrote it, or nil. Each
// call is followed by its result. If there are fewer results than calls, because the model called undeclared tools, the
// messages are plain text.
func Reply(text string, wrote *lm.Message, calls []llms.ToolCall, results []string, observation string) []Message {
	switch {
	case len(results) < len(calls):
		return []Message{Model(text), Human(observation)}
	case len(results) == 0:
		return []Message{reply(text, wrote, nil), Human(observation)}
	}
	list := []Message{reply(text, wrote, calls)}
	for i, c := range calls {
		list = append(list, result(c, results[i]))
	}
	return list
}

// reply returns a reply as a message of the next request.
func reply(text string, wrote *lm.Message, calls []llms.ToolCall) Message {
	m := Model(text)
	if wrote != nil {
		m.Text, m.Parts = "", append(m.Parts, *wrote)
	}
	for _, c := range calls {
		m.Parts = append(m.Parts, c)
	}
	return m
}

// result returns the message with the result of a call.
func result(call llms.ToolCall, text string) Message {
	return Message{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
		llms.ToolCallResponse{ToolCallID: call.ID, Name: call.FunctionCall.Name, Content: text},
	}}
}
