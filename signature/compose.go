package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/signature/schema"
)

// compose returns the schema of an object with the given fields and rules, and
// the fields with schemas of their own that check what that one checks.
func compose(fields []Field, rules Values) ([]Field, *schema.Schema, error) {
	whole := make([]Field, len(fields))
	required, properties := []string{}, Values{}
	for i, f := range fields {
		var property json.RawMessage
		var err error
		if whole[i], property, err = f.complete(); err != nil {
			return nil, nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		properties = append(properties, Value{f.Name, property})
		if f.Required {
			required = append(required, f.Name)
		}
	}
	o, err := object(properties, required, rules)
	if err != nil {
		return nil, nil, fmt.Errorf("fields: %w", err)
	}
	return whole, o, nil
}

// object returns the schema of an object.
func object(properties Values, required []string, rules Values) (*schema.Schema, error) {
	names, _ := json.Marshal(required) // strings always encode
	members, err := json.Marshal(properties)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(append(Values{
		{"type", json.RawMessage(`"object"`)}, {"properties", members},
		{"required", names}, {"additionalProperties", json.RawMessage("false")},
	}, rules...))
	if err != nil {
		return nil, err
	}
	return compiled(raw)
}

// compiled compiles a schema of a signature, whose formats are checked.
func compiled(raw json.RawMessage) (*schema.Schema, error) {
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	return s.WithFormats()
}

// complete returns the field with a schema that has its description, and that
// schema as a part of a larger one.
func (f Field) complete() (Field, json.RawMessage, error) {
	raw := json.RawMessage("{}")
	if f.Schema != nil {
		raw = f.Schema.Raw()
	}
	if bytes.Equal(raw, []byte("true")) {
		raw = json.RawMessage("{}")
	}
	if raw[0] != '{' { // it admits nothing
		return f, raw, nil
	}
	var keywords Values
	if err := json.Unmarshal(raw, &keywords); err != nil {
		return f, nil, err
	}
	if f.Description == "" {
		f.Description = description(raw)
	} else {
		keywords = keywords.with("description", f.Description)
	}
	own, err := json.Marshal(keywords)
	if err != nil {
		return f, nil, err
	}
	if bytes.Contains(raw, []byte(`"$ref"`)) { // to a part of itself
		keywords = keywords.with("$id", "field:"+f.Name)
	}
	if f.Schema, err = compiled(own); err != nil {
		return f, nil, err
	}
	part, err := json.Marshal(keywords)
	return f, part, err
}

// undescribed returns the field without a description.
func (f Field) undescribed() (Field, error) {
	f.Description = ""
	raw := f.Schema.Raw()
	var keywords Values
	if raw[0] != '{' {
		return f, nil
	}
	if err := json.Unmarshal(raw, &keywords); err != nil {
		return f, err
	}
	raw, err := json.Marshal(keywords.Without("description"))
	if err != nil {
		return f, err
	}
	f.Schema, err = compiled(raw)
	return f, err
}

// with returns a copy with one text set.
func (v Values) with(name, text string) Values {
	literal, _ := json.Marshal(text) // a string always encodes
	return append(v.Without(name), Value{name, literal})
}

// decompose returns the fields of the schema of a struct, and what else it says.
func decompose(s *schema.Schema) ([]Field, Values, error) {
	var o struct {
		Type       string
		Properties Values
		Required   []string
	}
	var rules Values
	raw := s.Raw()
	if err := errors.Join(json.Unmarshal(raw, &o), json.Unmarshal(raw, &rules)); err != nil || o.Type != "object" {
		return nil, nil, errors.New("type encodes itself, so its fields are not known; use a plain struct")
	}
	fields := make([]Field, len(o.Properties))
	for i, p := range o.Properties {
		property, err := compiled(p.JSON)
		if err != nil {
			return nil, nil, fmt.Errorf("field %q: %w", p.Name, err)
		}
		fields[i] = Field{p.Name, description(p.JSON), property, slices.Contains(o.Required, p.Name)}
	}
	return fields, slices.DeleteFunc(rules, func(rule Value) bool {
		return slices.Contains([]string{"type", "properties", "required", "additionalProperties"}, rule.Name)
	}), nil
}

func description(property json.RawMessage) string {
	var d struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(property, &d) // a schema may also be a boolean
	return d.Description
}
