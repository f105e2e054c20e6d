package replies

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// actionReply declares the fields of a reply with a tool call.
type actionReply struct {
	Thought string `json:"thought" jsonschema:"description=a sentence or two on what you know and what to do next"`
	Tool    string `json:"tool" jsonschema:"description=the name of one tool\\, with its namespace if it has one"`

	Args map[string]any `json:"args,omitempty" jsonschema:"description=its arguments as one JSON object"`
}

var actionQuestion = signature.Must(signature.New[struct{}, actionReply](""))

// ActionSpec returns the signature for requests that ask for a task's next tool call.
func ActionSpec(task *signature.Spec) (*signature.Spec, error) {
	return signature.NewSpec(task.Instructions(), task.Inputs(), actionQuestion.Spec().Outputs())
}

// ActionAlone is a signature with the outputs that make up a call, without the thought.
var ActionAlone = signature.Must(signature.New[struct{}, struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args,omitempty"`
}]("")).Spec()

// Action is one tool call that a model wrote as text.
type Action struct {
	Tool string
	Args json.RawMessage // an object
}

// ReadAction reads the fields "tool" and "args" of a reply.
func ReadAction(values signature.Values) (Action, error) {
	tool, _ := values.Get("tool")
	written, _ := values.Get("args")
	args, err := Arguments(PlainText(written))
	if err != nil {
		return Action{}, fmt.Errorf("the field %q: %w", "args", err)
	}
	name := Undecorated(Unfence(PlainText(tool)))
	return Action{Tool: strings.TrimSuffix(name, "()"), Args: args}, nil
}

// noArguments has the notations of models for a call without arguments.
var noArguments = map[string]bool{"": true, "null": true, "None": true, "undefined": true}

// Arguments parses a call's arguments, which are one JSON object.
func Arguments(text string) (json.RawMessage, error) {
	if text = strings.TrimSpace(Unfence(text)); noArguments[text] {
		return json.RawMessage("{}"), nil
	}
	value, err := wholeJSON(text)
	switch object := (signature.Values{}); {
	case err != nil:
	case value[0] != '{':
		err = errors.New("write the object that the tool takes")
	default:
		err = json.Unmarshal(value, &object)
	}
	if err != nil {
		return nil, fmt.Errorf("it is not one JSON object: %s", strings.TrimPrefix(err.Error(), "signature: "))
	}
	return value, nil
}

// submission matches a program that only calls submit: submit({"total": 12});
var submission = regexp.MustCompile(`(?s)^(?:await\s+)?submit\s*\((.*)\)\s*;?$`)

// Submission returns a program's answer if the program only submits a constant object.
func Submission(code string) (answer json.RawMessage, ok bool) {
	m := submission.FindStringSubmatch(strings.TrimSpace(code))
	if m == nil {
		return nil, false
	}
	answer, err := Arguments(m[1])
	return answer, err == nil
}

// Timed returns a tool's arguments with durations such as "90s" converted to nanoseconds, wherever the tool's input
// schema declares nanoseconds.
func Timed(of, args json.RawMessage) json.RawMessage {
	if !strings.Contains(string(of), `"`+schema.Nanoseconds+`"`) {
		return args
	}
	return shapeOf(of).spelled(args, func(s shape, text string) json.RawMessage {
		if s.isDuration() {
			return duration(text)
		}
		return nil
	})
}
