package module

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// What a question shows of the inputs of programs. A task in words, or a page of
// text, is read at once; what is longer is for programs to look into.
const (
	wholeInput   = 8000  // bytes of JSON that are shown whole
	partOfInput  = 1500  // bytes that are shown of a longer one
	mediaInput   = 200   // bytes that are shown of what is attached
	allInputs    = 16000 // bytes of all together, about
	leastOfInput = 100
)

// newPreview is the question of a module that writes programs: what the inputs
// are, small ones whole, the others in part. A program has all of them.
func newPreview(spec *signature.Spec, inputs signature.Values) (question, error) {
	q := question{inputs: previews(inputs)}
	for i, v := range inputs {
		f, _ := spec.Field(v.Name)
		parts, names, err := attachments(f.Kind(), v.JSON)
		if err != nil {
			return q, fmt.Errorf("module: the input %q: %w", v.Name, err)
		}
		if len(parts) > 0 {
			q.inputs[i].JSON = replies.Quote(replies.PlainText(numbered(len(q.parts), len(parts), names)) + "; in programs " + inPart(v.JSON, mediaInput))
			q.parts = append(q.parts, parts...)
		}
	}
	return q, nil
}

// previews shows inputs whole, the small ones first, as long as there is room to
// show a part of the others.
func previews(inputs signature.Values) signature.Values {
	shown, order := slices.Clone(inputs), make([]int, len(inputs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(inputs[a].JSON), len(inputs[b].JSON)) })
	left := allInputs
	for n, i := range order {
		others := len(order) - n - 1
		share := max(left/(others+1), leastOfInput)
		if len(inputs[i].JSON) > min(wholeInput, max(share, left-others*partOfInput)) {
			shown[i].JSON = replies.Quote(inPart(inputs[i].JSON, min(share, partOfInput)))
		}
		left -= len(shown[i].JSON)
	}
	return shown
}

// inPart says what a value is and how long, and shows about so many bytes of it.
func inPart(value json.RawMessage, most int) string {
	v := viewOf(value)
	if len(v.raw) <= most {
		return v.String() + ":\n" + string(v.raw)
	}
	var b strings.Builder
	b.WriteString(v.String() + ", of which this is a part:\n")
	if v.kind == '"' {
		head, tail := ends(v.text, most)
		fmt.Fprintf(&b, "%s\n… %d characters …\n%s", head, lengthOf(v.text)-lengthOf(head)-lengthOf(tail), tail)
	} else {
		v.sketch(&b, most)
	}
	return b.String()
}

// view is a JSON value that has been opened.
type view struct {
	raw     json.RawMessage
	kind    byte // what it begins with
	text    string
	items   []json.RawMessage
	members signature.Values
}

// viewOf opens a value, which has been checked.
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

// String is what a value is, with its length as programs see it.
func (v view) String() string {
	switch v.kind {
	case '"':
		return fmt.Sprintf("a text of %d characters", lengthOf(v.text))
	case '[':
		return "an array of " + counted(v.items)
	case '{':
		return "an object of " + plural(len(v.members), "key")
	default:
		return "a number of " + plural(len(v.raw), "digit")
	}
}

// counted says how many items there are of each type.
func counted(items []json.RawMessage) string {
	counts := map[string]int{}
	for _, item := range items {
		counts[typeOf(item)]++
	}
	var list []string
	for _, name := range []string{"object", "array", "text", "number", "boolean", "null"} {
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
		return "text"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// sketch writes a value as JSON, with comments in place of what does not fit into
// about so many bytes.
func sketch(b *strings.Builder, value json.RawMessage, most int) {
	if len(value) <= max(most, leastSketch/2) {
		b.Write(bytes.TrimSpace(value))
		return
	}
	viewOf(value).sketch(b, most)
}

func (v view) sketch(b *strings.Builder, most int) {
	switch {
	case v.kind == '"':
		head, tail := ends(v.text, most)
		fmt.Fprintf(b, "%s /* %d characters */", literal(head+"…"+tail), lengthOf(v.text))
	case v.kind == '[' && len(v.items) == 0: // it is long by its blanks
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

// leastSketch is the room in which it makes sense to show parts of something.
const leastSketch = 40

// sketchArray writes the first items and the last.
func sketchArray(b *strings.Builder, items []json.RawMessage, most int) {
	last, start := items[len(items)-1], b.Len()
	shown := 0
	b.WriteByte('[')
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
	_, _ = decoder.Token() // inputs have been checked
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

// ends returns the beginning and the end of a text, three to one, of so many
// bytes together, and no more than half of it. No character is cut in two.
func ends(text string, most int) (head, tail string) {
	most = min(most, len(text)/2)
	from, to := most*3/4, len(text)-most/4
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[:from], text[to:]
}
