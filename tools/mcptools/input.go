package mcptools

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Input is something that a configuration asks for instead of holding it, in
// the list "inputs" that VS Code made up.
type Input struct {
	// ID is the name in ${input:id}.
	ID string

	// Description says what is asked for; it may be empty.
	Description string

	// Default is the answer if there is none.
	Default string

	// Options are the answers to choose from; empty allows any.
	Options []string

	// Password says that the answer is a secret, and is not to be shown.
	Password bool
}

// asked is an input with its answer.
type asked struct {
	Input
	done, ok bool
	answer   string
}

// inputsIn reads the list of inputs. What is no input is left out: whoever uses
// it is told that it is not there.
func inputsIn(list json.RawMessage) map[string]*asked {
	var raw []json.RawMessage
	_ = json.Unmarshal(list, &raw)
	inputs := map[string]*asked{}
	for _, data := range raw {
		var in struct {
			ID, Description, Default string
			Password                 bool
			Options                  []choice
		}
		if json.Unmarshal(data, &in) != nil || in.ID == "" {
			continue
		}
		input := &asked{Input: Input{ID: in.ID, Description: in.Description, Default: in.Default, Password: in.Password}}
		for _, c := range in.Options {
			input.Options = append(input.Options, string(c))
		}
		inputs[in.ID] = input
	}
	return inputs
}

// choice is a text, or a label with the text that it stands for.
type choice string

// UnmarshalJSON implements [json.Unmarshaler].
func (c *choice) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return json.Unmarshal(data, (*string)(c))
	}
	var labelled struct{ Value string }
	err := json.Unmarshal(data, &labelled)
	*c = choice(labelled.Value)
	return err
}

// answer returns what an input was answered with. Each is asked for once.
func (x *expander) answer(id string) (string, error) {
	if x.silent {
		return "", nil
	}
	in := x.inputs[id]
	if in == nil {
		in = &asked{Input: Input{ID: id}}
		x.inputs[id] = in
	}
	if !in.done {
		in.done = true
		if x.input != nil {
			in.answer, in.ok = x.input(in.Input)
		}
		if !in.ok {
			in.answer, in.ok = x.lookup(variable(id))
		}
		if !in.ok && in.Default != "" {
			in.answer, in.ok = in.Default, true
		}
	}
	if in.ok {
		return in.answer, nil
	}
	what := ""
	if in.Description != "" {
		what = fmt.Sprintf(" (%s)", in.Description)
	}
	return "", fmt.Errorf("${input:%s}%s has no answer; set the variable %s", id, what, variable(id))
}

// variable is the name of the environment variable that answers an input.
func variable(id string) string {
	return "INPUT_" + strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return unicode.ToUpper(r)
	}, id)
}
