package signature

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/writ-go/writ/signature/schema"
)

func structSchema(t reflect.Type) (*schema.Schema, error) {
	if t == reflect.TypeFor[Values]() {
		return nil, errors.New("type is signature.Values, which has no fields of its own; use Parse, or Typed with a Spec")
	}
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
		return nil, fmt.Errorf("type is the pointer %v; use the struct %v", t, t.Elem())
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("type is %v; use a struct with a field for each value", t)
	}
	return schema.Of(t)
}

// settable refuses types that encode but do not decode.
func settable(t reflect.Type) error {
	for t := range within(t) {
		if t.Kind() != reflect.Struct {
			continue
		}
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous && !f.IsExported() && f.Type.Kind() == reflect.Pointer {
				return fmt.Errorf("type %v embeds a pointer to %v, which encoding/json cannot set; embed the struct, or export its type", t, f.Type.Elem())
			}
		}
	}
	return nil
}

// decodes reports whether a type decodes itself.
func decodes(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// within returns a type and all types in it that encoding/json decodes.
func within(t reflect.Type) iter.Seq[reflect.Type] {
	return func(yield func(reflect.Type) bool) { walk(t, map[reflect.Type]bool{}, yield) }
}

func walk(t reflect.Type, seen map[reflect.Type]bool, yield func(reflect.Type) bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if decodes(t) {
		return true
	}
	if !yield(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return walk(t.Elem(), seen, yield)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && !walk(f.Type, seen, yield) {
				return false
			}
		}
	}
	return true
}
