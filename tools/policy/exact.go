package policy

import (
	"encoding/json"
	"reflect"
	"strings"
)

// misspelt returns the first name in a JSON text that decoding into t would take
// for another one, which differs only in case, or "". The tool may tell them apart.
func misspelt(t reflect.Type, text json.RawMessage) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return ""
	}
	switch t.Kind() {
	case reflect.Struct:
		return misspeltField(t, text)
	case reflect.Map:
		var object map[string]json.RawMessage
		_ = json.Unmarshal(text, &object) // what else it may be, decoding tells
		for _, member := range object {
			if name := misspelt(t.Elem(), member); name != "" {
				return name
			}
		}
	case reflect.Slice, reflect.Array:
		var items []json.RawMessage
		_ = json.Unmarshal(text, &items)
		for _, item := range items {
			if name := misspelt(t.Elem(), item); name != "" {
				return name
			}
		}
	}
	return ""
}

func misspeltField(t reflect.Type, text json.RawMessage) string {
	var object map[string]json.RawMessage
	_ = json.Unmarshal(text, &object)
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() {
			fields[fieldName(f)] = f.Type
		}
	}
	for key, member := range object {
		if exact, ok := fields[key]; ok {
			if name := misspelt(exact, member); name != "" {
				return name
			}
			continue
		}
		for name := range fields {
			if strings.EqualFold(name, key) {
				return key
			}
		}
	}
	return ""
}

func fieldName(f reflect.StructField) string {
	tag := f.Tag.Get("json")
	if name, _, _ := strings.Cut(tag, ","); name != "" && tag != "-" {
		return name
	}
	return f.Name
}
