package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Encode returns a Go value as JSON. The schema must have been made from the type of v by
// [Of]. The result differs from the output of encoding/json in that nil slices, maps and
// byte slices are empty instead of null, as the schema says, and that <, > and & are not
// escaped. It is not validated. If a method of v panics, Encode returns an error.
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

// fills reports whether values of a schema may contain a nil list, map or byte
// slice.
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

// solid returns the schema of a value: for a non-nil pointer, that of its element.
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
