package schema

// AnyText reports whether the schema admits every text and nothing else, which
// spares its users a validation.
func (s *Schema) AnyText() bool { return s.anyText }

func anyText(v any) bool {
	keywords, _ := v.(map[string]any)
	for name := range keywords {
		switch name {
		case "type", "title", "description", "default", "examples":
		default:
			return false
		}
	}
	return keywords["type"] == "string"
}
