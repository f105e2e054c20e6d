package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Marshal returns the JSON of a Go value. It encodes the value like [Schema.Encode] with the schema of the value's
// type. If [Of] rejects the type, Marshal encodes the value like encoding/json, but does not escape <, > and &.
func Marshal(v any) (json.RawMessage, error) {
	t := pointed(reflect.TypeOf(v))
	if s, known := schemas.Load(t); known {
		return s.(*Schema).encode(v)
	}
	s, err := Of(t)
	if err != nil {
		s = &Schema{}
	}
	schemas.Store(t, s)
	return s.encode(v)
}

var schemas sync.Map // the *Schema of each type that Marshal has encoded

// Encode returns the JSON of a Go value. The schema must describe the type of v, as a schema made by [Of] does. The
// result differs from encoding/json's output: nil slices and maps are empty instead of null, as the schema requires; a
// [time.Time] of the format "date" is only a date; and <, > and & are not escaped. Encode does not validate the result.
// If one of v's methods panics, Encode returns an error.
func (s *Schema) Encode(v any) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, fmt.Errorf("cannot encode %T: panic: %v", v, p)
		}
	}()
	if raw, err = s.encode(v); err != nil {
		return nil, fmt.Errorf("cannot encode %T: %w", v, err)
	}
	return raw, nil
}

func (s *Schema) encode(v any) (json.RawMessage, error) {
	raw, err := jsonvalue.Marshal(v)
	dates := bytes.Contains(s.raw, []byte(`"format":"date"`))
	if err != nil || s.document == nil || !dates && !bytes.Contains(raw, []byte("null")) {
		return raw, err
	}
	doc, err := jsonvalue.Decode(raw, maxValueDepth, true)
	if err != nil {
		return nil, fmt.Errorf("the JSON %w", err)
	}
	var t reflect.Type
	if dates {
		t = reflect.TypeOf(v)
	}
	return doc.Encode(walker{selfEncoding, conform}.value(s.document.Value, doc.Value, t)), nil
}

// walker rewrites the scalars in a JSON value. It calls leaf for each scalar with the scalar's schema and Go type,
// which are nil if they are unknown.
type walker struct {
	opaque reflect.Type // the interface of types whose JSON does not follow from their fields or elements
	leaf   func(v any, rule map[string]any, t reflect.Type) any
}

func (w walker) value(schema, v any, t reflect.Type) any {
	rule, t := solid(schema, v), pointed(t)
	fields, each := w.members(t)
	switch v := v.(type) {
	case map[string]any:
		properties, _ := rule["properties"].(map[string]any)
		for name, member := range v {
			described, known := properties[name]
			if !known {
				described = rule["additionalProperties"]
			}
			v[name] = w.value(described, member, cmp.Or(fields[name], each))
		}
		return v
	case []any:
		for i, item := range v {
			v[i] = w.value(rule["items"], item, each)
		}
		return v
	}
	return w.leaf(v, rule, t)
}

// members returns the types of a struct's fields by name, or the element type of a map or list.
func (w walker) members(t reflect.Type) (fields map[string]reflect.Type, each reflect.Type) {
	switch {
	case t == nil || reflect.PointerTo(t).Implements(w.opaque):
	case t.Kind() == reflect.Map || t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		each = t.Elem()
	case t.Kind() == reflect.Struct:
		fields = map[string]reflect.Type{}
		for _, f := range fieldsOf(t) {
			fields[f.json] = f.Type
		}
	}
	return fields, each
}

// pointed returns a type without its pointers.
func pointed(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// conform replaces null with the schema's empty value, and a [time.Time] with its date if the schema has the format
// "date".
func conform(v any, rule map[string]any, t reflect.Type) any {
	text, _ := v.(string)
	switch {
	case v == nil:
		return empty(rule)
	case t == moment && rule["format"] == "date":
		text, _, _ = strings.Cut(text, "T")
		return text
	}
	return v
}

// solid returns the schema of a value without the alternative null, unless the value is null.
func solid(schema, v any) map[string]any {
	rule, _ := schema.(map[string]any)
	if either, ok := rule["anyOf"].([]any); ok && v != nil && len(either) > 0 {
		rule, _ = either[0].(map[string]any)
	}
	return rule
}

// empty returns the value that replaces null where a schema does not admit null.
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
