package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// checkValues refuses a default, an example or a value of an enum that does not
// fit the schema or the Go type.
func (t *tagged) checkValues(s *jsonschema.Schema) error {
	type named struct {
		name  string
		value any
	}
	var all []named
	if s.Default != nil {
		all = append(all, named{"the default", s.Default})
	}
	for _, v := range s.Examples {
		all = append(all, named{"the example", v})
	}
	for _, v := range s.Enum {
		all = append(all, named{"a value of enum", v})
	}
	for _, v := range all {
		if problem := unfit(s, v.name, v.value); problem != "" {
			return errors.New(problem)
		}
	}
	if s.Items != nil {
		return t.checkValues(s.Items)
	}
	date := t.own.Format == "date" && isTime(t.Type) // which encoding/json does not decode
	if v := t.schema.Default; v != nil && !t.option("string") && !date {
		return decodes(v, t.Type)
	}
	return nil
}

// unfit says why a value does not fit a schema. A schema that does not compile
// by itself, since it has references, is not checked.
func unfit(s *jsonschema.Schema, name string, v any) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	compiled, err := compile(raw, true)
	if err != nil {
		return ""
	}
	findings := compiled.Validate(json.RawMessage(jsonvalue.Text(v)))
	for i, f := range findings {
		findings[i].Path = within(name, f.Path)
	}
	return Summary(findings)
}

// decodes returns an error if a Go type cannot hold a default, such as 300 in an
// int8.
func decodes(v any, t reflect.Type) error {
	err := json.Unmarshal([]byte(jsonvalue.Text(v)), reflect.New(t).Interface())
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("the default does not fit the Go type %v: %s", wrong.Type, wrong.Value)
	}
	if err != nil {
		return fmt.Errorf("the default does not decode: %v", err)
	}
	return nil
}

// within returns the path of a place in a named value.
func within(name, path string) string {
	if path == "" || path[0] == '[' {
		return name + path
	}
	return name + "." + path
}
