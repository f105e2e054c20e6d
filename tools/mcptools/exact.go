package mcptools

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/writ-go/writ/tools/mcptools/internal/jsonscan"
)

// field is a property of an object and what it is decoded into. Raw messages, and lists of
// them, are parts of the object's text, which they keep in memory: copy what is kept for
// longer.
type field struct {
	name string
	into any
}

// decodeExactly decodes the fields of an object, by their exact names: to
// encoding/json "Content" is "content" too, and the one that comes last wins. The data
// must be valid JSON.
func decodeExactly(data []byte, fields ...field) error {
	data = present(data)
	if data == nil {
		return nil
	}
	if data[0] != '{' {
		return fmt.Errorf("must be an object, not %s", jsonType(data))
	}
	values := make([]json.RawMessage, len(fields))
	for name, value := range jsonscan.Members(data) {
		if i := slices.IndexFunc(fields, func(f field) bool { return f.name == string(name) }); i >= 0 {
			values[i] = value
		}
	}
	for i, value := range values {
		if value == nil {
			continue
		}
		if err := fields[i].decode(value); err != nil {
			return fmt.Errorf("%s: %w", fields[i].name, err)
		}
	}
	return nil
}

func (f field) decode(value json.RawMessage) error {
	switch into := f.into.(type) {
	case *json.RawMessage:
		*into = value
		return nil
	case *[]json.RawMessage:
		return decodeList(value, into)
	}
	return json.Unmarshal(value, f.into)
}

// maxList is how many elements a list may have. What is allowed of tools is less by far.
const maxList = 100_000

func decodeList(data json.RawMessage, into *[]json.RawMessage) error {
	if data[0] != '[' && data[0] != 'n' {
		return fmt.Errorf("must be an array, not %s", jsonType(data))
	}
	if jsonscan.Check(data, jsonscan.Limits{Elements: maxList}) != nil {
		return fmt.Errorf("has more than %d elements", maxList)
	}
	for element := range jsonscan.Elements(data) {
		*into = append(*into, element)
	}
	return nil
}
