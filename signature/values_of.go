package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// ValuesOf returns a struct or a map with string keys as values: in the order of
// the fields, or of the keys' names. It is a short way to the inputs of a parsed
// signature:
//
//	in, err := signature.ValuesOf(map[string]any{"question": "Who?", "context": texts})
//
// The error says what does not encode as a JSON object.
func ValuesOf(v any) (Values, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("signature: %T does not encode: %w", v, err)
	}
	var values Values
	if err := json.Unmarshal(b.Bytes(), &values); err != nil {
		return nil, fmt.Errorf("signature: %T is no struct or map of values: %w", v, err)
	}
	return values, nil
}

// Decode puts the value of a name into what v points to, as encoding/json does. The
// error says that there is none of that name, or why it does not fit v.
func (v Values) Decode(name string, into any) error {
	value, ok := v.Get(name)
	if !ok {
		return fmt.Errorf("signature: there is no value %q", name)
	}
	if value == nil {
		value = json.RawMessage("null")
	}
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("signature: the value of %q: %w", name, err)
	}
	return nil
}
