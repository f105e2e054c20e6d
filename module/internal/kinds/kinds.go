// Package kinds describes the kinds of the values in an input, so that an input unlike all examples is noticed.
package kinds

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature/schema"
)

// Of returns the kinds of the values in an input, sorted, with paths as in jq: ".express is true", ".to is empty",
// ".lines[].amount is negative", ".note is absent" and, if the schema has an enum, `.mode is "fast"`. It reads only the
// parts of the schema that are neither behind $ref nor in oneOf or allOf.
func Of(inputs *schema.Schema, input json.RawMessage) []string {
	var declared, value any
	_ = json.Unmarshal(inputs.Raw(), &declared) // a schema that was compiled
	_ = json.Unmarshal(input, &value)           // an input that was encoded
	found := set{}
	found.add("", value, declared)
	delete(found, " is not empty") // the input as a whole
	return slices.Sorted(maps.Keys(found))
}

// OfRun returns the kinds of the values in an answer, and the tools that a program called to find it, such as
// `answer.team is "sales"` and "calls shop.refund".
func OfRun(outputs *schema.Schema, answer json.RawMessage, calls []sandbox.Call) []string {
	found := set{}
	for _, kind := range Of(outputs, answer) {
		found["answer"+kind] = true
	}
	for _, c := range calls {
		found["calls "+c.Tool] = true
	}
	return slices.Sorted(maps.Keys(found))
}

type set map[string]bool

// add adds the kinds of the value at a path, and of the values within it.
func (s set) add(path string, value, declared any) {
	schema, _ := declared.(map[string]any)
	parts, _ := schema["anyOf"].([]any)
	for _, part := range parts {
		s.add(path, value, part)
	}
	if parts != nil || schema["type"] == "null" && value != nil {
		return
	}
	kind := "not empty"
	switch v := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			if member, present := v[name]; present {
				s.add(path+"."+name, member, property)
			} else {
				s[path+"."+name+" is absent"] = true
			}
		}
		for name, member := range v {
			if _, found := properties[name]; !found {
				s.add(path+".*", member, schema["additionalProperties"])
			}
		}
	case []any:
		for _, item := range v {
			s.add(path+"[]", item, schema["items"])
		}
	case float64:
		kind = [...]string{"negative", "zero", "positive"}[cmp.Compare(v, 0)+1]
	}
	raw, _ := json.Marshal(value)
	switch text := string(raw); {
	case text == `""` || text == "[]" || text == "{}":
		kind = "empty"
	case schema["enum"] != nil || text == "null" || text == "true" || text == "false":
		kind = text
	}
	s[path+" is "+kind] = true
}
