package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// narrow empties the enum of a type of which the tag names some values. It says
// which of them the type does not have.
func (t tagged) narrow(s *jsonschema.Schema) string {
	if t.family&ofLists != 0 {
		s = s.Items
	}
	var own, given []string
	for _, v := range s.Enum {
		own = append(own, jsonvalue.Text(v))
	}
	for _, part := range tagParts(t.tag) {
		if value, ok := strings.CutPrefix(part, "enum="); ok {
			if t.family&ofTexts != 0 {
				value = jsonvalue.Text(value)
			}
			given = append(given, value)
		}
	}
	if given == nil {
		return ""
	}
	s.Enum = nil
	for _, v := range given {
		if own != nil && !slices.Contains(own, v) {
			return fmt.Sprintf("the value %s of enum is none of %s; its values are %s", v, t.called, strings.Join(own, ", "))
		}
	}
	return ""
}

// checkValues refuses values in the tag of a field that its type does not have.
func (f field) checkValues(s *jsonschema.Schema, path string) error {
	if f.Tag.Get("jsonschema") == "" {
		return nil
	}
	problem := unfit(s)
	if problem == "" && s.Default != nil && !strings.Contains(f.options, ",string") {
		problem = unheld(s.Default, f.Type)
	}
	if problem == "" {
		return nil
	}
	return tagError(join(path, f.json), problem)
}

// unheld says why a Go type cannot have a default, such as 300 in an int8.
func unheld(v any, t reflect.Type) string {
	err := json.Unmarshal([]byte(jsonvalue.Text(v)), reflect.New(t).Interface())
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("the default does not fit the Go type %v: %s", wrong.Type, wrong.Value)
	}
	if err != nil {
		return fmt.Sprintf("the default does not decode: %v", err)
	}
	return ""
}

// unfit says which value in a tag does not fit what the rest of the tag and the
// type say: a default would never be used, and an example would mislead.
func unfit(s *jsonschema.Schema) string {
	kinds := []struct {
		name   string
		values []any
	}{{"the default", []any{s.Default}}, {"the example", s.Examples}, {"a value of enum", s.Enum}}
	if s.Default == nil {
		kinds = kinds[1:]
	}
	var rules *Schema
	for _, kind := range kinds {
		for _, v := range kind.values {
			if rules == nil {
				rules = alone(s)
			}
			if problem := rules.unfit(kind.name, v); problem != "" {
				return problem
			}
		}
	}
	if s.Items != nil {
		return unfit(s.Items)
	}
	return ""
}

// alone compiles a part of a schema; nil if it is nothing without the rest.
func alone(s *jsonschema.Schema) *Schema {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	rules, _ := compile(raw, true)
	return rules
}

// unfit says why a value that is called so does not fit.
func (s *Schema) unfit(called string, v any) string {
	if s == nil {
		return ""
	}
	findings := s.Validate(json.RawMessage(jsonvalue.Text(v)))
	for i, f := range findings {
		findings[i].Path = within(called, f.Path)
	}
	return Summary(findings)
}

// within names a place in what is called so.
func within(called, path string) string {
	if path == "" || path[0] == '[' {
		return called + path
	}
	return called + "." + path
}
