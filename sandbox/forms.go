package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// form is what kind of value the calls in one place have returned, or are declared to
// return.
type form int

const (
	unknownForm form = iota // also of calls that returned different kinds
	textForm
	jsonForm // text that looks like the JSON of an object or array
	objectForm
	arrayForm
)

// isText reports whether the value is a string.
func (f form) isText() bool { return f == textForm || f == jsonForm }

// formOf looks at the first bytes of a value.
func formOf(value json.RawMessage) form {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return unknownForm
	}
	switch value[0] {
	case '{':
		return objectForm
	case '[':
		return arrayForm
	case '"':
		return textFormOf(value[1:])
	}
	return unknownForm
}

var jsonText = regexp.MustCompile(`^(?: |\\[nrt])*[{[]`)

// textFormOf looks for the beginning of an object or array behind a quotation mark.
func textFormOf(text []byte) form {
	if jsonText.Match(text) {
		return jsonForm
	}
	return textForm
}

// isJSON reports whether a value is text that is the JSON of an object or array.
func isJSON(value json.RawMessage) bool {
	var text string
	return len(value) <= maxMembers && formOf(value) == jsonForm && json.Unmarshal(value, &text) == nil && json.Valid([]byte(text))
}

// returned is what is known of the results of the calls in one place.
type returned struct {
	form
	values   []json.RawMessage // nil if no call has returned
	declared declaration
	has      map[string]bool // properties; see read
	names    []string        // those that can be shown
}

// mistaken words results that the program used as what they are not, where the source
// shows it: text as an object, an object as JSON text, or a member that is missing. What a
// result is, the calls say, or the declaration if there were none.
func (h *host) mistaken(calls []Call) (clues []clue) {
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
		r := &returned{form: d.form, values: values[s.Pos], declared: d}
		for i, value := range r.values {
			if f := formOf(value); i == 0 {
				r.form = f
			} else if f != r.form {
				r.form = unknownForm
			}
		}
		for _, u := range s.Uses {
			if len(clues) == maxFindings {
				return clues
			}
			if c, ok := h.mistake(s, u, r); ok {
				clues = append(clues, c)
			}
		}
	}
	return clues
}

// mistake words one use of a result. It reports false for a use that goes well.
func (h *host) mistake(s engine.Site, u engine.Use, r *returned) (clue, bool) {
	name := or(s.Holder, "the result")
	switch {
	case u.How == engine.Parsed:
		what := map[form]string{objectForm: "an object", arrayForm: "an array"}[r.form]
		message := fmt.Sprintf("%s is %s already, not JSON text", name, what)
		hint := "leave out JSON.parse"
		if member := r.jsonMember(); member != "" {
			hint = fmt.Sprintf("use JSON.parse(%s.%s)", or(s.Holder, "result"), member)
		}
		return clue{h.finding(KindWrongType, message, hint, u.Pos), s.Holder}, what != ""
	case r.form == objectForm:
		return h.missing(s, u, r)
	case r.isText():
		return h.text(s, u, r)
	}
	return clue{}, false
}

// text words a use of text as something else.
func (h *host) text(s engine.Site, u engine.Use, r *returned) (clue, bool) {
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
		if r.long() || !slices.ContainsFunc(r.values, isJSON) || slices.ContainsFunc(s.Uses, isParsed) {
			return clue{}, false // the number of characters may be meant
		}
		effect = "whose length counts its characters"
	}
	hint := "use JSON.parse(" + value + ")"
	switch {
	case r.values == nil:
		hint += " if the text is JSON"
	case r.form == textForm:
		hint = "it is not JSON; take it apart as text, as by split or match"
	}
	message := fmt.Sprintf("%s is text: %s returns a string, %s", name, call, effect)
	return clue{h.finding(KindWrongType, message, hint, u.Pos), s.Holder}, effect != ""
}
