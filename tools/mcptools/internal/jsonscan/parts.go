package jsonscan

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Elements returns the elements of an array, in order, as slices of the text. Nothing is
// decoded or copied. A text that is not an array has no elements. The text must be valid
// JSON; otherwise the slices are meaningless.
func Elements(text []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for _, element := range parts(text, '[') {
			if !yield(element) {
				return
			}
		}
	}
}

// Members returns the names, without quotes, and the values of the members of an object,
// in order. Otherwise it is like [Elements].
func Members(text []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		for name, value := range parts(text, '{') {
			if !yield(unquoted(name), value) {
				return
			}
		}
	}
}

// parts returns the members of the array or object that starts with the byte open. The
// elements of an array have empty names.
func parts(text []byte, open byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func([]byte, json.RawMessage) bool) {
		at := space(text, 0)
		if at == len(text) || text[at] != open {
			return
		}
		for at = space(text, at+1); at < len(text) && text[at] != ']' && text[at] != '}'; {
			var name []byte
			if open == '{' {
				end := value(text, at)
				name = text[at:end]
				if at = space(text, end); at < len(text) { // the colon
					at = space(text, at+1)
				}
			}
			end := value(text, at)
			if !yield(name, text[at:end:end]) {
				return
			}
			if at = space(text, end); at < len(text) && text[at] == ',' {
				at = space(text, at+1)
			} else if at == end && end < len(text) && text[at] != ']' && text[at] != '}' {
				return // not JSON
			}
		}
	}
}

// space returns the position after the white space at the position.
func space(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// value returns the position after the value at the position.
func value(text []byte, at int) int {
	for depth := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = quote(text, at)
		case '[', '{':
			depth++
			continue
		case ']', '}':
			if depth == 0 {
				return at
			}
			depth--
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return min(at+1, len(text))
		}
	}
	return len(text)
}

// quote returns the position of the quote that ends the string at the position.
func quote(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at
}

// unquoted returns the name that the JSON string encodes.
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
