package schema

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/invopop/jsonschema"
)

// Of returns the schema of a Go type as encoding/json encodes it, described
// further by the tags of github.com/invopop/jsonschema:
//
//	Mood string `json:"mood" jsonschema:"enum=good,enum=bad,description=How it sounds."`
//
// The schema is inline, and a struct admits no other properties than its
// fields. A field is required unless it is a pointer, omitempty or omitzero, or
// has a default; a pointer may also be null, but not one in a slice or map. A type
// that encodes itself is described by its JSONSchema method, by "string" if it
// encodes as text, and otherwise admits anything, as do any and [json.RawMessage].
// A [big.Int] is an integer, and a [time.Duration] one of the format [Nanoseconds]. Small
// kinds of numbers have a minimum and a maximum. A type with a method Enum, which returns
// a slice of its values, has no others:
//
//	func (Mood) Enum() []Mood { return []Mood{"good", "bad"} }
//
// The rules of a tag are, by what the type is in JSON:
//
//	numbers    minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, enum, default, example
//	texts      minLength, maxLength, pattern, format (see CheckFormat), enum, default, example
//	booleans   default
//	lists      minItems, maxItems, uniqueItems=true, and the rules of their items
//	any type   title, description, required, nullable
//
// A comma in a tag's text is written \\, in a raw string, or the text goes into a
// tag of its own, jsonschema_description. What a tag cannot say, jsonschema_extras
// says unchecked.
//
// The error names the field: recursive types are refused, and so are types that
// JSON cannot hold, such as channels, functions and interfaces with methods, two
// fields of one name, and tags with a rule that is not known or does not go with
// the type, or with a default or an example that does not fit.
func Of(t reflect.Type) (s *Schema, err error) {
	defer func() {
		if p := recover(); p != nil { // in a JSONSchema method, or over a tag
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

// generator describes types. It keeps the structs it is inside of, to notice
// recursion.
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

// special describes the types that say themselves how they look, or whose kind
// would mislead; nil for all others.
func special(t reflect.Type) *jsonschema.Schema {
	p := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Pointer:
		return nil
	case t == reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "integer", Format: Nanoseconds}
	case t == reflect.TypeFor[big.Int]():
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
	switch t.Kind() {
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}, nil
	case reflect.Float32, reflect.Float64:
		return inRange("number", t), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return inRange("integer", t), nil
	default:
		if path == "" {
			return nil, typeError(path, t, "cannot be JSON")
		}
		return nil, typeError(path, t, "cannot be JSON; leave the field out with json:\"-\"")
	}
}

func (g *generator) list(t reflect.Type, path string) (*jsonschema.Schema, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && special(t.Elem()) == nil {
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}, nil
	}
	items, err := g.schema(deref(t.Elem()), path)
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
	if !keyed(t.Key()) {
		return nil, typeError(path, t, "has keys that cannot be JSON; use string keys")
	}
	values, err := g.schema(deref(t.Elem()), path)
	return &jsonschema.Schema{Type: "object", AdditionalProperties: values}, err
}

// keyed reports whether encoding/json takes a type as the key of a map.
func keyed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	default:
		return t.Implements(textEncoding)
	}
}

// object describes a struct. The types of the fields are described here, their
// tags by the library, which is shown a struct with one field of type any for
// each.
func (g *generator) object(t reflect.Type, path string) (*jsonschema.Schema, error) {
	var stand []reflect.StructField
	var types []*jsonschema.Schema
	if err := checkNames(t, path); err != nil {
		return nil, err
	}
	fields := fieldsOf(t)
	for i, f := range fields {
		s, err := g.property(f, join(path, f.json))
		if err != nil {
			return nil, err
		}
		types = append(types, s)
		stand = append(stand, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: anything, Tag: f.tag()})
	}
	s := readTags(stand, types)
	for i, f := range fields {
		p, ok := s.Properties.Get(f.json)
		if !ok {
			return nil, typeError(join(path, f.json), f.Type, "is in the JSON, but its tags keep it out of the schema; use json:\"-\"")
		}
		if err := f.checkValues(types[i], path); err != nil {
			return nil, err
		}
		if types[i].Default != nil {
			s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return name == f.json })
		}
		if f.Type.Kind() == reflect.Pointer {
			s.Properties.Set(f.json, nullable(p))
		}
	}
	return s, nil
}

// property describes the type of a field, and refuses a tag that does not go with
// it.
func (g *generator) property(f field, path string) (*jsonschema.Schema, error) {
	s, err := g.schema(deref(f.Type), path)
	if err != nil || f.Tag.Get("jsonschema") == "" {
		return s, err
	}
	if s.Items != nil { // the tag is also about these
		items := *s.Items
		s.Items = &items
	}
	t := newTagged(f, s)
	if problem := cmp.Or(t.check(), t.narrow(s)); problem != "" {
		return nil, tagError(path, problem)
	}
	return s, nil
}

// readTags has the library read the tags of fields whose types are described.
func readTags(fields []reflect.StructField, types []*jsonschema.Schema) *jsonschema.Schema {
	described := make([]string, len(types))
	own := make([]capacity, len(types))
	for i, s := range types {
		described[i], own[i] = s.Description, capacityOf(s)
	}
	next := 0
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		if t != anything {
			return nil
		}
		next++
		return types[next-1]
	}}
	s := r.ReflectFromType(reflect.StructOf(fields))
	s.Version = ""
	for i, t := range types {
		if t.Description == "" { // the library clears it where the tag has none
			t.Description = described[i]
		}
		own[i].within(t)
	}
	return s
}

// nullable admits null, too. The description stays where readers look for it.
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

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func typeError(path string, t reflect.Type, reason string) error {
	if path == "" {
		return fmt.Errorf("type %v %s", t, reason)
	}
	return fmt.Errorf("field %q: type %v %s", path, t, reason)
}

func tagError(path, problem string) error {
	return fmt.Errorf("field %q: jsonschema tag: %s", path, problem)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
