package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Limits of what is declared to a model in its provider's protocol. If a set exceeds them, the model writes its calls
// as text and can search for tools.
const (
	maxDeclaredTools = 100
	maxDeclaredBytes = 200_000
)

// calling is the adapter for models that call tools in their provider's protocol.
type calling struct {
	text  string // the briefing for calls as text, which is replaced
	steps int
	tools []llms.Tool
	paths map[string]string // the paths of tools by their names in the protocol
	names map[string]string // the names by the paths
}

// newCalling returns nil if the set has too many tools to be declared.
func newCalling(task *signature.Spec, set *tools.Set, text string, steps int) *calling {
	if set.Len() > maxDeclaredTools {
		return nil
	}
	c := &calling{text: text, steps: steps, paths: map[string]string{}, names: map[string]string{}}
	size := 0
	for _, b := range set.Bindings() {
		c.declare(b.Path(), b.Description, b.InputSchema)
		size += len(b.Description) + len(b.InputSchema)
	}
	answer, ok := task.OutputSchema().Strict()
	if !ok {
		answer = task.OutputSchema().Raw()
	}
	c.declare(submit, "Gives the answer and ends the task.", answer)
	if size > maxDeclaredBytes {
		return nil
	}
	return c
}

func (c *calling) declare(path, description string, arguments json.RawMessage) {
	name := c.name(path)
	c.paths[name], c.names[path] = path, name
	c.tools = append(c.tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: name, Description: description, Parameters: arguments,
	}})
}

var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// maxToolName is the maximum length of a tool's name that all providers accept.
const maxToolName = 64

// name returns a unique name for a path that all providers accept.
func (c *calling) name(path string) string {
	safe := strings.Trim(unsafeInName.ReplaceAllString(path, "_"), "_")
	if safe == "" {
		safe = "tool"
	}
	name := safe[:min(len(safe), maxToolName)]
	for n := 2; c.paths[name] != "" || name == submit && path != submit; n++ {
		end := fmt.Sprintf("_%d", n)
		name = safe[:min(len(safe), maxToolName-len(end))] + end
	}
	return name
}

// System returns the system prompt, without the tools, which the provider declares.
func (c *calling) System(spec *signature.Spec, briefing string) string {
	if briefing == c.text {
		briefing = prompt.CallingBriefing(c.steps)
	}
	return prompt.Calling(spec, briefing)
}

// Question writes the inputs and a reminder.
func (c *calling) Question(_ *signature.Spec, inputs signature.Values) string {
	return prompt.Question(inputs, prompt.CallingReminder)
}

// Answer returns the thought of a demo. Its call is a part of the message.
func (c *calling) Answer(_ *signature.Spec, outputs signature.Values) string {
	thought, _ := outputs.Get("thought")
	return textValue(thought)
}

// Read always fails: an answer is a call of submit, never text.
func (c *calling) Read(*signature.Spec, string, bool) (signature.Values, error) {
	return nil, errNoCall
}

func textValue(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	return replies.PlainText(value)
}

// errNoCall is the error of a reply without a tool call.
var errNoCall = errors.New("it calls no tool; to give the answer, call submit")

// example returns the call of a demo or of an earlier turn, and its result.
func (c *calling) example(n int, outputs signature.Values) []message {
	tool, _ := outputs.Get("tool")
	args, _ := outputs.Get("args")
	path := textValue(tool)
	name, known := c.names[path]
	if !known {
		name = c.name(path)
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	call := llms.ToolCall{ID: fmt.Sprintf("example%02d", n%100), Type: "function",
		FunctionCall: &llms.FunctionCall{Name: name, Arguments: string(args)}}
	done := "(The result is omitted.)"
	if path == submit {
		done = "The answer is accepted."
	}
	said := message{role: llms.ChatMessageTypeAI, text: c.Answer(nil, outputs), parts: []llms.ContentPart{call}}
	return []message{said, resultOf(call, done)}
}

// resultOf returns the message with the result of a call.
func resultOf(call llms.ToolCall, text string) message {
	return message{role: llms.ChatMessageTypeTool, parts: []llms.ContentPart{
		llms.ToolCallResponse{ToolCallID: call.ID, Name: call.FunctionCall.Name, Content: text},
	}}
}

// said returns a reply as it is sent back: as the provider wrote it, if that is known.
func said(reply string, wrote *lm.Message, calls []llms.ToolCall) message {
	m := message{role: llms.ChatMessageTypeAI, text: reply}
	if wrote != nil {
		m.text, m.parts = "", append(m.parts, *wrote)
	}
	for _, c := range calls {
		m.parts = append(m.parts, c)
	}
	return m
}

// callsTools returns the adapter for calls in the provider's protocol, or nil if the model writes calls as text.
func (p *Predictor) callsTools() *calling {
	if p.calling == nil || p.Adapter != nil || p.mode == byText {
		return nil
	}
	if p.mode == byCalls {
		return p.calling
	}
	can := lm.CapabilitiesOf(p.Model)
	if _, refused := p.refused.Load(can.Model); refused || !can.Tools {
		return nil
	}
	return p.calling
}

// mode says how tools are called in a run.
type mode int

const (
	undecided mode = iota
	byCalls
	byText
)

// forRun returns a copy with a mode that does not change.
func (p *Predictor) forRun() *Predictor {
	c := p.Clone()
	c.mode = byText
	if p.callsTools() != nil {
		c.mode = byCalls
	}
	return c
}
