package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Input is a value that a configuration asks for. Its fields are those of mcptools.Input.
type Input struct {
	ID          string
	Description string
	Default     string
	Options     []string
	Password    bool
}

// input is an input with its value.
type input struct {
	Input
	done, ok bool
	value    string
}

// parseInputs reads the list of inputs. It skips malformed elements: a reference to one is an
// error.
func parseInputs(list json.RawMessage) map[string]*input {
	var raw []json.RawMessage
	_ = json.Unmarshal(list, &raw)
	inputs := map[string]*input{}
	for _, data := range raw {
		var in struct {
			ID, Description, Default string
			Password                 bool
			Options                  []option
		}
		if json.Unmarshal(data, &in) != nil || in.ID == "" {
			continue
		}
		one := Input{ID: in.ID, Description: in.Description, Default: in.Default, Password: in.Password}
		for _, o := range in.Options {
			one.Options = append(one.Options, string(o))
		}
		inputs[in.ID] = &input{Input: one}
	}
	return inputs
}

// option is a text, or a label with a value.
type option string

// UnmarshalJSON implements [json.Unmarshaler].
func (o *option) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return json.Unmarshal(data, (*string)(o))
	}
	var labeled struct{ Value string }
	err := json.Unmarshal(data, &labeled)
	*o = option(labeled.Value)
	return err
}

// inputValue returns the value of an input, and asks for it once.
func (r *resolver) inputValue(id string) (string, error) {
	in := r.inputs[id]
	if in == nil {
		in = &input{Input: Input{ID: id}}
		r.inputs[id] = in
	}
	if !in.done {
		in.done = true
		if r.Input != nil {
			in.value, in.ok = r.Input(in.Input)
		}
		if !in.ok {
			in.value, in.ok = r.Lookup(inputVariable(id))
		}
		if !in.ok && in.Default != "" {
			in.value, in.ok = in.Default, true
		}
	}
	if in.ok {
		return in.value, nil
	}
	description := ""
	if in.Description != "" {
		description = fmt.Sprintf(" (%s)", in.Description)
	}
	return "", fmt.Errorf("${input:%s}%s has no value; set the variable %s", id, description, inputVariable(id))
}

// inputVariable returns the name of the environment variable for an input.
func inputVariable(id string) string {
	return "INPUT_" + strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return unicode.ToUpper(r)
	}, id)
}
