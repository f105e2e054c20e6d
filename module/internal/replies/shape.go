package replies

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// shape is the part of a schema that is needed to read values in other notations than JSON.
type shape struct {
	kinds     map[string]bool // types of JSON Schema; empty if the schema has no type
	format    string          // the format of a string; schema.Nanoseconds for an integer of nanoseconds
	constants []string        // the strings that the schema lists
	items     *shape          // the items of an array
	members   []member        // an object's members
	rest      *shape          // an object's other members, or nil if none are allowed
	minimum   float64         // the smallest number
}

type member struct {
	name     string
	shape    shape
	required bool
}

// keywords has the keywords of a schema that a shape depends on.
type keywords struct {
	Type         any
	Enum         []any
	Const        any
	Format       string
	Items        json.RawMessage
	Properties   signature.Values
	Required     []string
	Additional   json.RawMessage `json:"additionalProperties"`
	AnyOf, OneOf []json.RawMessage
	Minimum      float64
}

func shapeOf(raw json.RawMessage) shape {
	var k keywords
	if json.Unmarshal(raw, &k) != nil {
		return shape{} // a boolean schema, or keywords of an unknown form
	}
	s := shape{kinds: map[string]bool{}, format: k.Format, minimum: k.Minimum}
	for _, choice := range append(k.AnyOf, k.OneOf...) {
		s.join(shapeOf(choice))
	}
	types, several := k.Type.([]any)
	if !several {
		types = []any{k.Type}
	}
	for _, t := range types {
		if name, ok := t.(string); ok {
			s.kinds[name] = true
		}
	}
	for _, c := range append(k.Enum, k.Const) {
		if text, ok := c.(string); ok {
			s.kinds["string"] = true
			s.constants = append(s.constants, text)
		}
	}
	if slices.Contains(k.Enum, nil) {
		s.kinds["null"] = true
	}
	if k.Items != nil {
		items := shapeOf(k.Items)
		s.items = &items
	}
	if s.kinds["object"] && string(k.Additional) != "false" {
		rest := shapeOf(k.Additional)
		s.rest = &rest
	}
	for _, p := range k.Properties {
		s.members = append(s.members, member{p.Name, shapeOf(p.JSON), slices.Contains(k.Required, p.Name)})
	}
	return s
}

// join makes s admit what other admits.
func (s *shape) join(o shape) {
	maps.Copy(s.kinds, o.kinds)
	s.constants = append(s.constants, o.constants...)
	s.members = append(s.members, o.members...)
	if o.items != nil {
		s.items = o.items
	}
	if o.rest != nil {
		s.rest = o.rest
	}
	s.format, s.minimum = cmp.Or(o.format, s.format), max(s.minimum, o.minimum)
}

func (s shape) any() bool    { return len(s.kinds) == 0 }
func (s shape) text() bool   { return s.kinds["string"] }
func (s shape) number() bool { return s.kinds["integer"] || s.kinds["number"] }

// isDuration reports whether a value is a duration in nanoseconds, which models may write with its unit.
func (s shape) isDuration() bool {
	return s.format == schema.Nanoseconds && s.kinds["integer"] && !s.text()
}

// admits reports whether the shape admits a value's type, so that only a constraint can be violated.
func (s shape) admits(value json.RawMessage) bool {
	switch kind := kinds[value[0]]; kind {
	case "":
		return s.any() || s.number()
	default:
		return s.any() || s.kinds[kind]
	}
}

// kinds maps the first byte of a JSON value to its type. Numbers are missing.
var kinds = map[byte]string{'"': "string", '{': "object", '[': "array", 't': "boolean", 'f': "boolean", 'n': "null"}

// spelling converts a scalar that is written as a string to a shape's type. It returns nil if it cannot.
type spelling func(s shape, text string) json.RawMessage

// spelled returns a value with scalars and member names converted to those of the shape: "42" and 42.0 to 42, "Good" to
// "good".
func (s shape) spelled(value json.RawMessage, spell spelling) json.RawMessage {
	switch c := value[0]; {
	case c == '{' && (s.members != nil || s.rest != nil):
		return s.object(value, spell)
	case c == '[' && s.items != nil:
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return value
		}
		for i, item := range items {
			items[i] = s.items.spelled(item, spell)
		}
		return array(items)
	case c == '"':
		if spelled := spell(s, PlainText(value)); spelled != nil {
			return spelled
		}
	case s.kinds["integer"] && !s.kinds["number"] && (c == '-' || '0' <= c && c <= '9'):
		return integral(value)
	}
	return value
}

func (s shape) object(value json.RawMessage, spell spelling) json.RawMessage {
	var all signature.Values
	if json.Unmarshal(value, &all) != nil {
		return value
	}
	named := make(signature.Values, 0, len(all))
	for _, v := range all {
		at := nearestName(len(s.members), func(i int) string { return s.members[i].name }, v.Name)
		switch {
		case at < 0 && s.rest != nil:
			v.JSON = s.rest.spelled(v.JSON, spell)
		case at >= 0:
			m := s.members[at]
			if _, given := all.Get(m.name); !given {
				v.Name = m.name
			}
			v.JSON = m.shape.spelled(v.JSON, spell)
			if string(v.JSON) == "null" && !m.required && !m.shape.kinds["null"] && !m.shape.any() {
				continue // null means that there is no value
			}
		}
		named = append(named, v)
	}
	if spelled, err := named.MarshalJSON(); err == nil {
		return spelled
	}
	return value
}

func array(items []json.RawMessage) json.RawMessage {
	list := []byte{'['}
	for i, item := range items {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, item...)
	}
	return append(list, ']')
}
