package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Fields maps the names of an object's members to pointers to the variables that receive
// them. A *[json.RawMessage] or *[][json.RawMessage] receives slices of the object's text,
// which keep the whole text in memory: copy the slices that you keep.
type Fields map[string]any

// maxList is the maximum number of elements in a list in [Fields].
const maxList = 100_000

// Object decodes an object's members into fields with exactly the same names. Package encoding/json ignores case, so
// "Content" would overwrite "content". The text must be valid JSON. If a member cannot be decoded, Object decodes the
// remaining members and returns the first error.
func Object(text []byte, fields Fields) (err error) {
	text = Present(text)
	if text == nil {
		return nil
	}
	if text[0] != '{' {
		return fmt.Errorf("must be an object, not %s", jsonvalue.Type(text))
	}
	for name, value := range Members(text) {
		into, known := fields[string(name)]
		if !known {
			continue
		}
		if decodeErr := decode(value, into); decodeErr != nil && err == nil {
			err = fmt.Errorf("%s: %w", name, decodeErr)
		}
	}
	return err
}

func decode(value json.RawMessage, into any) error {
	switch into := into.(type) {
	case *json.RawMessage:
		*into = value
		return nil
	case *[]json.RawMessage:
		if value[0] != '[' && value[0] != 'n' {
			return fmt.Errorf("must be an array, not %s", jsonvalue.Type(value))
		}
		if Check(value, Limits{Elements: maxList}) != nil {
			return fmt.Errorf("has more than %d elements", maxList)
		}
		*into = slices.Collect(Elements(value))
		return nil
	}
	return json.Unmarshal(value, into)
}

// Present returns JSON without surrounding white space, or nil if it is empty or null.
func Present(text json.RawMessage) json.RawMessage {
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" {
		return nil
	}
	return text
}
