package signature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// WithCheck returns a copy with another check of the outputs, for rules that a schema cannot express. See
// [Signature.Check]. A check may run several times for the same output, also concurrently, and must not change it.
func (s *Signature[In, Out]) WithCheck(check func(ctx context.Context, out Out) error) *Signature[In, Out] {
	if !s.Spec().made() || check == nil {
		return s
	}
	edited := *s
	edited.checks = append(slices.Clip(s.checks), check)
	return &edited
}

// Check applies the rules of the output type and of [Signature.WithCheck] to a decoded output. First it calls the
// method Validate() error of the type and of all types within it: struct fields, elements of slices, arrays and maps,
// and what pointers point to, but not values of interface types. The receiver may be a value or a pointer. If no
// Validate returns an error, Check calls the checks of WithCheck. It returns all errors together (at most 20 of
// Validate methods), one on a line, with the place of each value whose Validate failed:
//
//	orders[2]: the end is before the start
//
// Modules call Check after [Signature.Decode], and show its error to the model like any other problem of an answer. An
// error that the model must not see or cannot fix ends the run instead: mark it with tools.Fatal. The run also ends if
// its context is done or if a check panics. Check itself does not recover from panics, and cannot stop a Validate that
// blocks; use the context in WithCheck.
func (s *Signature[In, Out]) Check(ctx context.Context, out Out) error {
	if !s.Spec().made() {
		return errUnmade
	}
	if s.validating[reflect.TypeFor[Out]()] {
		c := checker{types: s.validating, seen: map[[3]any]bool{}}
		c.value(addressable(reflect.ValueOf(out)), "", false)
		if c.errs != nil {
			return errors.Join(c.errs...)
		}
	}
	var errs []error
	for _, check := range s.checks {
		errs = append(errs, check(ctx, out))
	}
	return errors.Join(errs...)
}

type validator interface{ Validate() error }

// addValidating adds t and the types within it. A type is true if its values must be visited to call all Validate
// methods.
func addValidating(t reflect.Type, types map[reflect.Type]bool) bool {
	if known, ok := types[t]; ok {
		return known
	}
	types[t] = true // a type within itself is visited
	found := t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(reflect.TypeFor[validator]())
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		found = addValidating(t.Elem(), types) || found
	case reflect.Struct:
		for i := range t.NumField() {
			found = addValidating(t.Field(i).Type, types) || found
		}
	}
	types[t] = found
	return found
}

// checker calls the Validate methods in a value.
type checker struct {
	types map[reflect.Type]bool
	seen  map[[3]any]bool // the types, addresses and lengths of pointers, slices and maps, which can be cyclic
	errs  []error
}

// addressable returns a copy whose methods with pointer receivers can be called.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// value visits a value. Promoted means that the value is embedded in a struct whose own Validate was called.
func (c *checker) value(v reflect.Value, path string, promoted bool) {
	if !c.types[v.Type()] || len(c.errs) == 20 {
		return
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		here := [3]any{v.Type(), v.Pointer()}
		if v.Kind() == reflect.Slice {
			here[2] = v.Len()
		}
		if v.IsNil() || c.seen[here] {
			return
		}
		c.seen[here] = true
	}
	if v.Kind() == reflect.Pointer {
		c.value(v.Elem(), path, promoted)
		return
	}
	own := false
	if at := v.Addr(); at.CanInterface() {
		var rule validator
		if rule, own = at.Interface().(validator); own && !promoted {
			if err := rule.Validate(); err != nil {
				c.errs = append(c.errs, fmt.Errorf("%s%w", strings.TrimPrefix(path+": ", ": "), err))
			}
		}
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			c.value(v.Index(i), fmt.Sprintf("%s[%d]", path, i), false)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			c.value(addressable(v.MapIndex(key)), jsonvalue.Member(path, fmt.Sprint(key)), false)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.field(v.Field(i), v.Type().Field(i), path, own)
		}
	}
}

// field visits a struct's field if encoding/json encodes it. The fields of an embedded struct are in the same JSON
// object. Own means that the struct's Validate was called, which may be that of the embedded struct.
func (c *checker) field(v reflect.Value, f reflect.StructField, path string, own bool) {
	tag := f.Tag.Get("json")
	name, _, _ := strings.Cut(tag, ",")
	switch {
	case tag == "-", !f.IsExported() && !f.Anonymous:
	case f.Anonymous && name == "":
		c.value(v, path, own)
	default:
		c.value(v, jsonvalue.Member(path, cmp.Or(name, f.Name)), false)
	}
}
