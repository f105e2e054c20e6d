// Package deltas divides a reply that arrives in pieces into the text of its fields, so
// that a field can be shown while it is written. It forwards what it is sure of: no piece
// of a marker, of a key or of an escape sequence ever gets out.
package deltas

import (
	"slices"
	"strings"
)

// Emit is told that text was added to a field. The field is "" for text outside of fields.
// The text is never empty.
type Emit func(field, text string)

// Splitter divides one reply.
type Splitter interface {
	// Add takes the next piece of the reply.
	Add(piece string)
	// End says that the reply is complete.
	End()
}

// Text tells a reply as it comes, for forms that are not known.
func Text(emit Emit) Splitter { return text{emit} }

type text struct{ emit Emit }

// Add tells the piece.
func (t text) Add(piece string) {
	if piece != "" {
		t.emit("", piece)
	}
}

// End does nothing: no text is held back.
func (text) End() {}

// Markers divides a reply in which every field stands under its marker, [[ ## name ## ]].
// A marker of no field and not of the end is text.
func Markers(fields []string, end string, emit Emit) Splitter {
	return &markers{fields: fields, end: end, out: output{emit: emit}}
}

type markers struct {
	fields []string
	end    string
	out    output
	held   string // may be the beginning of a marker
	over   bool
}

// Add implements [Splitter].
func (m *markers) Add(piece string) {
	m.held += piece
	for !m.over && m.step() {
	}
	m.out.flush()
}

// step reports whether there may be more to do.
func (m *markers) step() bool {
	at := strings.IndexByte(m.held, '[')
	if at < 0 {
		m.out.write(m.held)
		m.held = ""
		return false
	}
	m.out.write(m.held[:at])
	m.held = m.held[at:]
	name, length, partial := marker(m.held)
	switch {
	case partial:
		return false
	case length > 0 && name == m.end:
		m.over = true
		m.out.drop()
	case length > 0 && slices.Contains(m.fields, name):
		m.out.begin(name)
		m.held = m.held[length:]
	default:
		m.out.write("[")
		m.held = m.held[1:]
	}
	return m.held != ""
}

// End implements [Splitter].
func (m *markers) End() {
	if !m.over && !strings.HasPrefix(m.held, "[[") {
		m.out.write(m.held)
	}
	m.out.flush()
}

// maxName bounds the names of markers.
const maxName = 200

// marker reads the marker that text begins with. It is partial if more text could make it
// one.
func marker(text string) (name string, length int, partial bool) {
	rest := text
	for i, part := range []string{"[[", "##", "", "##", "]]"} {
		if i > 0 {
			rest = strings.TrimLeft(rest, " \t")
		}
		if part == "" {
			end := strings.IndexAny(rest, "#\n]")
			switch {
			case end < 0 && len(rest) <= maxName:
				return "", 0, true
			case end <= 0:
				return "", 0, false
			}
			name, rest = strings.TrimSpace(rest[:end]), rest[end:]
			continue
		}
		after, ok := strings.CutPrefix(rest, part)
		if !ok {
			return "", 0, strings.HasPrefix(part, rest)
		}
		rest = after
	}
	return name, len(text) - len(rest), false
}

// output collects the text of one piece. It leaves out blanks around the text of a field.
type output struct {
	emit   Emit
	field  string
	begun  bool   // the field has text
	blanks string // that may be followed by text
	text   strings.Builder
}

// begin begins another field.
func (o *output) begin(field string) {
	o.flush()
	o.field, o.begun, o.blanks = field, false, ""
}

func (o *output) write(text string) {
	if !o.begun {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	solid := strings.TrimRight(text, " \t\r\n")
	if solid != "" {
		o.text.WriteString(o.blanks + solid)
		o.begun, o.blanks = true, ""
	}
	if o.begun {
		o.blanks += text[len(solid):]
	}
}

// drop forgets the blanks before an end.
func (o *output) drop() { o.blanks = "" }

func (o *output) flush() {
	if o.text.Len() > 0 {
		o.emit(o.field, o.text.String())
		o.text.Reset()
	}
}
