package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
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

// plainName is what programs write behind a dot. Other names are not shown: they are data,
// and may be of any length.
var plainName = regexp.MustCompile(`^[\w$]{1,64}$`)

// maxMembers is how many bytes the results of a call site may have together whose members are
// looked at.
const maxMembers = 256 << 10

// long reports whether there is too much to look at.
func (r *returned) long() bool {
	size := 0
	for _, value := range r.values {
		size += len(value)
	}
	return size > maxMembers
}

// membersOf returns the members of an object; nil for other values, and for long ones.
func membersOf(value json.RawMessage) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if len(value) > maxMembers || json.Unmarshal(value, &object) != nil {
		return nil
	}
	return object
}

// read finds the properties that the results have or may have.
func (r *returned) read() {
	declared := slices.Concat(r.declared.required, r.declared.optional)
	r.has = map[string]bool{}
	for _, value := range r.values {
		for name := range membersOf(value) {
			r.has[name] = true
		}
	}
	for _, name := range declared {
		delete(r.has, name)
	}
	for _, name := range slices.Concat(declared, slices.Sorted(maps.Keys(r.has))) {
		r.has[name] = true
		if plainName.MatchString(name) {
			r.names = append(r.names, name)
		}
	}
}

// missing words the use of a member that no result has. If the declaration does not say
// which there are, it may be optional, and is only reported if another name is much like it.
func (h *host) missing(s engine.Site, u engine.Use, r *returned) (clue, bool) {
	if r.long() {
		return clue{}, false
	}
	if r.has == nil {
		r.read()
	}
	if r.has[u.Property] || u.Property == "" || s.Varies {
		return clue{}, false
	}
	near := schema.Nearest(u.Property, r.names)
	if r.declared.open && fold(near) != fold(u.Property) {
		return clue{}, false
	}
	shown := slices.Clone(r.names)
	for i, name := range shown {
		if slices.Contains(r.declared.optional, name) {
			shown[i] += "?"
		}
	}
	message := fmt.Sprintf("%s has no %s: %s returns {%s}", or(s.Holder, "the result"), u.Property, h.path(s.Tool), few(shown))
	hint := ""
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	return clue{h.finding(KindWrongType, message, hint, u.Pos), u.Property}, true
}

// fold is a name without what is different in other styles of writing names.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// jsonMember returns the name of a member whose text is JSON, such as content in the results
// of many MCP servers, or "".
func (r *returned) jsonMember() string {
	if r.long() {
		return ""
	}
	for _, value := range r.values {
		object := membersOf(value)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if plainName.MatchString(name) && isJSON(object[name]) {
				return name
			}
		}
	}
	return ""
}
