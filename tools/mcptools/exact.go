package mcptools

import (
	"encoding/json"
	"fmt"
)

// field is a property of an object and what it is decoded into.
type field struct {
	name string
	into any
}

// decodeExactly decodes the fields of an object, by their exact names: to
// encoding/json "Content" is "content" too, and the one that comes last wins.
func decodeExactly(data []byte, fields ...field) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	for _, f := range fields {
		if value, ok := object[f.name]; ok {
			if raw, ok := f.into.(*json.RawMessage); ok {
				*raw = value // it has been looked through
			} else if err := json.Unmarshal(value, f.into); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	return nil
}
