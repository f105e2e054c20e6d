package schema

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// DropNulls removes from a decoded value that fits the schema every member, in
// nested objects too, that is null, not required, and of a type that is nullable:
// there null means that there is no value, as it does for a pointer of a Go struct.
// Members that the schema does not name stay. It changes value.
func (s *Schema) DropNulls(value any) {
	if mentions(s.raw, "null") {
		dropNulls(value, s.compiled, nullAllowed)
	}
}

// DropUnset returns a value without the members, in nested objects too, that are null, not
// required, and must not be null: those that a model which follows [Schema.Strict] leaves
// unset. What is not JSON, or has a name twice, is returned as it is.
func (s *Schema) DropUnset(value json.RawMessage) json.RawMessage {
	if !bytes.Contains(value, []byte("null")) {
		return value
	}
	d, err := decode(value, maxValueDepth, nil)
	if err != nil || len(d.repeated) > 0 {
		return value
	}
	dropNulls(d.value, s.compiled, func(s *jsonschema.Schema) bool { return !nullAllowed(s) })
	dropped, err := json.Marshal(d.value)
	if err != nil {
		return value
	}
	return dropped
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

// nullAllowed reports whether the schema names null as an alternative to a type.
func nullAllowed(s *jsonschema.Schema) bool {
	if s.Types != nil && slices.Contains(s.Types.ToStrings(), "null") {
		return true
	}
	return slices.ContainsFunc(s.AnyOf, onlyNull) || slices.ContainsFunc(s.OneOf, onlyNull)
}
