package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
)

// command is a program, or a program with its arguments: an object, as Zed wrote it,
// or an array, as opencode does.
type command struct {
	path string
	args []scalar
	env  map[string]*scalar
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *command) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '{':
	case '[':
		var line []scalar
		if err := json.Unmarshal(data, &line); err != nil || len(line) == 0 {
			return err
		}
		c.path, c.args = string(line[0]), line[1:]
		return nil
	default:
		return json.Unmarshal(data, &c.path)
	}
	var nested struct {
		Path string             `json:"path"`
		Args []scalar           `json:"args"`
		Env  map[string]*scalar `json:"env"`
	}
	err := json.Unmarshal(data, &nested)
	c.path, c.args, c.env = nested.Path, nested.Args, nested.Env
	return err
}

// names are a list that may stand under several keys.
type names []string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *names) UnmarshalJSON(data []byte) error {
	var list []string
	err := json.Unmarshal(data, &list)
	*n = append(*n, list...)
	return err
}

// approval is a list of tools, or true for all.
type approval []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *approval) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*a = append(*a, "*")
		return nil
	case "false":
		return nil
	}
	return (*names)(a).UnmarshalJSON(data)
}

// scalar is text that files also write as a number or a boolean.
type scalar string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *scalar) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil && data[0] == '"' {
		*s = scalar(text)
		return nil
	}
	switch data[0] {
	case '{', '[', 'n':
		return fmt.Errorf("has %s where text is expected", jsonType(data))
	}
	*s = scalar(data)
	return nil
}

// describe words a decoding error in the terms of the file. It repeats no value.
func describe(err error, target any) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("must be %s, not %s", expected(target), wrong.Value)
}

func expected(target any) string {
	switch target.(type) {
	case *command:
		return "a string or an array of strings"
	case *[]scalar, *names:
		return "an array of strings"
	case *approval:
		return "an array of strings, or true"
	case *map[string]*scalar:
		return "an object of strings"
	case **bool:
		return "true or false"
	case *float64:
		return "a number of seconds"
	default:
		return "a string"
	}
}

func jsonType(data []byte) string {
	switch data[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	default:
		return "number"
	}
}
