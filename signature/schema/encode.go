package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Encode returns a Go value as JSON for this schema, which [Of] made of its
// type. It is what encoding/json makes of it, except that nil slices, maps and
// byte slices are empty and not null, since nobody who reads the schema expects
// a null, and that <, > and & stay as they are. The result is not validated.
// A method of v that panics is an error.
func (s *Schema) Encode(v any) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, fmt.Errorf("schema: %T does not encode: panic: %v", v, p)
		}
	}()
	w := writers.Get().(*writer)
	defer writers.Put(w)
	w.buffer.Reset()
	if err := w.encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("schema: %T does not encode: %w", v, err)
	}
	raw = json.RawMessage(bytes.Clone(bytes.TrimSuffix(w.buffer.Bytes(), []byte("\n"))))
	if w.buffer.Cap() > maxKept {
		w.buffer = bytes.Buffer{}
	}
	if !s.fills || !bytes.Contains(raw, []byte("null")) {
		return raw, nil
	}
	doc, err := jsonvalue.Decode(raw, maxValueDepth, true)
	if err != nil {
		return nil, fmt.Errorf("schema: %T %w", v, err)
	}
	return doc.Encode(fill(s.document.Value, doc.Value)), nil
}

// writers encode one value after another.
var writers = sync.Pool{New: func() any {
	w := &writer{}
	w.encoder = json.NewEncoder(&w.buffer)
	w.encoder.SetEscapeHTML(false)
	return w
}}

type writer struct {
	buffer  bytes.Buffer
	encoder *json.Encoder
}

const maxKept = 64 << 10 // bytes of a buffer that is used again

// fills reports whether a schema may have a nil anywhere that is empty and not
// null: a list, a map or bytes, besides the struct itself.
func fills(v any, raw json.RawMessage) bool {
	objects := bytes.Count(raw, []byte(`"object"`))
	if root, _ := v.(map[string]any); root["properties"] != nil {
		objects--
	}
	return objects > 0 || bytes.Contains(raw, []byte(`"array"`)) || bytes.Contains(raw, []byte(`"contentEncoding"`))
}

// fill replaces each null in a value by the empty value of its schema.
func fill(schema, v any) any {
	rule := solid(schema, v)
	switch v := v.(type) {
	case map[string]any:
		properties, _ := rule["properties"].(map[string]any)
		for name, member := range v {
			described, known := properties[name]
			if !known {
				described = rule["additionalProperties"]
			}
			v[name] = fill(described, member)
		}
	case []any:
		for i, item := range v {
			v[i] = fill(rule["items"], item)
		}
	case nil:
		return empty(rule)
	}
	return v
}

// solid returns the schema of what is there: of a pointer that is not nil, what
// it points to.
func solid(schema, v any) map[string]any {
	rule, _ := schema.(map[string]any)
	if either, ok := rule["anyOf"].([]any); ok && v != nil && len(either) > 0 {
		rule, _ = either[0].(map[string]any)
	}
	return rule
}

// empty returns the value that replaces a nil of the given type.
func empty(rule map[string]any) any {
	switch rule["type"] {
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	case "string":
		if rule["contentEncoding"] != nil {
			return ""
		}
	}
	return nil
}
