package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// Nanoseconds is the format of an integer that is a [time.Duration]. Declarations show it
// as the unit, and where a schema has it, a model may reply with a duration such as "30s".
// Validation ignores it.
const Nanoseconds = "nanoseconds"

// Of returns the schema of the JSON into which encoding/json encodes a Go type. Tags in the
// notation of github.com/invopop/jsonschema add rules:
//
//	Mood string `json:"mood" jsonschema:"enum=good,enum=bad,description=How it sounds."`
//
// The schema contains no references, and a struct allows no properties other than its fields. A field is required
// unless it is a pointer, is tagged omitempty or omitzero, or has a default. A pointer may also be null, unless it is
// an element of a slice or map. A type with a method JSONSchema has the schema that the method returns. Otherwise, a
// type with a method MarshalJSON or UnmarshalJSON allows any value, as any and [json.RawMessage] do, and one with only
// a method MarshalText is a string. A [big.Int] is an integer, and a [time.Duration] an integer of the format
// [Nanoseconds]. A [time.Time] is a date-time, or with the tag format=date a date, which is decoded as midnight UTC.
// Numeric types of up to 32 bits have a minimum and a maximum.
//
// Reflection cannot list a type's constants. If a type has a method Enum, the method returns all valid values of the
// type:
//
//	func (Mood) Enum() []Mood { return []Mood{Good, Bad} }
//
// The schema lists a value that the method repeats once.
//
// These are the rules that a tag can have, by the field's JSON type:
//
//	numbers    minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, enum, default, example
//	strings    minLength, maxLength, pattern, format, enum, default, example
//	booleans   default
//	arrays     minItems, maxItems, uniqueItems=true, and rules for the items
//	all        title, description, required, nullable, oneof_required=group, anyof_required=group
//
// The formats are those of JSON Schema (except idn-email and idn-hostname), period and semver. Escape a comma in a
// value: \\, (two backslashes and the comma). A description can also have its own tag, jsonschema_description.
//
// Of rejects recursive types, types that cannot be encoded as JSON, such as channels, functions and interfaces with
// methods, and tags with a rule that is unknown, does not apply to the type, or has an invalid value. The error names
// the field.
func Of(t reflect.Type) (s *Schema, err error) {
	defer func() {
		if p := recover(); p != nil { // a JSONSchema method panicked, or the library did because of a tag
			err = fmt.Errorf("type %v has no schema: %v", t, p)
		}
	}()
	if t == nil {
		return nil, fmt.Errorf("a nil type has no schema")
	}
	var g generator
	js, err := g.schema(t, "")
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(js)
	if err != nil {
		return nil, fmt.Errorf("type %v: %w", t, err)
	}
	if s, err = compile(raw, true); err != nil {
		return nil, fmt.Errorf("type %v: %w", t, err)
	}
	return s, nil
}

var (
	selfDescribing = reflect.TypeFor[interface{ JSONSchema() *jsonschema.Schema }]()
	selfExtending  = reflect.TypeFor[interface{ JSONSchemaExtend(*jsonschema.Schema) }]()
	selfEncoding   = reflect.TypeFor[json.Marshaler]()
	selfDecoding   = reflect.TypeFor[json.Unmarshaler]()
	textEncoding   = reflect.TypeFor[encoding.TextMarshaler]()
	anything       = reflect.TypeFor[any]()
)

// generator makes the schemas for types. It remembers the enclosing types to detect recursion.
type generator struct{ inside []reflect.Type }

func (g *generator) schema(t reflect.Type, path string) (*jsonschema.Schema, error) {
	if s := special(t); s != nil {
		return s, enumerate(s, t, path)
	}
	if slices.Contains(g.inside, t) {
		return nil, typeError(path, t, "is recursive; use json.RawMessage, or give the type a JSONSchema method")
	}
	g.inside = append(g.inside, t)
	defer func() { g.inside = g.inside[:len(g.inside)-1] }()
	s, err := g.composite(t, path)
	if err == nil && reflect.PointerTo(t).Implements(selfExtending) {
		reflect.New(t).Interface().(interface{ JSONSchemaExtend(*jsonschema.Schema) }).JSONSchemaExtend(s)
	}
	if err == nil {
		err = enumerate(s, t, path)
	}
	return s, err
}

// special returns the schema of a type that has its own schema or JSON encoding, and nil for all other types.
func special(t reflect.Type) *jsonschema.Schema {
	p := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Pointer:
		return nil
	case t == moment:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "integer", Format: Nanoseconds}
	case t == bigInt:
		return &jsonschema.Schema{Type: "integer"}
	case t == reflect.TypeFor[json.Number]():
		return &jsonschema.Schema{Type: "number"}
	case p.Implements(selfDescribing):
		s := *reflect.New(t).Interface().(interface{ JSONSchema() *jsonschema.Schema }).JSONSchema()
		s.Version = ""
		return &s
	case t == anything, p.Implements(selfEncoding), p.Implements(selfDecoding):
		return &jsonschema.Schema{}
	case p.Implements(textEncoding):
		return &jsonschema.Schema{Type: "string"}
	default:
		return nil
	}
}

func (g *generator) composite(t reflect.Type, path string) (*jsonschema.Schema, error) {
	switch t.Kind() {
	case reflect.Pointer:
		s, err := g.schema(t.Elem(), path)
		return nullable(s), err
	case reflect.Struct:
		return g.object(t, path)
	case reflect.Map:
		return g.dictionary(t, path)
	case reflect.Slice, reflect.Array:
		return g.list(t, path)
	default:
		return scalar(t, path)
	}
}

func scalar(t reflect.Type, path string) (*jsonschema.Schema, error) {
	r := ranges[t.Kind()]
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case k == reflect.String:
		return &jsonschema.Schema{Type: "string"}, nil
	case k == reflect.Float32 || k == reflect.Float64:
		return &jsonschema.Schema{Type: "number", Minimum: r.min, Maximum: r.max}, nil
	case integral(k):
		return &jsonschema.Schema{Type: "integer", Minimum: r.min, Maximum: r.max}, nil
	case path == "":
		return nil, typeError(path, t, "cannot be encoded as JSON")
	default:
		return nil, typeError(path, t, "cannot be encoded as JSON; leave the field out with json:\"-\"")
	}
}

// integral reports whether the values of a kind are integers.
func integral(k reflect.Kind) bool { return reflect.Int <= k && k <= reflect.Uintptr }

// ranges are the bounds in the schemas of numeric kinds. The other bounds of 64-bit kinds
// are checked when a value is decoded.
var ranges = map[reflect.Kind]struct{ min, max json.Number }{
	reflect.Int8:    {"-128", "127"},
	reflect.Int16:   {"-32768", "32767"},
	reflect.Int32:   {"-2147483648", "2147483647"},
	reflect.Uint:    {min: "0"},
	reflect.Uint8:   {"0", "255"},
	reflect.Uint16:  {"0", "65535"},
	reflect.Uint32:  {"0", "4294967295"},
	reflect.Uint64:  {min: "0"},
	reflect.Uintptr: {min: "0"},
	reflect.Float32: {"-340282346638528859811704183484516925440", "340282346638528859811704183484516925440"},
}

func (g *generator) list(t reflect.Type, path string) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && special(t.Elem()) == nil {
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}, nil
	}
	items, err := g.schema(pointed(t.Elem()), path)
	if err != nil {
		return nil, err
	}
	s := &jsonschema.Schema{Type: "array", Items: items}
	if t.Kind() == reflect.Array {
		n := uint64(t.Len())
		s.MinItems, s.MaxItems = &n, &n
	}
	return s, nil
}

func (g *generator) dictionary(t reflect.Type, path string) (*jsonschema.Schema, error) {
	if k := t.Key(); k.Kind() != reflect.String && !integral(k.Kind()) && !k.Implements(textEncoding) {
		return nil, typeError(path, t, "has keys that cannot be encoded as JSON; use string keys")
	}
	values, err := g.schema(pointed(t.Elem()), path)
	return &jsonschema.Schema{Type: "object", AdditionalProperties: values}, err
}

// object returns a struct's schema. It uses the library's reflector only to apply the tags: it passes the reflector a
// struct type with the fields that encoding/json encodes, and a Mapper that returns the schemas of the field types in
// the same order.
func (g *generator) object(t reflect.Type, path string) (*jsonschema.Schema, error) {
	var (
		properties []*property
		tagged     []reflect.StructField
	)
	for i, f := range fieldsOf(t) {
		at := join(path, f.json)
		if f.json == "-" || strings.HasPrefix(f.Tag.Get("jsonschema")+",", "-,") {
			return nil, typeError(at, f.Type, "is in the JSON, but its tags exclude it from the schema; use json:\"-\"")
		}
		s, err := g.schema(pointed(f.Type), at)
		if err != nil {
			return nil, err
		}
		p := newProperty(f, s)
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("field %q: jsonschema tag: %w", at, err)
		}
		properties = append(properties, p)
		tagged = append(tagged, reflect.StructField{Name: fmt.Sprint("F", i), Type: anything, Tag: p.tags()})
	}
	next := 0
	r := jsonschema.Reflector{DoNotReference: true, Anonymous: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		if t != anything {
			return nil
		}
		next++
		return properties[next-1].schema
	}}
	s := r.ReflectFromType(reflect.StructOf(tagged))
	s.Version = ""
	for _, p := range properties {
		if err := p.finish(); err != nil {
			return nil, fmt.Errorf("field %q: jsonschema tag: %w", join(path, p.json), err)
		}
		if p.schema.Default != nil {
			s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == p.json })
		}
		reflected, _ := s.Properties.Get(p.json)
		if reflected != p.schema || p.Type.Kind() == reflect.Pointer {
			s.Properties.Set(p.json, nullable(p.schema))
		}
	}
	return s, nil
}

// nullable returns a schema that admits null in addition to s's values. It moves the description to the top level.
func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	if s == nil || reflect.DeepEqual(s, &jsonschema.Schema{}) {
		return s
	}
	inner := *s
	inner.Description = ""
	return &jsonschema.Schema{
		Description: s.Description,
		AnyOf:       []*jsonschema.Schema{&inner, {Type: "null"}},
	}
}

func typeError(path string, t reflect.Type, reason string) error {
	if path == "" {
		return fmt.Errorf("type %v %s", t, reason)
	}
	return fmt.Errorf("field %q: type %v %s", path, t, reason)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// enumerate adds the values that the method Enum of a type returns.
func enumerate(s *jsonschema.Schema, t reflect.Type, path string) error {
	list, ok := reflect.PointerTo(t).MethodByName("Enum")
	if !ok || t.Kind() == reflect.Pointer || list.Type.NumIn() != 1 ||
		list.Type.NumOut() != 1 || list.Type.Out(0).Kind() != reflect.Slice {
		return nil
	}
	values := list.Func.Call([]reflect.Value{reflect.New(t)})[0]
	if values.Len() == 0 {
		return typeError(path, t, "has a method Enum that returns no values")
	}
	s.Enum = nil
	for i := range values.Len() {
		v, err := asJSON(values.Index(i).Interface())
		if err != nil {
			return typeError(path, t, fmt.Sprintf("has a method Enum whose values cannot be encoded: %v", err))
		}
		if !slices.ContainsFunc(s.Enum, func(known any) bool { return jsonvalue.Text(known) == jsonvalue.Text(v) }) {
			s.Enum = append(s.Enum, v)
		}
	}
	return nil
}

// asJSON encodes a value and decodes it again.
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
