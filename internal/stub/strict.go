package stub

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unsupported are the keywords that strict schemas may not have.
var unsupported = []string{
	"allOf", "not", "if", "then", "else", "oneOf", "dependentRequired", "dependentSchemas", "patternProperties",
	"unevaluatedProperties", "propertyNames", "minProperties", "maxProperties", "minLength", "maxLength", "pattern",
	"format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
	"uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems", "default", "$schema",
}

// violation returns where a schema leaves the strict subset that all providers accept, and how;
// "" if it does not. The words are those of OpenAI.
func violation(schema any) (context, problem string) {
	root, _ := schema.(map[string]any)
	if root == nil || root["type"] != "object" {
		kind := "None"
		if root["type"] != nil {
			kind = fmt.Sprint(root["type"])
		}
		return "()", fmt.Sprintf("schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%s\"'.", kind)
	}
	if _, ok := root["anyOf"]; ok {
		return "()", "'anyOf' is not permitted at the top level."
	}
	return violationAt(root, nil)
}

func violationAt(schema any, path []string) (context, problem string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return tuple(path), "schema must be an object."
	}
	for _, keyword := range unsupported {
		if _, ok := s[keyword]; ok {
			return tuple(path), fmt.Sprintf("'%s' is not permitted.", keyword)
		}
	}
	if problem := objectViolation(s); problem != "" {
		return tuple(path), problem
	}
	for _, holder := range []string{"properties", "$defs", "definitions"} {
		schemas, _ := s[holder].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(schemas)) {
			if context, problem = violationAt(schemas[name], append(slices.Clone(path), holder, name)); problem != "" {
				return context, problem
			}
		}
	}
	if list, ok := s["anyOf"].([]any); ok {
		for i, item := range list {
			if context, problem = violationAt(item, append(slices.Clone(path), "anyOf", fmt.Sprint(i))); problem != "" {
				return context, problem
			}
		}
	}
	if items, ok := s["items"]; ok {
		return violationAt(items, append(slices.Clone(path), "items"))
	}
	if s["type"] == "array" {
		return tuple(path), "array schema missing items."
	}
	return "", ""
}

// objectViolation checks what only objects must have.
func objectViolation(s map[string]any) string {
	types, _ := s["type"].([]any)
	if s["type"] != "object" && !slices.Contains(types, any("object")) {
		return ""
	}
	if s["additionalProperties"] != false {
		return "'additionalProperties' is required to be supplied and to be false."
	}
	const every = "'required' is required to be supplied and to be an array including every key in properties."
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			return fmt.Sprintf("%s Missing '%s'.", every, name)
		}
	}
	for _, name := range required {
		if _, ok := properties[fmt.Sprint(name)]; !ok {
			return fmt.Sprintf("%s Extra required key '%v' supplied.", every, name)
		}
	}
	return ""
}

// tuple is a path as Python prints it.
func tuple(path []string) string {
	var b strings.Builder
	for i, name := range path {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "'%s'", name)
	}
	if len(path) == 1 {
		b.WriteString(",")
	}
	return "(" + b.String() + ")"
}
