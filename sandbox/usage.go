package sandbox

import (
	"bytes"
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

// form is the type of the values that the calls at one site returned, or are declared to
// return.
type form int

const (
	unknownForm form = iota // also if calls returned values of different types
	textForm
	jsonForm // text that looks like the JSON of an object or array
	objectForm
	arrayForm
)

var jsonText = regexp.MustCompile(`^"(?: |\\[nrt])*[{[]`)

// formOf looks at the first bytes of a value.
func formOf(value json.RawMessage) form {
	value = bytes.TrimSpace(value)
	switch {
	case bytes.HasPrefix(value, []byte("{")):
		return objectForm
	case bytes.HasPrefix(value, []byte("[")):
		return arrayForm
	case jsonText.Match(value):
		return jsonForm
	case bytes.HasPrefix(value, []byte(`"`)):
		return textForm
	}
	return unknownForm
}

// isJSON reports whether a value is text that is the JSON of an object or array.
func isJSON(value json.RawMessage) bool {
	var text string
	return len(value) <= maxInspected && formOf(value) == jsonForm &&
		json.Unmarshal(value, &text) == nil && json.Valid([]byte(text))
}

// declaration is what the output schema of a tool says about its results.
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
	for _, name := range slices.Sorted(maps.Keys(output.Properties)) {
		if slices.Contains(output.Required, name) {
			d.required = append(d.required, name)
		} else {
			d.optional = append(d.optional, name)
		}
	}
	return d
}

// siteResults is what is known about the results of the calls at one site.
type siteResults struct {
	form     form
	values   []json.RawMessage // nil if no call has returned
	declared declaration
	size     int             // of the values in bytes
	known    map[string]bool // properties that the results have or may have; see inspect
	names    []string        // those of known that can be shown
}

func newSiteResults(d declaration, values []json.RawMessage) *siteResults {
	r := &siteResults{form: d.form, values: values, declared: d}
	for i, value := range values {
		r.size += len(value)
		if f := formOf(value); i == 0 {
			r.form = f
		} else if f != r.form {
			r.form = unknownForm
		}
	}
	return r
}

// misuses returns clues about results that the program used as another type: text as an
// object, an object as JSON text, or a member that does not exist. The results tell the
// type, or the declaration if there were no calls.
func (h *host) misuses(calls []Call) (clues []clue) {
	values := map[engine.Pos][]json.RawMessage{}
	for _, c := range calls {
		if c.Error == nil && !c.Pending && c.Result != nil {
			at := engine.Pos{Line: c.Line, Column: c.Column}
			values[at] = append(values[at], c.Result)
		}
	}
	declared := map[int]declaration{}
	for _, s := range h.sites {
		if len(s.Uses) == 0 || s.Tool < 0 || s.Tool >= len(h.bindings) {
			continue
		}
		d, known := declared[s.Tool]
		if !known {
			d = declarationOf(h.bindings[s.Tool])
			declared[s.Tool] = d
		}
		r := newSiteResults(d, values[s.Pos])
		for _, u := range s.Uses {
			if len(clues) == maxFindings {
				return clues
			}
			if c := h.misuse(s, u, r); c.Kind != "" {
				clues = append(clues, c)
			}
		}
	}
	return clues
}

// misuse describes one use of a result. It returns an empty clue for a use that works.
func (h *host) misuse(s engine.Site, u engine.Use, r *siteResults) clue {
	switch {
	case u.How == engine.Parsed:
		return h.parsedTwice(s, u, r)
	case r.form == objectForm:
		return h.missingMember(s, u, r)
	case r.form == textForm || r.form == jsonForm:
		return h.textUsed(s, u, r)
	}
	return clue{}
}

// parsedTwice describes JSON.parse of a result that is not text.
func (h *host) parsedTwice(s engine.Site, u engine.Use, r *siteResults) clue {
	what := map[form]string{objectForm: "an object", arrayForm: "an array"}[r.form]
	if what == "" {
		return clue{}
	}
	hint := "leave out JSON.parse"
	if member := r.jsonMember(); member != "" {
		hint = fmt.Sprintf("use JSON.parse(%s.%s)", or(s.Holder, "result"), member)
	}
	message := fmt.Sprintf("%s is %s already, not JSON text", or(s.Holder, "the result"), what)
	return clue{h.finding(KindWrongType, message, hint, u.Pos), s.Holder}
}

// textUsed describes text that is used as an object or array.
func (h *host) textUsed(s engine.Site, u engine.Use, r *siteResults) clue {
	call, name, value := h.path(s.Tool), s.Holder, s.Holder
	if name == "" {
		name, value = "the result", "await "+call+"(…)"
	}
	effect := map[string]string{
		engine.Read:     "which has no property " + u.Property,
		engine.Called:   "which has no method " + u.Property,
		engine.Iterated: "which gives single characters when it is iterated over",
	}[u.How]
	if u.Property == "length" {
		isParsed := func(other engine.Use) bool { return other.How == engine.Parsed }
		if r.size > maxInspected || !slices.ContainsFunc(r.values, isJSON) || slices.ContainsFunc(s.Uses, isParsed) {
			return clue{} // the number of characters may be meant
		}
		effect = "whose length counts its characters"
	}
	if effect == "" {
		return clue{}
	}
	hint := "use JSON.parse(" + value + ")"
	switch {
	case r.values == nil:
		hint += " if the text is JSON"
	case r.form == textForm:
		hint = "it is not JSON; parse it as text, for example with split or match"
	}
	message := fmt.Sprintf("%s is text: %s returns a string, %s", name, call, effect)
	return clue{h.finding(KindWrongType, message, hint, u.Pos), s.Holder}
}

// missingMember describes a member that no result has. If the declaration does not list
// the members, the member may be optional: it is reported only if another name differs
// from it in style alone.
func (h *host) missingMember(s engine.Site, u engine.Use, r *siteResults) clue {
	if r.size > maxInspected || s.Varies || u.Property == "" {
		return clue{}
	}
	if r.inspect(); r.known[u.Property] {
		return clue{}
	}
	near := schema.Nearest(u.Property, r.names)
	fold := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	if r.declared.open && fold(near) != fold(u.Property) {
		return clue{}
	}
	shown := slices.Clone(r.names)
	for i, name := range shown {
		if slices.Contains(r.declared.optional, name) {
			shown[i] += "?"
		}
	}
	message := fmt.Sprintf("%s has no %s: %s returns {%s}",
		or(s.Holder, "the result"), u.Property, h.path(s.Tool), listed(shown))
	hint := ""
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	return clue{h.finding(KindWrongType, message, hint, u.Pos), u.Property}
}

// plainName matches names that may be shown. Others are data and may be of any length.
var plainName = regexp.MustCompile(`^[\w$]{1,64}$`)

// maxInspected is the maximum size in bytes of results whose members are inspected.
const maxInspected = 256 << 10

// inspect finds the properties that the results have or may have.
func (r *siteResults) inspect() {
	if r.known != nil {
		return
	}
	r.known = map[string]bool{}
	for _, value := range r.values {
		for name := range members(value) {
			r.known[name] = true
		}
	}
	declared := slices.Concat(r.declared.required, r.declared.optional)
	for _, name := range declared {
		delete(r.known, name)
	}
	for _, name := range slices.Concat(declared, slices.Sorted(maps.Keys(r.known))) {
		r.known[name] = true
		if plainName.MatchString(name) {
			r.names = append(r.names, name)
		}
	}
}

// jsonMember returns the name of a member whose text is JSON, such as content in the
// results of many MCP servers, or "".
func (r *siteResults) jsonMember() string {
	if r.size > maxInspected {
		return ""
	}
	for _, value := range r.values {
		object := members(value)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if plainName.MatchString(name) && isJSON(object[name]) {
				return name
			}
		}
	}
	return ""
}

// members returns the members of an object, or nil for other values and long ones.
func members(value json.RawMessage) map[string]json.RawMessage {
	var object map[string]json.RawMessage
	if len(value) > maxInspected || json.Unmarshal(value, &object) != nil {
		return nil
	}
	return object
}
