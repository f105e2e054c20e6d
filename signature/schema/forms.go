package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// form is what the value of a keyword must be like.
type form struct {
	wants string
	fits  func(v any) bool
	holds schemas
}

// schemas says which schemas a value has in it.
type schemas int

const (
	none schemas = iota
	itself
	listed
	named
)

var (
	aSchema    = form{"a schema", isSchema, itself}
	schemaList = form{"a list of schemas", some, listed}
	schemaMap  = form{"an object of schemas", is[map[string]any], named}
	text       = form{"a string", is[string], none}
	texts      = form{"a list of strings", listOf(is[string]), none}
	number     = form{"a number", is[json.Number], none}
	positive   = form{"a number above 0", isPositive, none}
	count      = form{"a whole number, 0 or more", isCount, none}
	flag       = form{"true or false", is[bool], none}
	list       = form{"a list", is[[]any], none}
	values     = form{"a list of at least one value", some, none}
	typeName   = form{"one or several of " + strings.Join(literals(typeNames), ", "), isType, none}
)

// forms are those of the keywords of draft 2020-12, to which others are turned.
// What is not here is not looked at.
var forms = map[string]form{
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

func some(v any) bool {
	all, ok := v.([]any)
	return ok && len(all) > 0
}

func isType(v any) bool {
	return slices.Contains(typeNames, v) || some(v) && listOf(isTypeName)(v)
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

// rational returns a number exactly, or nil for what is none.
func rational(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}
