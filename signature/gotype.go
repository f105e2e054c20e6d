package signature

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/writ-go/writ/signature/schema"
)

func structSchema(t reflect.Type) (*schema.Schema, error) {
	switch {
	case t == reflect.TypeFor[Values]():
		return nil, errors.New("type is signature.Values, which has no fields of its own; use Parse, or Typed " +
			"with a Spec")
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		return nil, fmt.Errorf("type is the pointer %v; use the struct %v", t, t.Elem())
	case t.Kind() != reflect.Struct:
		return nil, fmt.Errorf("type is %v; use a struct with a field for each value", t)
	}
	return schema.Of(t)
}

// holdsDefaults returns an error if a struct cannot hold one of its fields' defaults.
func holdsDefaults(t reflect.Type, fields []Field) error {
	for _, f := range fields {
		value, ok := defaultOf(f.Schema.Raw())
		if !ok {
			continue
		}
		if err := schema.Unmarshal(literal(Values{{f.Name, value}}), reflect.New(t).Interface()); err != nil {
			return fmt.Errorf("field %q: the default %s", f.Name, decodeFinding(err).Message)
		}
	}
	return nil
}
