package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

const latest = 2020

// drafts are the known dialects by their URL without the scheme.
var drafts = map[string]int{
	"json-schema.org/schema":               latest,
	"json-schema.org/draft/2020-12/schema": latest,
	"json-schema.org/draft/2019-09/schema": 2019,
	"json-schema.org/draft-07/schema":      7,
	"json-schema.org/draft-06/schema":      6,
	"json-schema.org/draft-04/schema":      4,
	"json-schema.org/draft-03/schema":      3,
}

// dialect reads "$schema". An unknown dialect is taken for the latest draft.
func (r *repairer) dialect() {
	object, _ := r.root.(map[string]any)
	url, _ := object["$schema"].(string)
	r.draft = drafts[trimScheme(url)]
	if r.draft > 0 {
		return
	}
	r.draft = latest
	if v := object["$schema"]; v != nil {
		r.record(nil, []string{"$schema"}, "is not a known draft: "+jsonvalue.Describe(v))
	}
}

func trimScheme(url string) string {
	url = strings.TrimRight(url, "#/")
	if rest, ok := strings.CutPrefix(url, "http://"); ok {
		return rest
	}
	return strings.TrimPrefix(url, "https://")
}

// translate turns the keywords of other drafts and of OpenAPI into draft
// 2020-12.
func (r *repairer) translate(object map[string]any) {
	remove(object, "$schema", "$vocabulary", "$recursiveAnchor")
	if _, refers := object["$ref"].(string); refers && r.draft < 2019 {
		ignoreSiblings(object)
	}
	exclusive(object, "minimum", "exclusiveMinimum")
	exclusive(object, "maximum", "exclusiveMaximum")
	tuple(object)
	dependencies(object)
	nullable(object)
}

// ignoreSiblings removes the keywords next to a $ref that constrain the value,
// since early drafts ignore them.
func ignoreSiblings(object map[string]any) {
	for name := range object {
		switch name {
		case "$ref", "$defs", "definitions", "title", "description", "default":
		default:
			delete(object, name)
		}
	}
}

// exclusive translates the boolean exclusiveMinimum and exclusiveMaximum of
// draft 4.
func exclusive(object map[string]any, bound, name string) {
	on, isFlag := object[name].(bool)
	if !isFlag {
		return
	}
	delete(object, name)
	if limit, ok := object[bound]; ok && on {
		object[name] = limit
		delete(object, bound)
	}
}

// tuple translates items that are a list. Next to other items, additionalItems
// has no meaning.
func tuple(object map[string]any) {
	items, isList := object["items"].([]any)
	rest, limited := object["additionalItems"]
	delete(object, "additionalItems")
	if _, both := object["prefixItems"]; !isList || both {
		return
	}
	delete(object, "items")
	if len(items) > 0 {
		object["prefixItems"] = items
	}
	if limited {
		object["items"] = rest
	}
}

// dependencies splits the keyword into the two of later drafts.
func dependencies(object map[string]any) {
	all, _ := object["dependencies"].(map[string]any)
	delete(object, "dependencies")
	for name, v := range all {
		keyword := "dependentSchemas"
		if is[[]any](v) {
			keyword = "dependentRequired"
		}
		members, known := object[keyword].(map[string]any)
		if !known {
			members = map[string]any{}
			object[keyword] = members
		}
		if _, taken := members[name]; !taken {
			members[name] = v
		}
	}
}

// nullable translates the flag of OpenAPI.
func nullable(object map[string]any) {
	if object["nullable"] != true {
		return
	}
	switch t := object["type"].(type) {
	case string:
		object["type"] = []any{t, "null"}
	case []any:
		object["type"] = append(slices.Clone(t), "null")
	}
	if values, ok := object["enum"].([]any); ok && len(values) > 0 && !slices.Contains(values, nil) {
		object["enum"] = append(slices.Clone(values), nil)
	}
}

// follow returns the value at a place, whose names may be those from before the
// translation, and the place by its present names.
func follow(v any, at []string) (any, []string, bool) {
	found := slices.Clone(at)
	for i := range at {
		found[i] = translated(v, at[i:])
		var ok bool
		if v, ok = jsonvalue.Lookup(v, found[i:i+1]); !ok {
			return nil, nil, false
		}
	}
	return v, found, true
}

// translated returns the present name of the first step of a path.
func translated(v any, at []string) string {
	object, isObject := v.(map[string]any)
	if !isObject {
		if i, err := strconv.Atoi(at[0]); err == nil {
			return strconv.Itoa(i)
		}
		return at[0]
	}
	_, exists := object[at[0]]
	switch {
	case at[0] == "items" && len(at) > 1 && is[[]any](object["prefixItems"]):
		if _, err := strconv.Atoi(at[1]); err == nil {
			return "prefixItems"
		}
	case at[0] == "additionalItems" && !exists:
		return "items"
	case at[0] == "oneOf" && !exists:
		return "anyOf"
	}
	return at[0]
}
