package jsonscan

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
)

// Elements returns an array's elements, in order, as slices of the text. It decodes and copies nothing. If the text is
// not an array, there are no elements. The text must be valid JSON; otherwise the slices are meaningless.
func Elements(text []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for _, element := range parts(text, '[') {
			if !yield(element) {
				return
			}
		}
	}
}

// Members returns the decoded names and the values of an object's members, in order. The values are slices of the text,
// as in [Elements].
func Members(text []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		for name, value := range parts(text, '{') {
			if !yield(unquoted(name), value) {
				return
			}
		}
	}
}

// parts returns the members of the object, or the elements of the array, that begins with the
// byte open. Elements have empty names.
func parts(text []byte, open byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		first := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
		if first == len(text) || text[first] != open {
			return
		}
		var name []byte
		depth := 0
		start := first + 1 // the start of the current name or value
		for at := start; at < len(text); at++ {
			switch c := text[at]; {
			case c == '"':
				at = quote(text, at)
			case c == '[' || c == '{':
				depth++
			case depth > 0 && (c == ']' || c == '}'):
				depth--
			case depth > 0:
			case c == ':':
				name, start = bytes.TrimSpace(text[start:at]), at+1
			case c == ',' || c == ']' || c == '}':
				part := slices.Clip(bytes.TrimSpace(text[start:at]))
				if len(part) > 0 && !yield(name, part) || c != ',' {
					return
				}
				start = at + 1
			}
		}
	}
}

// quote returns the position of the closing quote for the string that begins at a position.
func quote(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at
}

// unquoted decodes a JSON string.
func unquoted(text []byte) []byte {
	if bytes.IndexByte(text, '\\') >= 0 {
		var name string
		if json.Unmarshal(text, &name) != nil {
			return text
		}
		return []byte(name)
	}
	if len(text) < 2 {
		return text
	}
	return text[1 : len(text)-1]
}
