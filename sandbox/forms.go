package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
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

// mistaken words results that the program used as what they are not, where the source
// shows it: text as an object, or an object as JSON text. What a result is, the calls say,
// or the declaration if there were none.
func (h *host) mistaken(calls []Call) (clues []clue) {
	forms := map[engine.Pos]form{}
	for _, c := range calls {
		if c.Error != nil || c.Pending || c.Result == nil {
			continue
		}
		at, f := engine.Pos{Line: c.Line, Column: c.Column}, formOf(c.Result)
		if before, known := forms[at]; known && before != f {
			f = unknownForm
		}
		forms[at] = f
	}
	declared := map[int]form{}
	for _, s := range h.sites {
		if len(s.Uses) == 0 || s.Tool < 0 || s.Tool >= len(h.bindings) {
			continue
		}
		f, called := forms[s.Pos]
		if !called {
			if _, known := declared[s.Tool]; !known {
				declared[s.Tool] = declaredForm(h.bindings[s.Tool])
			}
			f = declared[s.Tool]
		}
		for _, u := range s.Uses {
			if len(clues) == maxFindings {
				return clues
			}
			if c, ok := h.mistake(s, u, f, called); ok {
				clues = append(clues, c)
			}
		}
	}
	return clues
}

// declaredForm is the form of the results of a tool that has an output schema.
func declaredForm(b *tools.Binding) form {
	var output struct {
		Type json.RawMessage `json:"type"`
	}
	if json.Unmarshal(b.OutputSchema, &output) != nil {
		return unknownForm
	}
	switch string(output.Type) {
	case `"string"`:
		return textForm
	case `"object"`:
		return objectForm
	case `"array"`:
		return arrayForm
	}
	return unknownForm
}

// mistake words one use of a result. It reports false for a use that goes well.
func (h *host) mistake(s engine.Site, u engine.Use, f form, called bool) (clue, bool) {
	call, name := h.path(s.Tool), s.Holder
	value := name
	if name == "" {
		name, value = "the result", "await "+call+"(…)"
	}
	if u.How == engine.Parsed {
		what := map[form]string{objectForm: "an object", arrayForm: "an array"}[f]
		message := fmt.Sprintf("%s is %s already, not JSON text", name, what)
		return clue{h.finding(WrongType, message, "leave out JSON.parse", u.Pos), s.Holder}, what != ""
	}
	effect := map[string]string{
		engine.Read:     "which has no property " + u.Property,
		engine.Called:   "which has no method " + u.Property,
		engine.Iterated: "which gives single characters when it is iterated over",
	}[u.How]
	hint := "use JSON.parse(" + value + ")"
	switch {
	case !called:
		hint += " if the text is JSON"
	case f == textForm:
		hint = "it is not JSON; take it apart as text, as by split or match"
	}
	message := fmt.Sprintf("%s is text: %s returns a string, %s", name, call, effect)
	return clue{h.finding(WrongType, message, hint, u.Pos), s.Holder}, f.isText() && effect != ""
}
