package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
)

// enumerate adds the values of a type that lists them by a method Enum.
func enumerate(s *jsonschema.Schema, t reflect.Type, path string) error {
	list, ok := reflect.PointerTo(t).MethodByName("Enum")
	if !ok || t.Kind() == reflect.Pointer || list.Type.NumIn() != 1 || list.Type.NumOut() != 1 || list.Type.Out(0).Kind() != reflect.Slice {
		return nil
	}
	values := list.Func.Call([]reflect.Value{reflect.New(t)})[0]
	if values.Len() == 0 {
		return typeError(path, t, "has a method Enum that lists no values")
	}
	s.Enum = nil
	for i := range values.Len() {
		v, err := asJSON(values.Index(i).Interface())
		if err != nil {
			return typeError(path, t, fmt.Sprintf("has a method Enum with a value that does not encode: %v", err))
		}
		s.Enum = append(s.Enum, v)
	}
	return nil
}

// asJSON returns what a value is as JSON, decoded again.
func asJSON(v any) (decoded any, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	err = decoder.Decode(&decoded)
	return decoded, err
}
