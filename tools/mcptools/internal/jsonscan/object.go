package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Field names a member of an object and the variable that receives its value. A
// *[json.RawMessage] or *[][json.RawMessage] receives slices of the object's text, which
// keep that text in memory: copy what is kept for longer.
type Field struct {
	Name string
	Into any
}

// maxList is how many elements a list in a [Field] may have.
const maxList = 100_000

// Object decodes the members of an object by their exact names. Package encoding/json
// ignores case, so "Content" would overwrite "content". The text must be valid JSON.
func Object(text []byte, fields ...Field) error {
	text = Present(text)
	if text == nil {
		return nil
	}
	if text[0] != '{' {
		return fmt.Errorf("must be an object, not %s", Type(text))
	}
	values := make([]json.RawMessage, len(fields))
	for name, value := range Members(text) {
		if i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == string(name) }); i >= 0 {
			values[i] = value
		}
	}
	for i, value := range values {
		if value == nil {
			continue
		}
		if err := fields[i].decode(value); err != nil {
			return fmt.Errorf("%s: %w", fields[i].Name, err)
		}
	}
	return nil
}

func (f Field) decode(value json.RawMessage) error {
	switch into := f.Into.(type) {
	case *json.RawMessage:
		*into = value
		return nil
	case *[]json.RawMessage:
		if value[0] != '[' && value[0] != 'n' {
			return fmt.Errorf("must be an array, not %s", Type(value))
		}
		if Check(value, Limits{Elements: maxList}) != nil {
			return fmt.Errorf("has more than %d elements", maxList)
		}
		*into = slices.AppendSeq(*into, Elements(value))
		return nil
	}
	return json.Unmarshal(value, f.Into)
}

// Present returns the text without surrounding white space, or nil if it is empty or null.
func Present(text json.RawMessage) json.RawMessage {
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" {
		return nil
	}
	return text
}

// Type returns the type of a JSON value, as JSON Schema calls it.
func Type(text []byte) string {
	switch text[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
