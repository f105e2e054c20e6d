// Package kinds describes the kinds of the values in an input, so that an input unlike all examples is noticed.
package kinds

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/writ-go/writ/signature/schema"
)

// Of returns the kinds of the values in an input, sorted, with paths as in jq: ".express is true", ".to is empty",
// ".lines[].amount is negative", ".note is absent" and, if the schema has an enum, `.mode is "fast"`. It does not read
// what is behind $ref or in allOf.
func Of(inputs *schema.Schema, input json.RawMessage) ([]string, error) {
	var declared, value any
	err := errors.Join(json.Unmarshal(inputs.Raw(), &declared), json.Unmarshal(input, &value))
	found := set{}
	found.add("", value, declared)
	delete(found, " is not empty") // the input itself
	return slices.Sorted(maps.Keys(found)), err
}

type set map[string]bool

// add adds the kinds of the value at a path, and of the values within it.
func (s set) add(path string, value, declared any) {
	schema, _ := declared.(map[string]any)
	if schema["type"] == "null" && value != nil {
		return // another part of an anyOf is meant
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if parts, found := schema[keyword].([]any); found {
			for _, part := range parts {
				s.add(path, value, part)
			}
			return
		}
	}
	kind := "not empty"
	switch v := value.(type) {
	case map[string]any:
		s.addMembers(path+".", v, schema)
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

// addMembers adds the kinds of the members of an object.
func (s set) addMembers(path string, object, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	for name := range properties {
		if _, present := object[name]; !present {
			s[path+name+" is absent"] = true
		}
	}
	for name, value := range object {
		if property, found := properties[name]; found {
			s.add(path+name, value, property)
		} else {
			s.add(path+"*", value, schema["additionalProperties"])
		}
	}
}
