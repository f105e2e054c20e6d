package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Argument matches calls that have an argument for which permitted returns true. The name is an argument's name, or a
// JSON Pointer to part of an argument, such as "/user/id". An argument that is missing or null does not match.
//
// Regardless of the policy, a call is refused if the argument cannot be decoded into T, or
// if a name in the call differs only in case from a name in the pointer, T or the tool's
// input schema, because encoding/json in a handler ignores the case of names. T must have a
// schema (see [schema.Of]), so it must not be recursive.
func Argument[T any](name string, permitted func(T) bool) Match {
	known, unknown := schema.Of(reflect.TypeFor[T]())
	text := "calls with a permitted argument " + name
	return Match{text: text, tool: undecided, call: func(c tools.Call) (bool, error) {
		raw, err := argument(c.Args, name)
		if err != nil {
			return false, err
		}
		if findings := c.Tool.OtherCase(c.Args); len(findings) > 0 {
			return false, errors.New(schema.Summary(findings))
		}
		if raw == nil {
			return false, nil
		}
		var v T
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return false, fmt.Errorf("the argument %s must be a %T", name, v)
		}
		if unknown != nil {
			return false, fmt.Errorf("the policy cannot check the argument %s: %w", name, unknown)
		}
		if findings := known.OtherCase(raw, 0); len(findings) > 0 {
			return false, fmt.Errorf("the argument %s: %s", name, schema.Summary(findings))
		}
		return permitted(v), nil
	}}
}

// argument returns part of the arguments, or nil if that part is missing or null.
func argument(args json.RawMessage, name string) (json.RawMessage, error) {
	steps := []string{name}
	if strings.HasPrefix(name, "/") {
		steps = jsonvalue.Tokens(name)
	}
	for _, step := range steps {
		var err error
		if args, err = member(args, step); err != nil {
			return nil, fmt.Errorf("the argument %s: %w", name, err)
		}
	}
	if string(args) == "null" {
		return nil, nil
	}
	return args, nil
}

func member(value json.RawMessage, step string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if key != step && strings.EqualFold(key, step) {
				return nil, fmt.Errorf("the name %q differs from %q only in case", key, step)
			}
		}
		return object[step], nil
	}
	var array []json.RawMessage
	i, err := strconv.Atoi(step)
	if err != nil || json.Unmarshal(value, &array) != nil || i < 0 || i >= len(array) {
		return nil, nil
	}
	return array[i], nil
}
