package schema

import (
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// [Schema.Strict]'s limits, which are below the providers' limits.
const (
	maxStrictDepth = 10
	maxStrictNodes = 1000
	maxStrictEnum  = 1000 // values in all enums together
)

// Strict returns the schema in the subset of JSON Schema that providers can enforce while a
// model writes JSON: in each object, every property is required, no other properties are
// allowed, and optional properties may be null. Strict keeps the descriptions and the order
// of properties. It leaves out constraints such as minimum, maxLength and pattern, so a value
// that fits the result may not fit s: drop its unset members with [Schema.DropUnset], and
// then validate it.
//
// Strict returns false if the subset cannot express the schema: for example, the schema has maps,
// values of any type, tuples or recursive types, or is too large.
func (s *Schema) Strict() (raw json.RawMessage, ok bool) {
	r := &reducer{schema: s}
	root := subschema{value: s.document.Value}
	if !slices.Equal(typesOf(root), []string{"object"}) {
		return nil, false
	}
	reduced := r.reduce(root, false)
	if r.failed {
		return nil, false
	}
	raw, err := json.Marshal(reduced)
	return raw, err == nil
}

// strict is a schema in the strict subset.
type strict struct {
	Description          string           `json:"description,omitempty"`
	Type                 string           `json:"type,omitempty"`
	Enum                 []any            `json:"enum,omitempty"`
	Properties           strictProperties `json:"properties,omitempty"`
	Required             []string         `json:"required,omitempty"`
	AdditionalProperties any              `json:"additionalProperties,omitempty"`
	Items                *strict          `json:"items,omitempty"`
	AnyOf                []*strict        `json:"anyOf,omitempty"`
}

// strictProperties are an object's properties, in order.
type strictProperties []strictProperty

type strictProperty struct {
	name   string
	schema *strict
}

// MarshalJSON implements [json.Marshaler].
func (p strictProperties) MarshalJSON() ([]byte, error) {
	raw := []byte{'{'}
	for i, property := range p {
		if i > 0 {
			raw = append(raw, ',')
		}
		schema, err := json.Marshal(property.schema)
		if err != nil {
			return nil, err
		}
		raw = append(raw, jsonvalue.Text(property.name)...)
		raw = append(append(raw, ':'), schema...)
	}
	return append(raw, '}'), nil
}

// reducer reduces a schema to the strict subset. Its methods return nil if they fail.
type reducer struct {
	schema  *Schema
	follows []string // pointers of the $ref targets being reduced
	depth   int      // levels of schemas
	nodes   int      // schemas reduced so far
	values  int      // values in all enums so far
	objects int      // levels of objects
	failed  bool
}

func (r *reducer) fail() *strict {
	r.failed = true
	return nil
}

// reduce reduces one schema. If nullable is set, the result also admits null.
func (r *reducer) reduce(s subschema, nullable bool) *strict {
	r.nodes++
	r.depth++
	defer func() { r.depth-- }()
	if r.failed || r.depth > 4*maxStrictDepth || r.nodes > maxStrictNodes {
		return r.fail()
	}
	switch types := typesOf(s); {
	case s.has("$ref"):
		return r.reference(s, nullable)
	case s.has("const"):
		return r.enum(s, []any{s.keyword("const")}, nullable)
	case s.has("enum"):
		values, _ := s.keyword("enum").([]any)
		return r.enum(s, values, nullable)
	case s.has("anyOf"):
		return r.union(s, s.list("anyOf"), nullable)
	case s.has("oneOf"):
		return r.union(s, s.list("oneOf"), nullable)
	case s.has("allOf"):
		if all := s.list("allOf"); len(all) == 1 && len(types) == 0 {
			return r.reduce(all[0], nullable)
		}
	case len(types) == 1:
		return r.typed(types[0], s, nullable)
	case len(types) > 1:
		return r.types(types, s, nullable)
	}
	return r.fail()
}

// reference reduces the target of a $ref.
func (r *reducer) reference(s subschema, nullable bool) *strict {
	target, ok := r.schema.target(s)
	at := jsonvalue.Pointer(target.at)
	if !ok || slices.Contains(r.follows, at) {
		return r.fail()
	}
	r.follows = append(r.follows, at)
	defer func() { r.follows = r.follows[:len(r.follows)-1] }()
	return r.reduce(target, nullable)
}

// enum reduces an enum, whose values must have one type. A null value makes the result nullable.
func (r *reducer) enum(s subschema, values []any, nullable bool) *strict {
	named := slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	name := kindOf(named)
	if r.values += len(named); r.values > maxStrictEnum || name == "" || name == "unknown" {
		return r.fail()
	}
	one := &strict{Description: s.text("description"), Type: name, Enum: named}
	return one.orNull(nullable || len(named) < len(values))
}

// union reduces an anyOf or oneOf with the given alternatives.
func (r *reducer) union(s subschema, list []subschema, nullable bool) *strict {
	if s.has("properties") || s.has("type") && !slices.Equal(typesOf(s), []string{"object"}) {
		return r.fail()
	}
	u := &strict{Description: s.text("description")}
	for _, alternative := range list {
		if slices.Equal(typesOf(alternative), []string{"null"}) {
			nullable = true
		} else {
			u.AnyOf = append(u.AnyOf, r.reduce(alternative, false))
		}
	}
	return u.withNull(nullable)
}

// types reduces a schema with a list of types to a union.
func (r *reducer) types(types []string, s subschema, nullable bool) *strict {
	u := &strict{Description: s.text("description")}
	for _, name := range types {
		if name == "null" {
			nullable = true
		} else if one := r.typed(name, s, false); one != nil {
			one.Description = ""
			u.AnyOf = append(u.AnyOf, one)
		}
	}
	return u.withNull(nullable)
}

// withNull adds null to the alternatives of a union.
func (s *strict) withNull(nullable bool) *strict {
	if nullable {
		s.AnyOf = append(s.AnyOf, &strict{Type: "null"})
	}
	return s
}

// orNull returns the schema, or a union of the schema and null.
func (s *strict) orNull(nullable bool) *strict {
	if !nullable {
		return s
	}
	return &strict{AnyOf: []*strict{s, {Type: "null"}}}
}

// typed reduces a schema of one type.
func (r *reducer) typed(name string, s subschema, nullable bool) *strict {
	var one *strict
	switch name {
	case "object":
		one = r.object(s)
	case "array":
		if !s.has("items") || s.has("prefixItems") {
			return r.fail()
		}
		one = &strict{Items: r.reduce(s.child("items"), false)}
	case "string", "number", "integer", "boolean":
		one = &strict{}
	}
	if one == nil {
		return r.fail()
	}
	one.Type, one.Description = name, s.text("description")
	return one.orNull(nullable)
}

func (r *reducer) object(s subschema) *strict {
	names := r.schema.names(s, "properties")
	required, _ := s.keyword("required").([]any)
	more := s.keyword("additionalProperties")
	isMissing := func(name any) bool {
		text, _ := name.(string)
		return !slices.Contains(names, text)
	}
	if len(names) == 0 || more != nil && more != false || s.has("patternProperties") ||
		slices.ContainsFunc(required, isMissing) {
		return r.fail()
	}
	if r.objects++; r.objects > maxStrictDepth {
		return r.fail()
	}
	defer func() { r.objects-- }()
	o := &strict{Required: names, AdditionalProperties: false}
	for _, name := range names {
		property := r.reduce(s.child("properties", name), !slices.Contains(required, any(name)))
		o.Properties = append(o.Properties, strictProperty{name, property})
	}
	return o
}
