package signature

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// WithCheck returns a copy with another check of the outputs, for rules that a schema cannot express:
//
//	sig = sig.WithCheck(func(ctx context.Context, out Invoice) error {
//		if sum(out.Lines) != out.Total {
//			return fmt.Errorf("total is %d, but the lines add up to %d", out.Total, sum(out.Lines))
//		}
//		return nil
//	})
//
// See [Signature.Check]. A rule that needs no context can also be a method Validate of the type. A check may run several
// times for the same output, also concurrently, and must not change it.
func (s *Signature[In, Out]) WithCheck(check func(ctx context.Context, out Out) error) *Signature[In, Out] {
	if !s.Spec().made() || check == nil {
		return s
	}
	edited := *s
	edited.checks = append(slices.Clip(s.checks), check)
	return &edited
}

// Check applies the rules of the output type and of [Signature.WithCheck] to a decoded output. First it calls the method
// Validate() error of the type, and of all types within it: struct fields, elements of slices, arrays and maps, and what
// pointers point to. The receiver may be a value or a pointer. If no Validate returns an error, Check calls the checks
// of WithCheck. It returns all errors together, one on a line, with the place of each value whose Validate failed:
//
//	orders[2]: the end is before the start
//
// Modules call Check after [Signature.Decode], and show its error to the model like any other problem of an answer. An
// error that the model must not see or cannot fix ends the run instead: mark it with tools.Fatal. The run also ends if
// its context is done or if a check panics. Check itself does not recover from panics, and cannot stop a Validate that
// blocks; use the context in WithCheck.
//
// Check does not look into values of interface types. It lists up to 20 errors of Validate methods, and counts the rest.
func (s *Signature[In, Out]) Check(ctx context.Context, out Out) error {
	if !s.Spec().made() {
		return errUnmade
	}
	if s.validating != nil {
		if err := validate(s.validating, out); err != nil {
			return err
		}
	}
	var errs []error
	for _, check := range s.checks {
		errs = append(errs, check(ctx, out))
	}
	return errors.Join(errs...)
}

type validator interface{ Validate() error }

var validated = reflect.TypeFor[validator]()

// validatingTypes returns the types, among t and the types within it, whose values must be visited to call all Validate
// methods. It returns nil if no type has the method.
func validatingTypes(t reflect.Type) map[reflect.Type]bool {
	types := map[reflect.Type]bool{}
	if !addValidating(t, types) {
		return nil
	}
	return types
}

func addValidating(t reflect.Type, types map[reflect.Type]bool) bool {
	if known, ok := types[t]; ok {
		return known
	}
	types[t] = true // a type within itself is visited
	found := t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(validated)
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
	seen  map[visit]bool // values can be cyclic
	errs  []error
}

type visit struct {
	at   uintptr
	size int
	typ  reflect.Type
}

func validate(types map[reflect.Type]bool, out any) error {
	const limit = 20
	c := checker{types: types, seen: map[visit]bool{}}
	c.value(addressable(reflect.ValueOf(out)), "", false)
	if more := len(c.errs) - limit; more > 0 {
		c.errs = append(c.errs[:limit], fmt.Errorf("and %s", display.Plural(more, "more error")))
	}
	return errors.Join(c.errs...)
}

// addressable returns a copy whose methods with pointer receivers can be called.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// value visits a value. Promoted means that the value is embedded in a struct whose own Validate was called.
func (c *checker) value(v reflect.Value, path string, promoted bool) {
	if !c.types[v.Type()] || c.again(v) {
		return
	}
	if v.Kind() == reflect.Pointer {
		c.value(v.Elem(), path, promoted)
		return
	}
	own := false
	if at := v.Addr(); at.CanInterface() {
		var rule validator
		if rule, own = at.Interface().(validator); own && !promoted {
			c.add(path, rule.Validate())
		}
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			c.value(v.Index(i), fmt.Sprintf("%s[%d]", path, i), false)
		}
	case reflect.Map:
		c.entries(v, path)
	case reflect.Struct:
		for i := range v.NumField() {
			c.field(v.Field(i), v.Type().Field(i), path, own)
		}
	}
}

// again reports whether a value is nil or was visited before.
func (c *checker) again(v reflect.Value) bool {
	at := visit{typ: v.Type()}
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		at.size = v.Len()
		fallthrough
	case reflect.Pointer:
		if v.IsNil() {
			return true
		}
		at.at = v.Pointer()
	default:
		return false
	}
	known := c.seen[at]
	c.seen[at] = true
	return known
}

func (c *checker) add(path string, err error) {
	switch {
	case err == nil:
		return
	case path != "":
		err = fmt.Errorf("%s: %w", path, err)
	}
	c.errs = append(c.errs, err)
}

func (c *checker) entries(v reflect.Value, path string) {
	names := map[string]reflect.Value{}
	for _, key := range v.MapKeys() {
		names[fmt.Sprint(key)] = key
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c.value(addressable(v.MapIndex(names[name])), within(path, name), false)
	}
}

// field visits a struct's field if encoding/json encodes it. The fields of an embedded struct are in the same JSON
// object. Own means that the struct's Validate was called, which may be that of the embedded struct.
func (c *checker) field(v reflect.Value, f reflect.StructField, path string, own bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case f.Tag.Get("json") == "-", !f.IsExported() && !f.Anonymous:
	case f.Anonymous && name == "":
		c.value(v, path, own)
	case name == "":
		c.value(v, within(path, f.Name), false)
	default:
		c.value(v, within(path, name), false)
	}
}

// within returns the path of a member.
func within(path, name string) string {
	switch {
	case !jsonvalue.IsIdentifier(name):
		return path + "[" + jsonvalue.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}
