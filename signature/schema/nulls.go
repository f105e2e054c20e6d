package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// DropNulls removes from a decoded value that fits the schema every member, in nested
// objects too, that is null, not required, and of a nullable type: such a null means the
// same as a missing member, as for a pointer in a Go struct. Members that the schema does
// not name are kept. DropNulls modifies value.
func (s *Schema) DropNulls(value any) {
	if mentions(s.raw, "null") {
		dropNulls(value, s.compiled, nullAllowed)
	}
}

// DropUnset returns a value without the members, in nested objects too, that are null,
// not required, and of a type that is not nullable. A model that follows
// [Schema.Strict] leaves optional members unset this way. DropUnset returns a value
// that is not JSON or repeats a name unchanged.
func (s *Schema) DropUnset(value json.RawMessage) json.RawMessage {
	if !bytes.Contains(value, []byte("null")) {
		return value
	}
	d, err := jsonvalue.Decode(value, maxValueDepth, false)
	if err != nil || len(d.Repeated) > 0 {
		return value
	}
	g, free, err := s.acquire()
	if err != nil {
		return value
	}
	defer free()
	g.begin(d, true)
	dropUnset(d.Value, g.compiled)
	dropped, err := json.Marshal(d.Value)
	if err != nil {
		return value
	}
	return dropped
}

func unset(s *jsonschema.Schema) bool { return !nullAllowed(s) }

func dropUnset(value any, s *jsonschema.Schema) {
	dropNulls(value, s, unset)
	dropInUnions(value, s)
}

// dropInUnions drops unset members where a schema has alternatives, as the first
// alternative requires that the value then fits.
func dropInUnions(value any, s *jsonschema.Schema) {
	for _, part := range certain(s, nil) {
		for _, either := range [][]*jsonschema.Schema{part.AnyOf, part.OneOf} {
			for _, alternative := range either {
				c := copied(value)
				dropUnset(c, alternative)
				x := &explainer{root: c}
				if problems, broken := x.check(alternative); problems == nil && broken == nil {
					replace(value, c)
					break
				}
			}
		}
		switch v := value.(type) {
		case map[string]any:
			for name, property := range part.Properties {
				dropInUnions(v[name], property)
			}
		case []any:
			if items := itemsOf(part); items != nil {
				for _, item := range v {
					dropInUnions(item, items)
				}
			}
		}
	}
}

// copied returns a deep copy of a decoded value.
func copied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for name, member := range v {
			c[name] = copied(member)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, item := range v {
			c[i] = copied(item)
		}
		return c
	}
	return value
}

// replace replaces the members of a value by those of its copy.
func replace(value, c any) {
	switch v := value.(type) {
	case map[string]any:
		clear(v)
		maps.Copy(v, c.(map[string]any))
	case []any:
		copy(v, c.([]any))
	}
}

func dropNulls(value any, s *jsonschema.Schema, droppable func(*jsonschema.Schema) bool) {
	for _, part := range certain(s, nil) {
		switch v := value.(type) {
		case map[string]any:
			for name, property := range part.Properties {
				member, ok := v[name]
				switch {
				case !ok:
				case member == nil && droppable(property) && !slices.Contains(part.Required, name):
					delete(v, name)
				default:
					dropNulls(member, property, droppable)
				}
			}
		case []any:
			if items := itemsOf(part); items != nil {
				for _, item := range v {
					dropNulls(item, items, droppable)
				}
			}
		}
	}
}

// nullAllowed reports whether the schema has null as an alternative to another type.
func nullAllowed(s *jsonschema.Schema) bool {
	if s.Types != nil && slices.Contains(s.Types.ToStrings(), "null") {
		return true
	}
	return slices.ContainsFunc(s.AnyOf, onlyNull) || slices.ContainsFunc(s.OneOf, onlyNull)
}

// readNullable adds null to the types and enums of schemas with "nullable": true, a keyword of
// OpenAPI that JSON Schema ignores, which would refuse valid nulls.
func readNullable(v any) {
	switch v := v.(type) {
	case map[string]any:
		t, typed := v["type"].(string)
		if typed && v["nullable"] == true {
			v["type"] = []any{t, "null"}
		}
		values, listed := v["enum"].([]any)
		if listed && v["nullable"] == true && !slices.Contains(values, nil) {
			v["enum"] = append(values, nil)
		}
		for _, member := range v {
			readNullable(member)
		}
	case []any:
		for _, item := range v {
			readNullable(item)
		}
	}
}
