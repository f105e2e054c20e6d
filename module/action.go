package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// action is a reply of a model that calls tools: one call.
type action struct {
	tool string
	args json.RawMessage // an object, or a text that may stand for one

	plain bool // it is a text that was written without quotes
}

// submit is the tool whose arguments are the answer.
const submit = "submit"

// actionReply is what the model is asked for: the next call.
type actionReply struct {
	Thought string         `json:"thought" jsonschema:"description=a sentence or two on what you know and what to do next"`
	Tool    string         `json:"tool" jsonschema:"description=the name of one tool\\, with its namespace if it has one"`
	Args    map[string]any `json:"args,omitempty" jsonschema:"description=its arguments as one JSON object"`
}

var actionQuestion = signature.Must(signature.New[struct{}, actionReply](""))

// actionSpec is the question for the next action of a task.
func actionSpec(task *signature.Spec) (*signature.Spec, error) {
	spec, err := signature.NewSpec(task.Instructions(), task.Inputs(), actionQuestion.Spec().Outputs())
	if err != nil {
		return nil, fmt.Errorf("module: ReAct asks the model for a thought, a tool and args: %w", err)
	}
	return spec, nil
}

// needed is what an action cannot do without.
func needed(field string) bool { return field == "tool" }

// acted are the fields that say what is done, tool and args; the others say why.
var acted = signature.Must(signature.New[struct{}, struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args,omitempty"`
}]("")).Spec()

// newAction reads the fields of a reply.
func newAction(values signature.Values) (action, error) {
	given, _ := values.Get("tool")
	args, _ := values.Get("args")
	a, within, err := called(replies.PlainText(given))
	if err != nil {
		return action{}, fmt.Errorf("the arguments after the name of the tool: %w; put them in args", err)
	}
	beside, err := a.with(replies.PlainText(args))
	switch {
	case err != nil:
		return action{}, fmt.Errorf("the field %q: %w", "args", err)
	case within && string(a.args) != "{}" && string(beside.args) != "{}":
		return action{}, errors.New("there are arguments both after the name of the tool and in args; put them in args")
	case !within || string(a.args) == "{}":
		a = beside
	}
	return a, nil
}

// with reads the arguments of an action: also as the call once more.
func (a action) with(args string) (action, error) {
	if !strings.HasPrefix(args, "{") {
		if again, parentheses, err := called(args); parentheses && again.tool == a.tool {
			return again, err
		}
	}
	var err error
	a.args, a.plain, err = replies.Arguments(args)
	return a, err
}

// expression is a tool as programs call it: await mail.send({"to": "ann"});
var expression = regexp.MustCompile(`(?s)^(?:await\s+)?([^\s("'\x60]+(?:\["[^"]*"\])?)\s*\((.*)\)\s*;?$`)

// called takes the name of a tool from its decoration, and reads what stands in
// parentheses behind it, if there are any.
func called(text string) (a action, parentheses bool, err error) {
	text = replies.Undecorated(replies.Unfence(text))
	m := expression.FindStringSubmatch(text)
	if m == nil {
		return action{tool: text}, false, nil
	}
	args, err := replies.Expression(m[2])
	return action{tool: m[1], args: args}, true, err
}

// argsFor are the arguments as the tool takes them, with times that have a unit in
// nanoseconds. A text may stand for an object, of which it is the only field.
func (a action) argsFor(b *tools.Binding, field func(name string) signature.Field) (json.RawMessage, error) {
	args := b.Named(a.args)
	switch {
	case args[0] != '{':
		return nil, fmt.Errorf("args must be one JSON object, not the text %s", shorten(string(args), 100))
	case !a.plain:
		return replies.Timed(b.InputSchema, args), nil
	}
	var object signature.Values
	if err := json.Unmarshal(args, &object); err != nil {
		return nil, err
	}
	only := &object[0]
	text := replies.PlainText(only.JSON)
	value, err := replies.ArgumentText(field(only.Name), text)
	if err != nil {
		return nil, fmt.Errorf("args must be one JSON object with %s: it is not clear which value the text %q gives", only.Name, shorten(text, 100))
	}
	only.JSON = value
	args, err = object.MarshalJSON()
	return replies.Timed(b.InputSchema, args), err
}

// textNamed is an argument that is a text.
func textNamed(name string) signature.Field {
	f, _ := acted.Field("tool")
	f.Name = name
	return f
}

// submitted is an earlier turn as if it had come to its answer by this module.
func submitted(spec *signature.Spec, turn signature.Values) (signature.Values, error) {
	inputs, outputs := sides(spec, turn)
	args, err := outputs.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("module: the history: %w", err)
	}
	return append(inputs, signature.Value{Name: "tool", JSON: replies.Quote(submit)}, signature.Value{Name: "args", JSON: args}), nil
}

// actionBriefing is what a model must know to call tools. It is the same for
// every step and every run.
func actionBriefing(task *signature.Spec, set *tools.Set, o Options) string {
	a := prompt.Action{Task: task, Tools: o.declarations(set), Steps: o.MaxIters}
	for _, b := range set.Bindings() {
		a.Schemas = append(a.Schemas, b.InputSchema)
	}
	return a.String()
}
