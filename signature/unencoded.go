package signature

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// unencoded returns the error of a Go value that does not encode, with the name of the
// first field that does not.
func unencoded(side string, v reflect.Value, err error) error {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return fmt.Errorf("signature: %s: %w", side, reworded(err))
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if !f.IsExported() || promoted(f) || f.Tag.Get("json") == "-" {
			continue
		}
		if wrong := encodes(v.FieldByIndex(f.Index)); wrong != nil {
			return fmt.Errorf("signature: %s field %q does not encode: %w", side, nameOf(f), reworded(wrong))
		}
	}
	return fmt.Errorf("signature: %s: %w", side, reworded(err))
}

// encodes returns why a value does not encode. It turns a panic of a method into an
// error.
func encodes(v reflect.Value) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	_, err = json.Marshal(v.Interface())
	return err
}

// reworded names the numbers that JSON lacks.
func reworded(err error) error {
	if unsupported, ok := errors.AsType[*json.UnsupportedValueError](err); ok && unsupported.Value.CanFloat() {
		return fmt.Errorf("%s is not a JSON number", unsupported.Str)
	}
	return err
}
