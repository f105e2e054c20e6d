package tools

import (
	"bytes"
	"encoding/json"
)

// Named returns args as the object that they stand for. A text given to a tool
// that has one property, which is a string and required, is that property: what
// else could be meant? All else is returned as it is.
func (b *Binding) Named(args json.RawMessage) json.RawMessage {
	if !bytes.HasPrefix(args, []byte(`"`)) {
		return args
	}
	name, ok := b.onlyText()
	if !ok {
		return args
	}
	key, err := json.Marshal(name)
	if err != nil {
		return args // unreachable: every string has a JSON form
	}
	return bytes.Join([][]byte{[]byte("{"), key, []byte(":"), args, []byte("}")}, nil)
}

// onlyText returns the name of the one property that there is, if it is a string
// and required.
func (b *Binding) onlyText() (name string, ok bool) {
	var input struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(b.InputSchema, &input) != nil || len(input.Properties) != 1 || len(input.Required) != 1 {
		return "", false
	}
	name = input.Required[0]
	var property struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(input.Properties[name], &property) != nil {
		return "", false
	}
	return name, property.Type == "string"
}
