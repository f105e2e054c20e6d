package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// declaration is what the output schema of a tool says of its results.
type declaration struct {
	form     form
	required []string // properties
	optional []string
	open     bool // objects may have other properties, too
}

// declarationOf reads the output schema of a tool.
func declarationOf(b *tools.Binding) declaration {
	var keywords map[string]json.RawMessage
	var output struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(b.OutputSchema, &keywords) != nil || json.Unmarshal(b.OutputSchema, &output) != nil {
		return declaration{open: true}
	}
	forms := map[string]form{`"string"`: textForm, `"object"`: objectForm, `"array"`: arrayForm}
	d := declaration{form: forms[string(keywords["type"])], open: len(output.Properties) == 0}
	for _, keyword := range []string{"$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"} {
		d.open = d.open || keywords[keyword] != nil
	}
	if more := string(keywords["additionalProperties"]); more != "" && more != "false" {
		d.open = true
	}
	for name := range output.Properties {
		if slices.Contains(output.Required, name) {
			d.required = append(d.required, name)
		} else {
			d.optional = append(d.optional, name)
		}
	}
	slices.Sort(d.required)
	slices.Sort(d.optional)
	return d
}

// properties are those that the results have or may have.
func (r returned) properties() []string {
	list := slices.Concat(r.declared.required, r.declared.optional)
	var others []string
	for _, value := range r.values {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			continue
		}
		for name := range object {
			if !slices.Contains(list, name) && !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
	}
	slices.Sort(others)
	return append(list, others...)
}

// missing words the use of a member that no result has. If the declaration does not say
// which there are, it may be optional, and is only reported if another name is much like it.
func (h *host) missing(s engine.Site, u engine.Use, r returned) (clue, bool) {
	properties := r.properties()
	if slices.Contains(properties, u.Property) || u.Property == "" {
		return clue{}, false
	}
	near := schema.Nearest(u.Property, properties)
	if r.declared.open && fold(near) != fold(u.Property) {
		return clue{}, false
	}
	for i, name := range properties {
		if slices.Contains(r.declared.optional, name) {
			properties[i] += "?"
		}
	}
	message := fmt.Sprintf("%s has no %s: %s returns {%s}", or(s.Holder, "the result"), u.Property, h.path(s.Tool), few(properties))
	hint := ""
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	return clue{h.finding(WrongType, message, hint, u.Pos), u.Property}, true
}

// fold is a name without what is different in other styles of writing names.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
