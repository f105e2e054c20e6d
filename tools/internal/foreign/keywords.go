package foreign

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// form is the form of a keyword's value.
type form struct {
	wants string
	fits  func(v any) bool
	holds content
}

// content says where a value contains schemas.
type content int

const (
	none   content = iota
	itself         // the value is a schema
	listed         // it is a list of schemas
	named          // it is an object whose members are schemas
)

var (
	aSchema    = form{"a schema", isSchema, itself}
	schemaList = form{"a list of schemas", filled, listed}
	schemaMap  = form{"an object of schemas", is[map[string]any], named}
	text       = form{"a string", is[string], none}
	texts      = form{"a list of strings", listOf(is[string]), none}
	number     = form{"a number", is[json.Number], none}
	positive   = form{"a number above 0", isPositive, none}
	count      = form{"a whole number, 0 or more", isCount, none}
	flag       = form{"true or false", is[bool], none}
	list       = form{"a list", is[[]any], none}
	values     = form{"a list of at least one value", filled, none}
	typeName   = form{"one or more of " + strings.Join(jsonvalue.Literals(typeNames), ", "), isType, none}
)

// keywords are the keywords of draft 2020-12, to which others are translated.
// Other keywords are left as they are.
var keywords = map[string]form{
	"items": aSchema, "contains": aSchema, "additionalProperties": aSchema, "propertyNames": aSchema,
	"unevaluatedItems": aSchema, "unevaluatedProperties": aSchema, "contentSchema": aSchema,
	"not": aSchema, "if": aSchema, "then": aSchema, "else": aSchema,
	"allOf": schemaList, "anyOf": schemaList, "oneOf": schemaList, "prefixItems": schemaList,
	"properties": schemaMap, "patternProperties": schemaMap, "dependentSchemas": schemaMap,
	"$defs": schemaMap, "definitions": schemaMap,
	"type": typeName, "enum": values, "required": texts,
	"dependentRequired": {"an object of lists of strings", mapOf(listOf(is[string])), none},
	"minimum":           number, "maximum": number, "exclusiveMinimum": number, "exclusiveMaximum": number,
	"multipleOf": positive, "uniqueItems": flag,
	"minLength": count, "maxLength": count, "minItems": count, "maxItems": count,
	"minProperties": count, "maxProperties": count, "minContains": count, "maxContains": count,
	"pattern": text, "format": text, "contentEncoding": text, "contentMediaType": text,
	"title": text, "description": text, "$comment": text, "$ref": text,
	"deprecated": flag, "readOnly": flag, "writeOnly": flag, "examples": list,
}

var typeNames = []any{"array", "boolean", "integer", "null", "number", "object", "string"}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

func isSchema(v any) bool { return is[map[string]any](v) || is[bool](v) }

func filled(v any) bool {
	all, ok := v.([]any)
	return ok && len(all) > 0
}

func isType(v any) bool {
	return slices.Contains(typeNames, v) || filled(v) && listOf(isTypeName)(v)
}

func isTypeName(v any) bool { return slices.Contains(typeNames, v) }

func listOf(fits func(any) bool) func(any) bool {
	return func(v any) bool {
		all, ok := v.([]any)
		return ok && !slices.ContainsFunc(all, func(v any) bool { return !fits(v) })
	}
}

func mapOf(fits func(any) bool) func(any) bool {
	return func(v any) bool {
		all, ok := v.(map[string]any)
		for _, v := range all {
			ok = ok && fits(v)
		}
		return ok
	}
}

func isPositive(v any) bool {
	r := rational(v)
	return r != nil && r.Sign() > 0
}

func isCount(v any) bool {
	r := rational(v)
	return r != nil && r.IsInt() && r.Num().IsInt64() && r.Sign() >= 0
}

// rational returns a number exactly, or nil if v is not a number.
func rational(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

// schemasIn returns the schemas in a keyword that are objects, in order.
func schemasIn(object map[string]any, name string) []map[string]any {
	var all []map[string]any
	add := func(v any) {
		if o, ok := v.(map[string]any); ok {
			all = append(all, o)
		}
	}
	switch v := object[name]; keywords[name].holds {
	case itself:
		add(v)
	case listed:
		items, _ := v.([]any)
		for _, item := range items {
			add(item)
		}
	case named:
		members, _ := v.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			add(members[key])
		}
	case none:
	}
	return all
}
