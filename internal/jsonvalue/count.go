package jsonvalue

// Count returns the number of commas and the number of objects in JSON. From these numbers, the caller can
// bound the number of values before it decodes the JSON.
func Count(text []byte) (commas, objects int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == ',':
			commas++
		case !quoted && c == '{':
			objects++
		}
	}
	return commas, objects
}
