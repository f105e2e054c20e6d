package module

import (
	"fmt"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// submit is the tool whose arguments are the answer.
const submit = "submit"

// actionReply is the reply that the model is asked for: the next call.
type actionReply struct {
	Thought string         `json:"thought" jsonschema:"description=a sentence or two on what you know and what to do next"`
	Tool    string         `json:"tool" jsonschema:"description=the name of one tool\\, with its namespace if it has one"`
	Args    map[string]any `json:"args,omitempty" jsonschema:"description=its arguments as one JSON object"`
}

var actionQuestion = signature.Must(signature.New[struct{}, actionReply](""))

// actionSpec returns the question for the next action of a task.
func actionSpec(task *signature.Spec) (*signature.Spec, error) {
	spec, err := signature.NewSpec(task.Instructions(), task.Inputs(), actionQuestion.Spec().Outputs())
	if err != nil {
		return nil, fmt.Errorf("module: ReAct asks the model for a thought, a tool and args: %w", err)
	}
	return spec, nil
}

// needed reports whether an action needs the field.
func needed(field string) bool { return field == "tool" }

// acted has the fields that say what to do. The other fields of a reply say why.
var acted = signature.Must(signature.New[struct{}, struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args,omitempty"`
}]("")).Spec()

// textArgument returns the field of an argument that is text.
func textArgument(name string) signature.Field {
	f, _ := acted.Field("tool")
	f.Name = name
	return f
}

// submitted returns an earlier turn whose outputs are a call of submit.
func submitted(spec *signature.Spec, turn signature.Values) (signature.Values, error) {
	inputs, outputs := sides(spec, turn)
	args, err := outputs.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("module: the history: %w", err)
	}
	call := signature.Values{{Name: "tool", JSON: replies.Quote(submit)}, {Name: "args", JSON: args}}
	return append(inputs, call...), nil
}

// actionBriefing returns the briefing of a model that calls tools, the same for every step and every run.
func actionBriefing(task *signature.Spec, set *tools.Set, o Options) string {
	a := prompt.Action{Task: task, Tools: o.declarations(set), Steps: o.MaxIters}
	for _, b := range set.Bindings() {
		a.Schemas = append(a.Schemas, b.InputSchema)
	}
	return a.String()
}
