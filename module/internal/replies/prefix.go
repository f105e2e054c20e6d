package replies

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature"
)

// Prefix reads the beginning of a reply that the model is still writing.
type Prefix struct {
	outputs []signature.Field
	needed  shape // an object whose members are the outputs to read
	format  Format
}

// NewPrefix returns a Prefix for replies in a format. It reads only those outputs of spec that are needed.
func NewPrefix(spec *signature.Spec, needed func(name string) bool, format Format) *Prefix {
	p := &Prefix{outputs: spec.Outputs(), format: format}
	for _, f := range p.outputs {
		if needed(f.Name) {
			p.needed.members = append(p.needed.members, member{f.Name, shapeOf(f.Schema.Raw()), f.Required})
		}
	}
	return p
}

// Begun is what the beginning of a reply determines.
type Begun struct {
	// Values are the outputs so far. An output is missing if more text could change what has arrived of it.
	Values signature.Values
	Done   []string // the names of the outputs that are complete
	Open   string   // the path of the string that is not complete, or ""
}

// Read returns the outputs at the beginning of a reply. It reads only replies in the requested format that have nothing
// but thoughts and a fence before the first output, since the function [Read] may read other replies differently when
// they are complete.
func (p *Prefix) Read(said string) Begun {
	w := &walk{}
	text, err := visible(said)
	if err != nil {
		return w.Begun
	}
	w.text = strings.TrimRight(text, "\r\ufffd") // the last character may be cut off
	switch fenced := strings.HasPrefix(text, "`"); {
	case p.format == Markers && (fenced || text[0] == '['):
		p.sections(w)
	case p.format == Object && (fenced || text[0] == '{'):
		if w.at = strings.IndexByte(w.text, '{'); w.at >= 0 {
			w.Values = w.members("", p.needed, func(name string, _ shape, raw json.RawMessage) json.RawMessage {
				return p.done(w, name, fieldValue{json: raw})
			})
		}
	}
	return w.Begun
}

// done reads an output that is complete, as the function [Read] does.
func (p *Prefix) done(w *walk, name string, given fieldValue) json.RawMessage {
	at := slices.IndexFunc(p.outputs, func(f signature.Field) bool { return f.Name == name })
	value, err := readValue(p.outputs[at], given, len(p.outputs) == 1)
	if err != nil || value == nil {
		return nil
	}
	w.Done = append(w.Done, name)
	return value
}

// sections reads the values under markers. All but the last are complete.
func (p *Prefix) sections(w *walk) {
	text := w.text
	marks := reply{outputs: p.outputs}.marks(text)
	for i, m := range marks {
		f, _ := fieldNamed(p.outputs, m.name)
		s, needed := p.needed.named(f.Name)
		if _, twice := w.Values.Get(f.Name); !needed || twice {
			continue
		}
		var value json.RawMessage
		if i+1 == len(marks) {
			value = w.section(f, s, text[m.end:])
		} else if inner := trimmed(text[m.end:marks[i+1].start]); inner != "" && !isPlaceholder(f, inner) {
			value = p.done(w, f.Name, fieldValue{text: inner})
		}
		if value != nil {
			w.Values = append(w.Values, signature.Value{Name: f.Name, JSON: value})
		}
	}
}

// walk reads JSON that may end in the middle of a value.
type walk struct {
	text string
	at   int
	Begun
}

// section reads the value under the last marker. Words and numbers are only read when they are complete.
func (w *walk) section(f signature.Field, s shape, text string) json.RawMessage {
	if f.Schema.AnyText() {
		if text = begunText(f, text); text == "" {
			return nil
		}
		w.Open = f.Name
		return Quote(text)
	}
	if w.text, w.at = strings.TrimSpace(text), 0; !strings.HasPrefix(w.text, "{") && !strings.HasPrefix(w.text, "[") {
		return nil
	}
	value, whole := w.part(f.Name, s)
	if whole {
		return s.settled(value)
	}
	return value
}

// begunText returns the part of a text that will not be read differently when the text is complete. Quotes, fences and
// the indentation of the first line may turn out to be notation. The end may be the beginning of a marker, or of a
// token of the model's template.
func begunText(f signature.Field, text string) string {
	lead := text[:strings.Index(text, strings.TrimSpace(text))]
	text, _, _ = strings.Cut(text, "[[")
	if line := strings.LastIndexByte(text, '\n'); strings.Trim(text[line+1:], " \t>*_#`-[") == "" {
		text = text[:max(line, 0)]
	}
	if at := strings.LastIndexByte(text, '<'); at >= 0 && !strings.ContainsAny(text[at:], " \n") {
		text = text[:at]
	}
	text = strings.TrimSpace(strings.TrimRight(text, "["))
	for _, other := range []string{"null", "None", NotGiven, Placeholder(f.Name)} {
		if strings.HasPrefix(other, text) {
			return ""
		}
	}
	if strings.Contains("\"`~", text[:1]) || strings.Trim(lead, "\n") != "" {
		return ""
	}
	return text
}

// part reads a value. It returns the value as it is written if it is whole, and otherwise what is certain about it, or
// nil.
func (w *walk) part(path string, s shape) (value json.RawMessage, whole bool) {
	if raw := w.whole(); raw != nil {
		return raw, true
	}
	switch rest := w.text[w.at:]; {
	case strings.HasPrefix(rest, "[") && s.items != nil:
		return w.elements(path, *s.items), false
	case strings.HasPrefix(rest, "{") && (s.members != nil || s.rest != nil):
		settle := func(_ string, s shape, raw json.RawMessage) json.RawMessage { return s.settled(raw) }
		value, _ = w.members(path, s, settle).MarshalJSON() // the members are JSON
		return value, false
	case strings.HasPrefix(rest, `"`) && s.text() && s.constants == nil && s.format == "":
		value = openString(rest)
		if value != nil {
			w.Open = path
		}
	}
	return value, false
}

// whole reads a value if it is complete. A number at the end of the text may go on.
func (w *walk) whole() (raw json.RawMessage) {
	w.at = len(w.text) - len(strings.TrimLeft(w.text[w.at:], " \t\r\n"))
	d := json.NewDecoder(strings.NewReader(w.text[w.at:]))
	if d.Decode(&raw) != nil {
		return nil
	}
	end := w.at + int(d.InputOffset())
	if end == len(w.text) && strings.IndexByte(`"]}`, w.text[end-1]) < 0 {
		return nil
	}
	w.at = end
	return raw
}

// take skips white space and a byte, and reports whether the byte was there.
func (w *walk) take(c string) bool {
	rest, found := strings.CutPrefix(strings.TrimLeft(w.text[w.at:], " \t\r\n"), c)
	w.at = len(w.text) - len(rest)
	return found
}

// elements reads the elements of an array up to the first that is not whole or does not fit.
func (w *walk) elements(path string, each shape) json.RawMessage {
	var items []json.RawMessage
	for w.at++; ; {
		item, whole := w.part(fmt.Sprintf("%s[%d]", path, len(items)), each)
		if whole {
			item = each.settled(item)
		}
		if item != nil {
			items = append(items, item)
		}
		if !whole || item == nil || !w.take(",") {
			return array(items)
		}
	}
}

// members reads the members of an object that its shape describes, up to the first that is not whole. Settle converts
// those that are whole; nil leaves a member out.
func (w *walk) members(
	path string, object shape, settle func(name string, s shape, raw json.RawMessage) json.RawMessage,
) (all signature.Values) {
	for w.at++; ; {
		var name string
		if json.Unmarshal(w.whole(), &name) != nil || !w.take(":") {
			return all
		}
		s, known := object.named(name)
		value, whole := w.part(jsonvalue.Member(path, name), s)
		if whole && known {
			value = settle(name, s, value)
		}
		if known && value != nil {
			all = append(all, signature.Value{Name: name, JSON: value})
		}
		if !whole || !w.take(",") {
			return all
		}
	}
}

// openString returns the string whose beginning is text, without an escape or a surrogate pair that is cut off, or nil.
func openString(text string) json.RawMessage {
	for i := 1; i < len(text); i++ {
		if text[i] == '"' { // it is complete, but was not read
			return nil
		} else if text[i] == '\\' {
			i++
		}
	}
	for n := len(text); n > max(0, len(text)-len(`\ud83d\udc0`)-1); n-- {
		if _, ok := quotedText(text[:n] + `"`); ok {
			return json.RawMessage(text[:n] + `"`)
		}
	}
	return nil
}

// named returns the shape of an object's member, and whether the object may have it.
func (s shape) named(name string) (shape, bool) {
	for _, m := range s.members {
		if m.name == name {
			return m.shape, true
		}
	}
	return *cmp.Or(s.rest, &shape{}), s.rest != nil
}

// settled returns a value that is whole but part of one that is not, or nil if it will be read differently.
func (s shape) settled(value json.RawMessage) json.RawMessage {
	if !s.admits(value) || !equalJSON(value, s.spelled(value, shape.word)) {
		return nil
	}
	return value
}
