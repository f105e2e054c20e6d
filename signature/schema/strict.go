package schema

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Limits of [Schema.Strict], which are below those of the providers.
const (
	maxStrictDepth = 10
	maxStrictNodes = 1000
	maxStrictEnum  = 1000 // values in all
)

// Strict returns the schema in the subset of JSON Schema that providers can enforce when a
// model writes JSON: an object in which every property is required and no others are
// allowed, and optional properties may be null. The order of properties and the
// descriptions are kept. Constraints such as minimum, maxLength and pattern are left out,
// so a value that fits the result need not fit s: drop its unset members with
// [Schema.DropUnset], then validate it.
//
// It reports false if the subset cannot express the schema: maps, values of any type,
// tuples, recursive types, and very large schemas.
func (s *Schema) Strict() (raw json.RawMessage, ok bool) {
	r := &reducer{schema: s}
	root := spot{value: s.document.Value}
	if !slices.Equal(typesOf(root), []string{"object"}) {
		return nil, false
	}
	r.write(root, false)
	if r.failed {
		return nil, false
	}
	return r.out.Bytes(), true
}

// reducer writes a schema in the strict subset.
type reducer struct {
	schema  *Schema
	out     bytes.Buffer
	follows []string // references being followed
	depth   int
	nodes   int
	values  int // of enums
	objects int // around the schema
	failed  bool
}

// write writes one schema. If nullable, it also admits null.
func (r *reducer) write(s spot, nullable bool) {
	r.nodes++
	if r.depth++; r.depth > 4*maxStrictDepth || r.nodes > maxStrictNodes {
		r.failed = true
	}
	defer func() { r.depth-- }()
	if r.failed {
		return
	}
	switch types := typesOf(s); {
	case s.has("$ref"):
		r.reference(s, nullable)
	case s.has("const"):
		r.enum(s, []any{s.keyword("const")}, nullable)
	case s.has("enum"):
		values, _ := s.keyword("enum").([]any)
		r.enum(s, values, nullable)
	case s.has("anyOf"):
		r.union(s, s.list("anyOf"), nullable)
	case s.has("oneOf"):
		r.union(s, s.list("oneOf"), nullable)
	case s.has("allOf"):
		r.only(s, nullable)
	case len(types) == 1:
		r.typed(types[0], s, nullable)
	case len(types) > 1:
		r.types(types, s, nullable)
	default:
		r.failed = true
	}
}

// reference writes the target of a $ref in its place.
func (r *reducer) reference(s spot, nullable bool) {
	target, ok := r.schema.target(s)
	at := jsonvalue.Pointer(target.at)
	if !ok || slices.Contains(r.follows, at) {
		r.failed = true
		return
	}
	r.follows = append(r.follows, at)
	r.write(target, nullable)
	r.follows = r.follows[:len(r.follows)-1]
}

// only writes the single schema of an allOf.
func (r *reducer) only(s spot, nullable bool) {
	if all := s.list("allOf"); len(all) == 1 && len(typesOf(s)) == 0 {
		r.write(all[0], nullable)
		return
	}
	r.failed = true
}

// enum writes values, which must have one type. A null among them makes it
// nullable.
func (r *reducer) enum(s spot, values []any, nullable bool) {
	named := slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	nullable = nullable || len(named) < len(values)
	name := ""
	for _, v := range named {
		of := ""
		switch v.(type) {
		case string:
			of = "string"
		case json.Number:
			of = "number"
		case bool:
			of = "boolean"
		}
		if of == "" || name != "" && of != name {
			r.failed = true
			return
		}
		name = of
	}
	if name == "" {
		r.failed = true
		return
	}
	r.values += len(named)
	r.failed = r.failed || r.values > maxStrictEnum
	list, err := json.Marshal(named)
	r.failed = r.failed || err != nil
	r.either(nullable, func() {
		r.open(s, `"type":"`+name+`","enum":`)
		r.out.Write(list)
		r.out.WriteByte('}')
	})
}

// union writes alternatives.
func (r *reducer) union(s spot, list []spot, nullable bool) {
	if s.has("properties") || s.has("type") && !slices.Equal(typesOf(s), []string{"object"}) {
		r.failed = true
		return
	}
	isNull := func(a spot) bool { return slices.Equal(typesOf(a), []string{"null"}) }
	nullable = nullable || slices.ContainsFunc(list, isNull)
	list = slices.DeleteFunc(slices.Clone(list), isNull)
	r.open(s, `"anyOf":[`)
	for i, a := range list {
		if i > 0 {
			r.out.WriteByte(',')
		}
		r.write(a, false)
	}
	r.closeUnion(nullable, len(list) > 0)
}

// types writes a list of types, as alternatives.
func (r *reducer) types(types []string, s spot, nullable bool) {
	r.open(s, `"anyOf":[`)
	n := 0
	for _, name := range types {
		if name == "null" {
			nullable = true
			continue
		}
		if n++; n > 1 {
			r.out.WriteByte(',')
		}
		r.typed(name, spot{s.at, withoutDescription(s.value)}, false)
	}
	r.closeUnion(nullable, n > 0)
}

func (r *reducer) closeUnion(nullable, more bool) {
	if nullable && more {
		r.out.WriteByte(',')
	}
	if nullable {
		r.out.WriteString(`{"type":"null"}`)
	}
	r.out.WriteString("]}")
}

func withoutDescription(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	plain := make(map[string]any, len(object))
	for name, v := range object {
		if name != "description" {
			plain[name] = v
		}
	}
	return plain
}

// typed writes the schema of one type.
func (r *reducer) typed(name string, s spot, nullable bool) {
	switch name {
	case "object":
		r.either(nullable, func() { r.object(s) })
	case "array":
		r.either(nullable, func() { r.array(s) })
	case "string", "number", "integer", "boolean":
		r.either(nullable, func() { r.open(s, `"type":"`+name+`"}`) })
	default:
		r.failed = true
	}
}

// either writes a schema, and null as its alternative if nullable.
func (r *reducer) either(nullable bool, write func()) {
	if !nullable {
		write()
		return
	}
	r.out.WriteString(`{"anyOf":[`)
	write()
	r.out.WriteString(`,{"type":"null"}]}`)
}

func (r *reducer) object(s spot) {
	names := r.schema.names(s, "properties")
	required, _ := s.keyword("required").([]any)
	more := s.keyword("additionalProperties")
	if len(names) == 0 || more != nil && more != false || s.has("patternProperties") {
		r.failed = true
		return
	}
	for _, name := range required {
		if text, _ := name.(string); !slices.Contains(names, text) {
			r.failed = true
			return
		}
	}
	if r.objects++; r.objects > maxStrictDepth {
		r.failed = true
		return
	}
	defer func() { r.objects-- }()
	r.open(s, `"type":"object","properties":{`)
	for i, name := range names {
		if i > 0 {
			r.out.WriteByte(',')
		}
		r.text(name)
		r.out.WriteByte(':')
		r.write(s.child("properties", name), !slices.Contains(required, any(name)))
	}
	r.out.WriteString(`},"required":[`)
	for i, name := range names {
		if i > 0 {
			r.out.WriteByte(',')
		}
		r.text(name)
	}
	r.out.WriteString(`],"additionalProperties":false}`)
}

func (r *reducer) array(s spot) {
	if !s.has("items") || s.has("prefixItems") {
		r.failed = true
		return
	}
	r.open(s, `"type":"array","items":`)
	r.write(s.child("items"), false)
	r.out.WriteByte('}')
}

// open begins a schema with its description.
func (r *reducer) open(s spot, rest string) {
	r.out.WriteByte('{')
	if text := s.text("description"); text != "" {
		r.out.WriteString(`"description":`)
		r.text(text)
		r.out.WriteByte(',')
	}
	r.out.WriteString(rest)
}

func (r *reducer) text(text string) {
	raw, err := json.Marshal(text)
	r.failed = r.failed || err != nil
	r.out.Write(raw)
}
