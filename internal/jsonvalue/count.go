package jsonvalue

// Count returns how many commas, and how many braces that open an object, a JSON value has
// outside of strings. They bound the number of values before anything is decoded.
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
