package deltas

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON divides a reply that is one JSON object. It emits strings without quotes and escapes, and other values as JSON.
// It ignores text around the object and members that are not fields.
func JSON(fields []string, emit Emit) Splitter {
	return &object{fields: fields, out: output{emit: emit}}
}

type object struct {
	fields []string
	out    output
	next   state
	key    strings.Builder
	escape string // an incomplete escape sequence
	high   rune   // a high surrogate that waits for the low one
	depth  int    // the nesting of arrays and objects in the value
	quoted bool   // inside a string of the value
	shown  bool   // the member is a field
	null   string // a prefix of null, which is not emitted
	begins bool   // nothing of the value has been emitted yet
}

type state int

const (
	before   state = iota // before the object
	wantKey               // before a key or the end of the object
	inKey                 // within a key
	wantText              // before a value
	inString              // within a string value
	inValue               // within another value
	after                 // after the object
)

// Add implements [Splitter].
func (o *object) Add(piece string) {
	for i := 0; i < len(piece); {
		_, size := utf8.DecodeRuneInString(piece[i:])
		o.take(piece[i : i+size])
		i += size
	}
	o.out.flush()
}

// End implements [Splitter].
func (o *object) End() { o.out.flush() }

// take processes one character.
func (o *object) take(c string) {
	switch o.next {
	case before:
		if c == "{" {
			o.next = wantKey
		}
	case wantKey:
		switch c {
		case `"`:
			o.key.Reset()
			o.next = inKey
		case "}":
			o.next = after
		}
	case inKey:
		if o.text(c, func(text string) { o.key.WriteString(text) }) {
			o.next = wantText
		}
	case wantText:
		o.value(c)
	case inString:
		if o.text(c, o.write) {
			o.next = wantKey
		}
	case inValue:
		o.raw(c)
	}
}

// value processes a character before or at the beginning of a member's value.
func (o *object) value(c string) {
	if strings.Contains(" \t\r\n:", c) {
		return
	}
	o.shown = slices.Contains(o.fields, o.key.String())
	o.out.begin(o.key.String())
	if c == `"` {
		o.next = inString
		return
	}
	o.next, o.depth, o.quoted, o.begins, o.null = inValue, 0, false, true, ""
	o.raw(c)
}

func (o *object) write(text string) {
	if o.shown {
		o.out.exact(text)
	}
}

// text processes a character of a string and reports whether it ends the string.
func (o *object) text(c string, write func(string)) (ended bool) {
	if o.high != 0 && o.escape == "" && c != `\` {
		o.lone(write)
	}
	switch {
	case o.escape != "":
		o.escaped(o.escape+c, write)
	case c == `\`:
		o.escape = c
	case c == `"`:
		return true
	default:
		write(c)
	}
	return false
}

var escapes = map[string]string{
	`\n`: "\n", `\t`: "\t", `\r`: "\r", `\b`: "\b", `\f`: "\f",
}

// escaped processes an escape sequence, which may be incomplete.
func (o *object) escaped(sequence string, write func(string)) {
	if o.escape = sequence; sequence[1] == 'u' && len(sequence) < 6 {
		return
	}
	o.escape = ""
	if sequence[1] != 'u' {
		o.lone(write)
		text, ok := escapes[sequence]
		if !ok {
			text = sequence[1:]
		}
		write(text)
		return
	}
	code, err := strconv.ParseUint(sequence[2:], 16, 16)
	r := rune(code)
	switch {
	case err != nil:
		write(string(utf8.RuneError))
	case o.high != 0 && utf16.DecodeRune(o.high, r) != utf8.RuneError:
		write(string(utf16.DecodeRune(o.high, r)))
		o.high = 0
	case 0xD800 <= r && r < 0xDC00:
		o.lone(write)
		o.high = r
	default:
		o.lone(write)
		write(string(r)) // an unpaired surrogate becomes U+FFFD
	}
}

// lone writes U+FFFD for a high surrogate without a low one.
func (o *object) lone(write func(string)) {
	if o.high != 0 {
		write(string(utf8.RuneError))
		o.high = 0
	}
}

// raw processes a character of a value that is not a string.
func (o *object) raw(c string) {
	if o.begins {
		if strings.HasPrefix("null", o.null+c) {
			o.null += c
			return
		}
		if o.begins = false; o.shown && (o.null != "null" || !strings.Contains(",} \t\r\n", c)) {
			o.out.write(o.null)
		}
	}
	switch {
	case o.quoted && o.escape != "":
		o.escape = ""
	case o.quoted && c == `\`:
		o.escape = c
	case c == `"`:
		o.quoted = !o.quoted
	case o.quoted:
	case o.depth == 0 && (c == "," || c == "}"):
		if o.next = wantKey; c == "}" {
			o.next = after
		}
		return
	case c == "{" || c == "[":
		o.depth++
	case c == "}" || c == "]":
		o.depth--
	}
	if o.shown {
		o.out.write(c)
	}
}

// exact adds text, including its whitespace.
func (o *output) exact(text string) {
	o.text.Write(o.blanks)
	o.text.WriteString(text)
	o.begun, o.blanks = true, o.blanks[:0]
}
