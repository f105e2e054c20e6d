package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// DropNulls removes from a decoded value that fits the schema every member, in
// nested objects too, that is null, not required, and of a type that is nullable:
// there null means that there is no value, as it does for a pointer of a Go struct.
// Members that the schema does not name stay. It changes value.
func (s *Schema) DropNulls(value any) {
	if mentions(s.raw, "null") {
		dropNulls(value, s.compiled)
	}
}

func dropNulls(value any, s *jsonschema.Schema) {
	for _, part := range certain(s, nil) {
		switch v := value.(type) {
		case map[string]any:
			for name, property := range part.Properties {
				member, ok := v[name]
				switch {
				case !ok:
				case member == nil && nullAllowed(property) && !slices.Contains(part.Required, name):
					delete(v, name)
				default:
					dropNulls(member, property)
				}
			}
		case []any:
			if items := itemsOf(part); items != nil {
				for _, item := range v {
					dropNulls(item, items)
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
