package policy

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// misspelt returns a name in a JSON text that decoding into t would take for
// another one, which differs only in case: of several in one object the first in the
// alphabet. It is "" if there is none. The tool may tell them apart.
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
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if name := misspelt(t.Elem(), object[key]); name != "" {
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
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if exact, ok := fields[key]; ok {
			if name := misspelt(exact, object[key]); name != "" {
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
