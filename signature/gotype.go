package signature

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

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
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && has(solid(f.Type), selfEncoding) && has(t, selfEncoding) && !has(t, selfDescribing) {
			return nil, fmt.Errorf("type encodes itself, so its fields are unknown; unless it has a method MarshalJSON, it "+
				"inherits that of the embedded %v: give that field a name", f.Type)
		}
	}
	return schema.Of(t)
}

var (
	selfDescribing = reflect.TypeFor[interface{ JSONSchema() *jsonschema.Schema }]()
	selfEncoding   = reflect.TypeFor[json.Marshaler]()
	selfDecoding   = reflect.TypeFor[json.Unmarshaler]()
	textEncoding   = reflect.TypeFor[encoding.TextMarshaler]()
	textDecoding   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// has reports whether a type or a pointer to it implements an interface.
func has(t, methods reflect.Type) bool { return reflect.PointerTo(t).Implements(methods) }

// decodes reports whether a type decodes itself.
func decodes(t reflect.Type) bool { return has(t, selfDecoding) || has(t, textDecoding) }

// settable refuses types that encode but cannot be decoded.
func settable(t reflect.Type) error {
	for at, t := range within(t) {
		if problem := unset(t); problem != "" {
			return fmt.Errorf("%stype %v %s", at.field(), t, problem)
		}
	}
	return nil
}

// unset returns why encoding/json cannot decode into a type, or "".
func unset(t reflect.Type) string {
	textual := has(t, textEncoding) && !has(t, selfEncoding) && !has(t, selfDescribing)
	switch t.Kind() {
	case reflect.String, reflect.Pointer:
		return ""
	case reflect.Map:
		if k := t.Key(); k.Kind() != reflect.String && has(k, textEncoding) && !has(k, textDecoding) {
			return fmt.Sprintf("has keys that are encoded as text but not decoded; give %v a method UnmarshalText", k)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous && !f.IsExported() && f.Type.Kind() == reflect.Pointer {
				return fmt.Sprintf("embeds a pointer to %v, which encoding/json cannot set; embed the struct, or export its type",
					f.Type.Elem())
			}
		}
	}
	if textual {
		return "is encoded as text but not decoded; give it a method UnmarshalText"
	}
	return ""
}

// present refuses input types that lack required fields if an embedded pointer is nil.
func present(t reflect.Type) error {
	for at, t := range within(t) {
		if t.Kind() != reflect.Struct || has(t, selfEncoding) || has(t, textEncoding) || has(t, selfDescribing) {
			continue
		}
		for i := range t.NumField() {
			if f := t.Field(i); promoted(f) && f.Type.Kind() == reflect.Pointer && demands(f.Type.Elem()) {
				return fmt.Errorf("%stype %v embeds a pointer to %v, whose fields are missing if it is nil; embed the struct",
					at.field(), t, f.Type.Elem())
			}
		}
	}
	return nil
}

// demands reports whether a struct has required fields.
func demands(t reflect.Type) bool {
	for _, f := range fieldsOf(t) {
		_, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() != reflect.Pointer && !strings.Contains(rest, "omit") &&
			!strings.Contains(f.Tag.Get("jsonschema"), "default=") {
			return true
		}
	}
	return false
}

// holds refuses defaults that the Go types of their fields cannot hold.
func holds(t reflect.Type, whole *schema.Schema) error {
	if !bytes.Contains(whole.Raw(), []byte(`"default"`)) {
		return nil
	}
	for at, t := range within(t) {
		if t.Kind() != reflect.Struct {
			continue
		}
		s, err := schema.Of(t)
		if err != nil {
			return fmt.Errorf("%s%w", at.field(), err)
		}
		own, _, err := decompose(s)
		if err != nil { // the type describes itself
			continue
		}
		if err := at.holds(t, own); err != nil {
			return err
		}
	}
	return nil
}

// holds refuses defaults of fields that a struct at this place cannot hold.
func (at spot) holds(t reflect.Type, fields []Field) error {
	for _, f := range fields {
		backup, ok := defaultOf(f.Schema.Raw())
		if !ok {
			continue
		}
		if err := schema.Unmarshal(literal(Values{{f.Name, backup}}), reflect.New(t).Interface()); err != nil {
			return fmt.Errorf("%sthe default %s", at.member(f.Name).field(), decodeFinding(err).Message)
		}
	}
	return nil
}

// spot is the path to a field.
type spot string

func (at spot) member(name string) spot {
	if at == "" || name == "" {
		return at + spot(name)
	}
	return at + "." + spot(name)
}

// field returns the place as the prefix of an error, or "" for the whole.
func (at spot) field() string {
	if at == "" {
		return ""
	}
	return fmt.Sprintf("field %q: ", string(at))
}

// within returns a type and all types in it that encoding/json decodes, each with the
// first place where it occurs.
func within(t reflect.Type) iter.Seq2[spot, reflect.Type] {
	return func(yield func(spot, reflect.Type) bool) { walk("", t, map[reflect.Type]bool{}, yield) }
}

func walk(at spot, t reflect.Type, seen map[reflect.Type]bool, yield func(spot, reflect.Type) bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if decodes(t) {
		return true
	}
	if !yield(at, t) {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return walk(at, t.Elem(), seen, yield)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && !walk(at.member(nameOf(f)), f.Type, seen, yield) {
				return false
			}
		}
	}
	return true
}

// nameOf returns the name of a field in JSON, or "" if its fields are promoted.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" && !promoted(f) {
		return f.Name
	}
	return name
}

// promoted reports whether encoding/json promotes the fields of an embedded struct.
func promoted(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Anonymous && name == "" && solid(f.Type).Kind() == reflect.Struct
}

// fieldsOf returns the fields of a struct and of the structs embedded in it that
// encoding/json may encode.
func fieldsOf(t reflect.Type, above ...reflect.Type) []reflect.StructField {
	var all []reflect.StructField
	for _, outer := range above {
		if outer == t { // embedded in itself
			return nil
		}
	}
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Tag.Get("json") == "-":
		case promoted(f):
			all = append(all, fieldsOf(solid(f.Type), append(above, t)...)...)
		case f.IsExported() || f.Anonymous:
			all = append(all, f)
		}
	}
	return all
}

// solid returns a type without its pointers.
func solid(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
