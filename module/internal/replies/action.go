package replies

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// actionReply is what the model is asked for: the next call.
type actionReply struct {
	Thought string         `json:"thought" jsonschema:"description=a sentence or two on what you know and what to do next"`
	Tool    string         `json:"tool" jsonschema:"description=the name of one tool\\, with its namespace if it has one"`
	Args    map[string]any `json:"args,omitempty" jsonschema:"description=its arguments as one JSON object"`
}

var actionQuestion = signature.Must(signature.New[struct{}, actionReply](""))

// ActionSpec is the question for the next call of a task.
func ActionSpec(task *signature.Spec) (*signature.Spec, error) {
	return signature.NewSpec(task.Instructions(), task.Inputs(), actionQuestion.Spec().Outputs())
}

// ActionAlone has the fields that say what to do. The other fields of a reply say why.
var ActionAlone = signature.Must(signature.New[struct{}, struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args,omitempty"`
}]("")).Spec()

// TextField returns the field of an argument that is text.
func TextField(name string) signature.Field {
	f, _ := ActionAlone.Field("tool")
	f.Name = name
	return f
}

// Action is one tool call that a model wrote as text.
type Action struct {
	Tool string
	Args json.RawMessage // an object, or a string that may be the value of its only member

	plain bool // Args is a string that was written without quotes
}

// ReadAction reads the fields "tool" and "args" of a reply.
func ReadAction(values signature.Values) (Action, error) {
	tool, _ := values.Get("tool")
	args, _ := values.Get("args")
	a, within, err := ReadCall(PlainText(tool))
	if err != nil {
		return Action{}, fmt.Errorf("the arguments after the name of the tool: %w; put them in args", err)
	}
	own, err := a.with(PlainText(args))
	switch {
	case err != nil:
		return Action{}, fmt.Errorf("the field %q: %w", "args", err)
	case within && string(a.Args) != "{}" && string(own.Args) != "{}":
		return Action{}, errors.New("there are arguments both after the name of the tool and in args; put them in args")
	case !within || string(a.Args) == "{}":
		a = own
	}
	return a, nil
}

// with reads the field "args", which may also repeat the whole call.
func (a Action) with(args string) (Action, error) {
	if !strings.HasPrefix(args, "{") {
		if again, parentheses, err := ReadCall(args); parentheses && again.Tool == a.Tool {
			return again, err
		}
	}
	var err error
	a.Args, a.plain, err = Arguments(args)
	return a, err
}

// callExpression is a call as programs write it: await mail.send({"to": "ann"});
var callExpression = regexp.MustCompile(`(?s)^(?:await\s+)?([^\s("'\x60]+(?:\["[^"]*"\])?)\s*\((.*)\)\s*;?$`)

// ReadCall reads the name of a tool and the arguments in parentheses after it, if there are any.
func ReadCall(text string) (a Action, parentheses bool, err error) {
	text = Undecorated(Unfence(text))
	m := callExpression.FindStringSubmatch(text)
	if m == nil {
		return Action{Tool: text}, false, nil
	}
	args, err := Expression(m[2])
	return Action{Tool: m[1], Args: args}, true, err
}

// For returns the arguments as an object of a schema, with durations that have a unit in nanoseconds. The names of
// members in args are already those of the schema. A string becomes the only member, whose field is returned by
// field.
func (a Action) For(schema, args json.RawMessage, field func(name string) signature.Field) (json.RawMessage, error) {
	switch {
	case args[0] != '{':
		return nil, fmt.Errorf("args must be one JSON object, not the text %.100s", args)
	case !a.plain:
		return Timed(schema, args), nil
	}
	var object signature.Values
	if err := json.Unmarshal(args, &object); err != nil {
		return nil, err
	}
	only := &object[0]
	text := PlainText(only.JSON)
	value, err := ArgumentText(field(only.Name), text)
	if err != nil {
		return nil, fmt.Errorf("args must be one JSON object with %s: it is not clear which value the text %.100q gives",
			only.Name, text)
	}
	only.JSON = value
	args, err = object.MarshalJSON()
	return Timed(schema, args), err
}
