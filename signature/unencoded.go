package signature

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// unencoded is the error of a Go value that does not encode, with the field that is
// to blame, if it is one alone.
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

// encodes says why a value does not; a method that panics is an error.
func encodes(v reflect.Value) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	_, err = json.Marshal(v.Interface())
	return err
}

// reworded says of numbers that JSON lacks what they are.
func reworded(err error) error {
	if unsupported, ok := errors.AsType[*json.UnsupportedValueError](err); ok && unsupported.Value.CanFloat() {
		return fmt.Errorf("%s is no number of JSON", unsupported.Str)
	}
	return err
}
