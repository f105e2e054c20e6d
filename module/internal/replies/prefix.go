package replies

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature"
)

// Prefix reads the beginning of a reply that the model is still writing.
type Prefix struct {
	outputs []signature.Field
	shapes  []shape
	needed  func(name string) bool
	format  Format
}

// NewPrefix returns a Prefix for replies in a format. It reads only those outputs of spec that are needed.
func NewPrefix(spec *signature.Spec, needed func(name string) bool, format Format) *Prefix {
	p := &Prefix{outputs: spec.Outputs(), needed: needed, format: format}
	for _, f := range p.outputs {
		p.shapes = append(p.shapes, shapeOf(f.Schema.Raw()))
	}
	return p
}

// Begun is what the beginning of a reply determines.
type Begun struct {
	// Values are the outputs so far. Lists and objects may lack their ends. An output is missing if more text could
	// change what has arrived of it.
	Values signature.Values
	Done   []string // the names of the outputs that are complete
	Open   string   // the path of the string or number that is not complete, or ""
}

// Read returns the outputs at the beginning of a reply. It reads only replies in the requested format that have nothing
// but thoughts and a fence before the first output, since [Read] may read other replies differently when they are
// complete.
func (p *Prefix) Read(said string) Begun {
	for n := 1; n < utf8.UTFMax && n <= len(said); n++ {
		if last := said[len(said)-n:]; utf8.RuneStart(last[0]) && !utf8.FullRuneInString(last) {
			said = said[:len(said)-n]
			break
		}
	}
	text, err := visible(strings.TrimSuffix(said, "\r"))
	if err != nil {
		return Begun{}
	}
	w := &walk{text: text}
	switch first := text[0]; {
	case p.format == Markers && (first == '[' || first == '`'):
		p.sections(w)
	case p.format == Object && (first == '{' || first == '`'):
		if w.at = strings.IndexByte(text, '{'); w.at >= 0 {
			w.Values = w.members("", 0, p.member, p.settle(w))
		}
	}
	return w.Begun
}

// member returns the shape of an output.
func (p *Prefix) member(name string) (shape, bool) {
	at := slices.IndexFunc(p.outputs, func(f signature.Field) bool { return f.Name == name })
	if at < 0 || !p.needed(name) {
		return shape{}, false
	}
	return p.shapes[at], true
}

// settle returns a function that reads an output that is complete in a JSON object, like [Read].
func (p *Prefix) settle(w *walk) func(name string, raw json.RawMessage) json.RawMessage {
	return func(name string, raw json.RawMessage) json.RawMessage {
		at := slices.IndexFunc(p.outputs, func(f signature.Field) bool { return f.Name == name })
		value, err := readMember(p.outputs[at], raw, len(p.outputs) == 1)
		if err != nil || value == nil {
			return nil
		}
		w.Done = append(w.Done, name)
		return value
	}
}

// sections reads the values under markers. All but the last are complete.
func (p *Prefix) sections(w *walk) {
	marks := reply{outputs: p.outputs}.marks(w.text)
	for i, m := range marks {
		f, known := fieldNamed(p.outputs, m.name)
		_, twice := w.Values.Get(f.Name)
		switch {
		case sameName(m.name, EndName(p.outputs)):
			return
		case !known || twice || !p.needed(f.Name):
			continue
		}
		var value json.RawMessage
		if i+1 == len(marks) {
			value = p.open(w, f, w.text[m.end:])
		} else if text := trimmed(w.text[m.end:marks[i+1].start]); text != "" && !isPlaceholder(f, text) {
			var err error
			if value, err = readValue(f, fieldValue{text: text}, len(p.outputs) == 1); err != nil {
				return
			}
			w.Done = append(w.Done, f.Name)
		}
		if value != nil {
			w.Values = append(w.Values, signature.Value{Name: f.Name, JSON: value})
		}
	}
}

// open reads the value under the last marker.
func (p *Prefix) open(w *walk, f signature.Field, text string) json.RawMessage {
	inner := strings.TrimSpace(text)
	if f.Schema.AnyText() {
		if inner = begunText(f, text); inner == "" {
			return nil
		}
		w.Open = f.Name
		return Quote(inner)
	}
	if strings.HasPrefix(inner, "```") {
		_, inner, _ = strings.Cut(inner, "\n")
		inner = strings.TrimSpace(inner)
	}
	if inner == "" || inner[0] != '{' && inner[0] != '[' {
		return nil // words and numbers are read when they are complete
	}
	s, _ := p.member(f.Name)
	w.text, w.at = inner, 0
	value, whole := w.value(s, f.Name, 0)
	if whole {
		value = s.settled(value)
	}
	return value
}

// begunText returns the part of a text that will not be read differently when the text is complete. Quotes, fences and
// the indentation of the first line may turn out to be notation, and the last line may be the beginning of a marker.
func begunText(f signature.Field, text string) string {
	lead := text[:strings.Index(text, strings.TrimSpace(text))]
	if lead[strings.LastIndexByte(lead, '\n')+1:] != "" {
		return ""
	}
	text, _, _ = strings.Cut(text, "[[")
	if line := strings.LastIndexByte(text, '\n'); strings.Trim(text[line+1:], " \t>*_#`-[") == "" {
		text = text[:max(line, 0)]
	}
	if at := strings.LastIndexByte(text, '<'); at >= 0 && len(text)-at < 80 && !strings.ContainsAny(text[at:], " \n") {
		text = text[:at] // perhaps a token of the model's template
	}
	text = strings.TrimSpace(strings.TrimRight(text, "["))
	if text == "" || strings.IndexByte("\"`~", text[0]) >= 0 {
		return ""
	}
	for _, other := range []string{"null", "None", NotGiven, Placeholder(f.Name)} {
		if strings.HasPrefix(other, text) {
			return ""
		}
	}
	return text
}

// maxOpen is the maximum nesting of containers that are read before they are complete.
const maxOpen = 20

// walk reads JSON that may end in the middle of a value.
type walk struct {
	text string
	at   int
	Begun
}

// value reads a value. It returns the value as it is written if it is whole, and otherwise what is certain about it, or
// nil.
func (w *walk) value(s shape, path string, depth int) (value json.RawMessage, whole bool) {
	w.skip()
	if raw := w.whole(); raw != nil {
		return raw, true
	}
	rest := w.text[w.at:]
	switch {
	case rest == "" || depth == maxOpen:
		return nil, false
	case rest[0] == '[' && s.items != nil:
		return w.elements(*s.items, path, depth), false
	case rest[0] == '{' && (s.members != nil || s.rest != nil):
		settle := func(name string, raw json.RawMessage) json.RawMessage {
			m, _ := s.named(name)
			return m.settled(raw)
		}
		inner, err := w.members(path, depth+1, s.named, settle).MarshalJSON()
		if err != nil {
			return nil, false
		}
		return inner, false
	case rest[0] == '"' && s.text() && s.constants == nil && s.format == "":
		value = openString(rest)
	case s.number() && s.format == "":
		value = openNumber(rest)
	}
	if value != nil {
		w.Open = path
	}
	return value, false
}

// whole reads a value if it is complete. A number at the end of the text may go on.
func (w *walk) whole() json.RawMessage {
	var raw json.RawMessage
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

func (w *walk) skip() {
	w.at = len(w.text) - len(strings.TrimLeft(w.text[w.at:], " \t\r\n"))
}

// take skips a byte, and reports whether it was there.
func (w *walk) take(c string) bool {
	w.skip()
	found := strings.HasPrefix(w.text[w.at:], c)
	if found {
		w.at++
	}
	return found
}

// elements reads the elements of an array up to the first that is not whole or does not fit.
func (w *walk) elements(each shape, path string, depth int) json.RawMessage {
	var items []json.RawMessage
	w.at++
	for {
		item, whole := w.value(each, fmt.Sprintf("%s[%d]", path, len(items)), depth+1)
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

// members reads the members of an object whose names are known, up to the first that is not whole. Settle converts
// those that are whole; nil leaves a member out.
func (w *walk) members(
	path string, depth int, known func(string) (shape, bool), settle func(string, json.RawMessage) json.RawMessage,
) (all signature.Values) {
	w.at++
	for {
		w.skip()
		var name string
		if key := w.whole(); key == nil || json.Unmarshal(key, &name) != nil || !w.take(":") {
			return all
		}
		s, ok := known(name)
		value, whole := w.value(s, within(path, name), depth)
		if whole && ok {
			value = settle(name, value)
		}
		if ok && value != nil {
			all = append(all, signature.Value{Name: name, JSON: value})
		}
		if !whole || !w.take(",") {
			return all
		}
	}
}

// openString returns the string whose beginning is text, without an escape or a character that is cut off, or nil if it
// is not valid.
func openString(text string) json.RawMessage {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"': // it is complete, but was not read
			return nil
		case '\\':
			i++
		}
	}
	const longest = len(`\ud83d\udc0`) // a character that is cut off
	for n := len(text); n > 0 && n >= len(text)-longest; n-- {
		if closed := text[:n] + `"`; n == len(text) || utf8.RuneStart(text[n]) {
			if _, ok := quotedText(closed); ok {
				return json.RawMessage(closed)
			}
		}
	}
	return nil
}

// openNumber returns the number so far at the end of a text, or nil.
func openNumber(text string) json.RawMessage {
	for n := min(len(text), 100); n > 0 && !strings.ContainsAny(text, " \t\r\n"); n-- {
		if jsonNumber.MatchString(text[:n]) {
			return json.RawMessage(text[:n])
		}
	}
	return nil
}

// named returns the shape of an object's member.
func (s shape) named(name string) (shape, bool) {
	if at := slices.IndexFunc(s.members, func(m member) bool { return m.name == name }); at >= 0 {
		return s.members[at].shape, true
	}
	if s.rest != nil {
		return *s.rest, true
	}
	return shape{}, false
}

// settled returns a value that is whole but part of one that is not, or nil if it will be read differently.
func (s shape) settled(value json.RawMessage) json.RawMessage {
	if !s.admits(value) || !equalJSON(value, s.spelled(value, shape.word)) {
		return nil
	}
	return value
}

// within returns the path of a member.
func within(path, name string) string {
	switch {
	case !jsonvalue.IsIdentifier(name):
		return path + "[" + jsonvalue.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}
