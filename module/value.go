package module

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// view is a JSON value, opened to be shown to a model: an input, the value of a program, the
// arguments or the result of a tool.
type view struct {
	raw     json.RawMessage
	kind    byte // the first byte
	text    string
	items   []json.RawMessage
	members signature.Values
}

// viewOf opens a value, which must be valid JSON.
func viewOf(value json.RawMessage) view {
	v := view{raw: bytes.TrimSpace(value)}
	v.kind = first(v.raw)
	switch v.kind {
	case '"':
		v.text = replies.PlainText(v.raw)
	case '[':
		_ = json.Unmarshal(v.raw, &v.items)
	case '{':
		v.members = membersOf(v.raw)
	}
	return v
}

// String says what the value is and how long, as programs see it.
func (v view) String() string {
	switch v.kind {
	case '"':
		return "a string of " + plural(lengthOf(v.text), "character")
	case '[':
		return "an array of " + counted(v.items)
	case '{':
		return "an object of " + plural(len(v.members), "key")
	case 't', 'f', 'n':
		return string(v.raw)
	default:
		return "a number of " + plural(len(v.raw), "digit")
	}
}

// inPart says what a value is and how long, and shows it, or at most so many bytes of it.
func inPart(value json.RawMessage, most int) string {
	v := viewOf(value)
	if len(v.raw) <= most {
		return v.String() + ":\n" + string(v.raw)
	}
	return v.String() + ", of which this is a part:\n" + v.part(most)
}

// shown is the value in at most so many bytes, behind one of two leads: "Its value" stands before
// all of it, and "Its value is" before what it is. A text is shown as it is, in a fence.
func (v view) shown(lead, is string, most int) string {
	if v.plain() && len(lead)+len(":\n")+len(v.raw) <= most {
		return lead + ":\n" + fenced(string(v.raw))
	}
	if text := is + " this string:\n" + fenced(v.text); v.kind == '"' && len(text) <= most {
		return text
	}
	lead = is + " " + v.String() + "; this is part of it:\n"
	return shorten(lead+fencedIn(most-len(lead), v.part), most)
}

// part is the value in at most so many bytes: a text with its middle left out, and anything
// else as JSON, with comments in place of what does not fit.
func (v view) part(most int) string {
	if v.kind == '"' {
		return cut(v.text, most)
	}
	return v.sketched(most)
}

// slice is how a program prints a part of the value, as an example.
func (v view) slice() string {
	switch v.kind {
	case '"':
		return "text.slice(4000, 8000)"
	case '[':
		return "rows.slice(20, 40)"
	default:
		return "Object.keys(value)"
	}
}

// sketched is the value as JSON in at most so many bytes.
func (v view) sketched(most int) string {
	for room := most; room >= leastSketch; room = room * 7 / 8 {
		var b strings.Builder
		if v.sketch(&b, room); b.Len() <= most {
			return b.String()
		}
	}
	return shorten("/* "+v.String()+" */", most)
}

// oneLine is a value as JSON on one line, in at most so many bytes.
func oneLine(value json.RawMessage, most int) string {
	if len(value) <= most {
		return escapeBreaks(string(value))
	}
	return escapeBreaks(viewOf(value).sketched(most))
}

// plain reports whether the value is JSON that reads well as it is: anything but a text with
// escapes in it.
func (v view) plain() bool { return v.kind != '"' || len(v.raw) == len(v.text)+2 }

// counted says how many items there are of each type.
func counted(items []json.RawMessage) string {
	counts := map[string]int{}
	for _, item := range items {
		counts[typeOf(item)]++
	}
	var list []string
	for _, name := range []string{"object", "array", "string", "number", "boolean", "null"} {
		if n := counts[name]; n > 0 {
			list = append(list, plural(n, name))
		}
	}
	switch len(list) {
	case 0:
		return "0 items"
	case 1:
		return list[0]
	}
	return plural(len(items), "item") + ": " + strings.Join(list, ", ")
}

func typeOf(value json.RawMessage) string {
	switch first(value) {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// leastSketch is the room in which it makes sense to show parts of something.
const leastSketch = 40

// sketch writes a value as JSON, with comments in place of what does not fit into about so
// many bytes.
func sketch(b *strings.Builder, value json.RawMessage, most int) {
	if len(value) <= max(most, leastSketch/2) {
		b.Write(bytes.TrimSpace(value))
		return
	}
	viewOf(value).sketch(b, most)
}

func (v view) sketch(b *strings.Builder, most int) {
	switch {
	case v.kind == '"' && most < leastSketch/4:
		fmt.Fprintf(b, "/* %s */", v)
	case v.kind == '"':
		head, tail := ends(v.text, most)
		fmt.Fprintf(b, "%s /* %s */", literal(head+"…"+tail), plural(lengthOf(v.text), "character"))
	case v.kind == '[' && len(v.items) == 0: // it is long because of blanks
		b.WriteString("[]")
	case v.kind == '{' && len(v.members) == 0:
		b.WriteString("{}")
	case most < leastSketch:
		fmt.Fprintf(b, "/* %s */", v)
	case v.kind == '[':
		sketchArray(b, v.items, most)
	case v.kind == '{':
		sketchObject(b, v.members, most)
	default:
		fmt.Fprintf(b, "%s /* %s */", shorten(string(v.raw), most), v)
	}
}

// sketchArray writes the first items and the last, or, if there is too little room to show
// what several are made of, the first one.
func sketchArray(b *strings.Builder, items []json.RawMessage, most int) {
	last, start := items[len(items)-1], b.Len()
	shown := 0
	b.WriteByte('[')
	if most/4 < 2*leastSketch && len(items[0]) > most/4 && len(items) > 1 {
		sketch(b, items[0], most*3/4)
		fmt.Fprintf(b, ", /* … %d more … */]", len(items)-1)
		return
	}
	for shown < len(items)-1 && b.Len()-start < most/2 {
		sketch(b, items[shown], most/4)
		b.WriteString(", ")
		shown++
	}
	if left := len(items) - 1 - shown; left > 0 {
		fmt.Fprintf(b, "/* … %d more … */ ", left)
	}
	sketch(b, last, most/4)
	b.WriteByte(']')
}

// sketchObject writes the first keys with what is in them, and names some of the
// others.
func sketchObject(b *strings.Builder, members signature.Values, most int) {
	start, each := b.Len(), most/min(len(members), 4)
	b.WriteByte('{')
	for i, m := range members {
		if used := b.Len() - start; used > most {
			fmt.Fprintf(b, "/* … %s … */", plural(len(members)-i, "more key"))
			break
		} else if used > most*3/4 {
			each = 0
		}
		b.WriteString(literal(shorten(m.Name, leastSketch)))
		b.WriteString(": ")
		sketch(b, m.JSON, each)
		if i < len(members)-1 {
			b.WriteString(", ")
		}
	}
	b.WriteByte('}')
}

func first(value json.RawMessage) byte {
	if len(value) == 0 {
		return 'n' // nothing is null
	}
	return value[0]
}

// membersOf keeps the order of an object, as [signature.Values] does, and does
// not compare each key with all before.
func membersOf(object json.RawMessage) (members signature.Values) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	_, _ = decoder.Token() // the value is valid JSON
	for decoder.More() {
		name, _ := decoder.Token()
		var m signature.Value
		m.Name, _ = name.(string)
		if decoder.Decode(&m.JSON) != nil {
			break
		}
		members = append(members, m)
	}
	return members
}

// lengthOf is the length of a text as JavaScript counts it: characters of four
// bytes count twice.
func lengthOf(text string) int {
	n := utf8.RuneCountInString(text)
	for i := range len(text) {
		if text[i] >= 0xf0 {
			n++
		}
	}
	return n
}

// literal is a text as JSON, where < stays what it is.
func literal(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
