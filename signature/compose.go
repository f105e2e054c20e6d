package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
)

// compose returns the schema of an object with the given fields and rules. It also returns the fields, whose schemas
// then validate single values as the object's schema does.
func compose(fields []Field, rules Values) ([]Field, *schema.Schema, error) {
	completed := make([]Field, len(fields))
	required, properties := []string{}, Values{}
	for i, f := range fields {
		var property json.RawMessage
		var err error
		if completed[i], property, err = f.complete(); err != nil {
			return nil, nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		properties = append(properties, Value{f.Name, property})
		if completed[i].Required {
			required = append(required, f.Name)
		}
	}
	o, err := object(properties, required, rules)
	if err != nil {
		return nil, nil, fmt.Errorf("fields: %w", err)
	}
	return completed, o, nil
}

// ownKeywords are the keywords of an object's schema that compose makes from the fields.
var ownKeywords = []string{"type", "properties", "required"}

func object(properties Values, required []string, rules Values) (*schema.Schema, error) {
	keywords := Values{
		{"type", json.RawMessage(`"object"`)}, {"properties", literal(properties)}, {"required", literal(required)},
	}
	if _, open := rules.Get("additionalProperties"); !open {
		keywords = append(keywords, Value{"additionalProperties", json.RawMessage("false")})
	}
	return compiled(literal(append(keywords, rules...)))
}

// compiled compiles a schema that also checks formats.
func compiled(raw json.RawMessage) (*schema.Schema, error) {
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	return s.WithFormats()
}

// complete adds the field's description to its schema, and makes a field with a default optional. It also returns the
// schema in a form that can be part of a larger schema.
func (f Field) complete() (Field, json.RawMessage, error) {
	raw := json.RawMessage("{}")
	if f.Schema != nil && string(f.Schema.Raw()) != "true" {
		raw = f.Schema.Raw()
	}
	if raw[0] != '{' { // false, which admits no value
		return f, raw, nil
	}
	raw = described(raw, f.Description)
	f.Description = description(raw)
	var keywords Values
	if err := json.Unmarshal(raw, &keywords); err != nil {
		return f, nil, err
	}
	if _, backed := keywords.Get("default"); backed {
		f.Required = false
	}
	own := literal(keywords)
	if len(keywords) == 0 {
		own = json.RawMessage("true")
	}
	id, _ := keywords.Get("$id")
	if own := bytes.Trim(id, `"`); special.Match(raw) && (len(own) == 0 || bytes.Count(raw, own) == 1) {
		keywords = keywords.with("$id", "field:"+f.Name)
	}
	var err error
	f.Schema, err = compiled(own)
	return f, literal(keywords), err
}

// described adds a description to a schema, unless the description is empty.
func described(raw json.RawMessage, text string) json.RawMessage {
	var keywords Values
	if text == "" || string(raw) != "true" && json.Unmarshal(raw, &keywords) != nil {
		return raw
	}
	return literal(keywords.with("description", text))
}

// special matches keywords such as $ref and $schema. In a part of a larger schema, they work
// only if the part has an $id.
var special = regexp.MustCompile(`"(\$|\\u0024)`)

// decompose returns the fields that a struct's schema describes, and the schema's remaining keywords.
func decompose(s *schema.Schema) ([]Field, Values, error) {
	var o struct {
		Type       string
		Properties Values
		Required   []string
	}
	var rules Values
	raw := s.Raw()
	if err := errors.Join(json.Unmarshal(raw, &o), json.Unmarshal(raw, &rules)); err != nil || o.Type != "object" {
		return nil, nil, errors.New("type has its own JSON encoding (for example MarshalJSON, possibly promoted from " +
			"an embedded type), so its fields are unknown; use a plain struct, and give embedded types a field name")
	}
	if _, closed := rules.Get("additionalProperties"); !closed {
		rules = append(rules, Value{"additionalProperties", json.RawMessage("true")})
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
		return slices.Contains(ownKeywords, rule.Name) ||
			rule.Name == "additionalProperties" && string(rule.JSON) == "false"
	}), nil
}

func description(property json.RawMessage) string {
	var d struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(property, &d) // a schema may also be a boolean
	return d.Description
}

// literal encodes a value that can always be encoded as JSON. It does not escape <, >
// and &.
func literal(v any) json.RawMessage {
	raw, err := jsonvalue.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("signature: %v", err))
	}
	return raw
}

// compact returns JSON without white space.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	_ = json.Compact(&b, raw)
	return b.Bytes()
}
