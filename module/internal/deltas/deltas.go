// Package deltas divides a reply that arrives in pieces into the text of its fields, so that a field can be shown while
// the model writes it. It never emits a piece of a marker, key or escape sequence.
package deltas

import (
	"slices"
	"strings"
)

// Emit receives text that was added to a field. The field is "" for text outside of fields.
// The text is never empty.
type Emit func(field, text string)

// Splitter divides one reply.
type Splitter interface {
	// Add takes the next piece of the reply.
	Add(piece string)
	// End says that the reply is complete.
	End()
}

// Text emits a reply as it arrives, for replies in an unknown format.
func Text(emit Emit) Splitter { return text{emit} }

type text struct{ emit Emit }

// Add emits the piece.
func (t text) Add(piece string) {
	if piece != "" {
		t.emit("", piece)
	}
}

// End does nothing, because no text is held back.
func (text) End() {}

// Markers divides a reply in which every field follows its marker, [[ ## name ## ]]. A
// marker that names neither a field nor the end is text.
func Markers(fields []string, end string, emit Emit) Splitter {
	return &markers{fields: fields, end: end, out: output{emit: emit}}
}

type markers struct {
	fields []string
	end    string
	out    output
	held   string // text that may be the beginning of a marker
	inLine bool   // the line has text, so that no marker begins in it
	after  bool   // a marker was just read; decoration such as ** may follow it
	over   bool
}

// Add implements [Splitter].
func (m *markers) Add(piece string) {
	if m.over {
		return
	}
	m.held += piece
	for !m.over && m.step() {
	}
	m.out.flush()
}

// step processes part of the held text. It reports whether it should be called again.
func (m *markers) step() bool {
	at := strings.IndexByte(m.held, '[')
	if at < 0 {
		m.write(m.held)
		m.held = ""
		return false
	}
	m.write(m.held[:at])
	m.held = m.held[at:]
	name, length, partial := marker(m.held)
	field := slices.IndexFunc(m.fields, func(f string) bool { return strings.EqualFold(f, name) })
	switch {
	case m.inLine:
		length = 0
	case partial:
		return false
	}
	switch {
	case length > 0 && strings.EqualFold(name, m.end):
		m.over, m.held = true, ""
		m.out.blanks = nil
	case length > 0 && field >= 0:
		m.out.begin(m.fields[field])
		m.held, m.inLine, m.after = m.held[length:], true, true
	default:
		m.write("[")
		m.held = m.held[1:]
	}
	return m.held != ""
}

// write emits text, and records whether a marker may still begin in the current line.
func (m *markers) write(text string) {
	if m.after {
		text = strings.TrimLeft(text, "*_`:")
		m.after = text == ""
	}
	line := text
	if n := strings.LastIndexByte(text, '\n'); n >= 0 {
		line, m.inLine = text[n+1:], false
	}
	m.inLine = m.inLine || strings.Trim(line, " \t>*_#`-") != ""
	m.out.write(text)
}

// End implements [Splitter].
func (m *markers) End() {
	if !m.over && !strings.HasPrefix(m.held, "[[") {
		m.write(m.held)
	}
	m.out.flush()
}

// maxName is the maximum length of a marker's name.
const maxName = 200

// marker parses a marker at the beginning of text, in the same way as package replies: it trims # and whitespace around
// the name. partial means that more text could complete it.
func marker(text string) (name string, length int, partial bool) {
	inner, ok := strings.CutPrefix(text, "[[")
	if !ok {
		return "", 0, text == "["
	}
	end := strings.IndexAny(inner[:min(len(inner), maxName+1)], "]\n")
	switch {
	case end < 0 && len(inner) > maxName:
		return "", 0, false
	case end < 0, inner[end:] == "]":
		return "", 0, true
	case !strings.HasPrefix(inner[end:], "]]"):
		return "", 0, false
	}
	return strings.Trim(inner[:end], "# \t"), len("[[") + end + len("]]"), false
}

// output collects the text of one piece. It trims the whitespace around a field's text.
type output struct {
	emit   Emit
	field  string
	begun  bool   // the field has text
	blanks []byte // held back until more text follows
	text   strings.Builder
}

// begin starts another field.
func (o *output) begin(field string) {
	o.flush()
	o.field, o.begun, o.blanks = field, false, nil
}

func (o *output) write(text string) {
	if !o.begun {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	solid := strings.TrimRight(text, " \t\r\n")
	if solid != "" {
		o.text.Write(o.blanks)
		o.text.WriteString(solid)
		o.begun, o.blanks = true, o.blanks[:0]
	}
	if o.begun {
		o.blanks = append(o.blanks, text[len(solid):]...)
	}
}

func (o *output) flush() {
	if o.text.Len() > 0 {
		o.emit(o.field, o.text.String())
		o.text.Reset()
	}
}
