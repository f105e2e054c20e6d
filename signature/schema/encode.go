package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
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
	doc, err := decode(raw, maxValueDepth, map[string][]string{})
	if err != nil {
		return nil, fmt.Errorf("schema: %T %w", v, err)
	}
	var b bytes.Buffer
	filler{doc.order}.write(&b, s.document.value, doc.value, nil)
	return b.Bytes(), nil
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

// filler writes a value again, with the order of its names kept.
type filler struct{ order map[string][]string }

func (f filler) write(b *bytes.Buffer, schema, v any, at []string) {
	rule := solid(schema, v)
	switch v := v.(type) {
	case map[string]any:
		f.object(b, rule, v, at)
	case []any:
		f.array(b, rule, v, at)
	case nil:
		b.WriteString(empty(rule))
	default:
		encoder := json.NewEncoder(b)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(v) // a decoded scalar always encodes
		b.Truncate(b.Len() - 1)
	}
}

func (f filler) object(b *bytes.Buffer, rule, object map[string]any, at []string) {
	properties, _ := rule["properties"].(map[string]any)
	b.WriteByte('{')
	for i, name := range f.order[pointer(at)] {
		if i > 0 {
			b.WriteByte(',')
		}
		f.write(b, nil, name, nil)
		b.WriteByte(':')
		member, known := properties[name]
		if !known {
			member = rule["additionalProperties"]
		}
		f.write(b, member, object[name], extend(at, name))
	}
	b.WriteByte('}')
}

func (f filler) array(b *bytes.Buffer, rule map[string]any, array []any, at []string) {
	b.WriteByte('[')
	for i, item := range array {
		if i > 0 {
			b.WriteByte(',')
		}
		f.write(b, rule["items"], item, extend(at, fmt.Sprint(i)))
	}
	b.WriteByte(']')
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

// empty returns what stands for a nil of the given type.
func empty(rule map[string]any) string {
	switch rule["type"] {
	case "array":
		return "[]"
	case "object":
		return "{}"
	case "string":
		if rule["contentEncoding"] != nil {
			return `""`
		}
	}
	return "null"
}
