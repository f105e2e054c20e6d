package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// drafts are the dialects that are known, by their URL without the scheme.
var drafts = map[string]int{
	"json-schema.org/schema":               2020,
	"json-schema.org/draft/2020-12/schema": 2020,
	"json-schema.org/draft/2019-09/schema": 2019,
	"json-schema.org/draft-07/schema":      7,
	"json-schema.org/draft-06/schema":      6,
	"json-schema.org/draft-04/schema":      4,
	"json-schema.org/draft-03/schema":      3,
}

func trimScheme(url string) string {
	url = strings.TrimRight(url, "#/")
	if rest, ok := strings.CutPrefix(url, "http://"); ok {
		return rest
	}
	return strings.TrimPrefix(url, "https://")
}

// translate turns what other drafts and OpenAPI write into draft 2020-12.
func (m *mender) translate(object map[string]any) {
	for _, name := range []string{"$schema", "$vocabulary", "$recursiveAnchor"} {
		delete(object, name)
	}
	if _, refers := object["$ref"].(string); refers && m.draft < 2019 {
		m.alone(object)
	}
	exclusive(object, "minimum", "exclusiveMinimum")
	exclusive(object, "maximum", "exclusiveMaximum")
	m.tuple(object)
	dependencies(object)
	openAPI(object)
}

// alone removes what would constrain a value beside a $ref.
func (m *mender) alone(object map[string]any) {
	for name := range object {
		switch name {
		case "$ref", "$defs", "definitions", "title", "description", "default":
		default:
			delete(object, name)
		}
	}
}

// exclusive reads the flag of draft 4.
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

// tuple reads items that are a list. additionalItems says nothing otherwise.
func (m *mender) tuple(object map[string]any) {
	items, isList := object["items"].([]any)
	rest, limited := object["additionalItems"]
	delete(object, "additionalItems")
	if _, both := object["prefixItems"]; !isList || both {
		return
	}
	delete(object, "items")
	if len(items) > 0 {
		object["prefixItems"] = items
		m.moved = true
	}
	if limited {
		object["items"] = rest
		m.moved = true
	}
}

// reorder keeps the order of names that are under a keyword that was moved.
func (m *mender) reorder() {
	if !m.moved || m.order == nil {
		return
	}
	moved := map[string][]string{}
	for _, place := range slices.Sorted(maps.Keys(m.order)) {
		_, at, ok := follow(m.root, tokens(place))
		if to := pointer(at); ok && (to == place || moved[to] == nil) { // what was dropped may seem to have moved
			moved[to] = m.order[place]
		}
	}
	maps.Copy(m.order, moved)
}

// dependencies reads what later drafts tell by two keywords.
func dependencies(object map[string]any) {
	all, ok := object["dependencies"].(map[string]any)
	delete(object, "dependencies")
	for name, v := range all {
		keyword := "dependentSchemas"
		if is[[]any](v) {
			keyword = "dependentRequired"
		}
		under, known := object[keyword].(map[string]any)
		if !known {
			under = map[string]any{}
			object[keyword] = under
		}
		if _, taken := under[name]; !taken && ok {
			under[name] = v
		}
	}
}

// openAPI reads the flag "nullable".
func openAPI(object map[string]any) {
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

// follow returns what is at a place, and the place by its present names.
func follow(v any, at []string) (any, []string, bool) {
	found := slices.Clone(at)
	for i := range at {
		found[i] = renamed(v, at[i:])
		var ok bool
		if v, ok = lookup(v, found[i:i+1]); !ok {
			return nil, nil, false
		}
	}
	return v, found, true
}

// renamed returns the present name of the first step of a path.
func renamed(v any, at []string) string {
	object, isObject := v.(map[string]any)
	if !isObject {
		if i, err := strconv.Atoi(at[0]); err == nil {
			return strconv.Itoa(i)
		}
		return at[0]
	}
	_, there := object[at[0]]
	switch {
	case at[0] == "items" && len(at) > 1 && is[[]any](object["prefixItems"]):
		if _, err := strconv.Atoi(at[1]); err == nil {
			return "prefixItems"
		}
	case at[0] == "additionalItems" && !there:
		return "items"
	case at[0] == "oneOf" && !there:
		return "anyOf"
	}
	return at[0]
}
