package replies

import (
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// shape is what a schema admits, as far as it helps to read a value that is spelled in another way
// than JSON's. What it does not know is read strictly.
type shape struct {
	text, integer, fraction, boolean, null bool // what kinds of values it admits

	any       bool     // the schema does not say which kinds
	format    string   // of a text, or schema.Nanoseconds of an integer
	constants []string // the texts that it lists
	items     *shape   // of an array; nil if it admits none
	members   []member // of an object; nil if it admits none
	rest      *shape   // of an object's other members; nil if it admits none
	least     float64  // the smallest number
}

type member struct {
	name     string
	shape    shape
	required bool
}

func (s shape) number() bool { return s.integer || s.fraction }

// keywords are those of a schema that a shape is made of.
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
		return shape{any: true} // a boolean, or a form that is not known here
	}
	s := shape{format: k.Format, least: k.Minimum}
	for _, choice := range append(k.AnyOf, k.OneOf...) {
		s.join(shapeOf(choice))
	}
	types, _ := k.Type.([]any)
	if name, ok := k.Type.(string); ok {
		types = []any{name}
	}
	for _, name := range types {
		s.admit(name, k)
	}
	for _, c := range append(k.Enum, k.Const) {
		if text, ok := c.(string); ok {
			s.text = true
			s.constants = append(s.constants, text)
		}
	}
	s.null = s.null || slices.Contains(k.Enum, nil)
	s.any = s.any || k.Type == nil && k.Enum == nil && k.Const == nil && k.AnyOf == nil && k.OneOf == nil
	return s
}

// admit makes s admit a type of JSON Schema.
func (s *shape) admit(name any, k keywords) {
	switch name {
	case "string":
		s.text = true
	case "integer":
		s.integer = true
	case "number":
		s.fraction = true
	case "boolean":
		s.boolean = true
	case "null":
		s.null = true
	case "array":
		items := shapeOf(k.Items)
		s.items = &items
	case "object":
		s.members = make([]member, len(k.Properties))
		if string(k.Additional) != "false" {
			rest := shapeOf(k.Additional)
			s.rest = &rest
		}
		for i, p := range k.Properties {
			s.members[i] = member{p.Name, shapeOf(p.JSON), slices.Contains(k.Required, p.Name)}
		}
	}
}

// join makes s admit what other admits.
func (s *shape) join(o shape) {
	s.text, s.integer, s.fraction = s.text || o.text, s.integer || o.integer, s.fraction || o.fraction
	s.boolean, s.null, s.any = s.boolean || o.boolean, s.null || o.null, s.any || o.any
	s.constants = append(s.constants, o.constants...)
	if o.items != nil {
		s.items = o.items
	}
	if o.members != nil {
		s.members, s.rest = o.members, o.rest
	}
	if o.format != "" {
		s.format = o.format
	}
	s.least = max(s.least, o.least)
}

// admits reports whether a value is of a kind that the shape admits, so that only a rule can be
// against it.
func (s shape) admits(value json.RawMessage) bool {
	switch c := value[0]; {
	case s.any:
		return true
	case c == '"':
		return s.text
	case c == '{':
		return s.members != nil
	case c == '[':
		return s.items != nil
	case c == 't', c == 'f':
		return s.boolean
	case c == 'n':
		return s.null
	default:
		return s.number()
	}
}

// spelling returns a scalar as a shape wants it that is spelled as a text, or nil.
type spelling func(s shape, text string) json.RawMessage

// spelled returns a value whose scalars are as the shape has them where they are spelled in another
// way, and names of members too: "42" as 42, 42.0 as 42, "Good" as "good".
func (s shape) spelled(value json.RawMessage, spell spelling) json.RawMessage {
	switch c := value[0]; {
	case c == '{' && s.members != nil:
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
	case s.integer && !s.fraction && (c == '-' || '0' <= c && c <= '9'):
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
			if v.JSON = m.shape.spelled(v.JSON, spell); string(v.JSON) == "null" && !m.required && !m.shape.null && !m.shape.any {
				continue // null says that there is no value
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

// lasts reports whether a value is a time in nanoseconds, which models may write with its unit.
func (s shape) lasts() bool { return s.format == schema.Nanoseconds && s.integer && !s.text }
