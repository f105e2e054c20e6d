package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// value is a JSON value to be shown to a model: an input, a program's value, or a tool's arguments or result.
type value struct {
	raw     json.RawMessage
	kind    string // as [jsonvalue.Type] returns it
	text    string
	items   []json.RawMessage
	members signature.Values
}

// valueOf decodes one level of a valid JSON value.
func valueOf(raw json.RawMessage) value {
	v := value{raw: bytes.TrimSpace(raw), kind: jsonvalue.Type(raw)}
	switch v.kind {
	case "string":
		v.text = replies.PlainText(v.raw)
	case "array":
		_ = json.Unmarshal(v.raw, &v.items)
	case "object":
		_ = json.Unmarshal(v.raw, &v.members) // fails if a key occurs twice
	}
	return v
}

// String describes the value and its length in JavaScript, such as "an array of 500 objects".
func (v value) String() string {
	switch v.kind {
	case "string":
		return "a string of " + display.Plural(length(v.text), "character")
	case "array":
		return "an array of " + itemKinds(v.items)
	case "object":
		if v.members == nil {
			return "an object"
		}
		return "an object of " + display.Plural(len(v.members), "key")
	case "number":
		return "a number of " + display.Plural(len(v.raw), "digit")
	default:
		return string(v.raw)
	}
}

// itemKinds counts items by their types.
func itemKinds(items []json.RawMessage) string {
	counts := map[string]int{}
	for _, item := range items {
		counts[jsonvalue.Type(item)]++
	}
	var list []string
	for _, kind := range []string{"object", "array", "string", "number", "boolean", "null"} {
		if n := counts[kind]; n > 0 {
			list = append(list, display.Plural(n, kind))
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return strings.TrimSuffix(display.Plural(len(items), "item")+": "+strings.Join(list, ", "), ": ")
}

// describe describes a value and shows it, or the part of it that fits into the given number of bytes.
func describe(raw json.RawMessage, limit int) string {
	v := valueOf(raw)
	if len(v.raw) <= limit {
		return v.String() + ":\n" + string(v.raw)
	}
	return v.String() + ", shown in part:\n" + v.part(limit)
}

// show shows a value in at most the given number of bytes, after a subject and a verb, such as "Its value" and
// " is". A string of several lines is shown unescaped in a fence.
func show(raw json.RawMessage, subject, verb string, limit int) string {
	v := valueOf(raw)
	escaped := v.kind == "string" && len(v.raw) != len(v.text)+len(`""`)
	if lead := subject + ":\n"; !escaped && len(lead)+len(v.raw) <= limit {
		return lead + fenced(string(v.raw))
	}
	subject += verb
	if text := subject + " this string:\n" + fenced(v.text); v.kind == "string" && len(text) <= limit {
		return text
	}
	lead := fmt.Sprintf("%s %s, shown in part:\n", subject, v)
	return display.Cut(lead+fencedIn(limit-len(lead), v.part), limit)
}

// part returns the value in at most the given number of bytes: a string as text without its middle, anything
// else as JSON with comments in place of what does not fit.
func (v value) part(limit int) string {
	if v.kind == "string" {
		return Cut(v.text, limit)
	}
	return v.outlined(limit)
}

// oneLine returns a value as JSON on one line, in at most the given number of bytes.
func oneLine(raw json.RawMessage, limit int) string {
	if len(raw) <= limit {
		return escaper.Replace(string(raw))
	}
	return escaper.Replace(valueOf(raw).outlined(limit))
}

// minOutline is the minimum number of bytes in which items and members are worth showing.
const minOutline = 40

// outlined returns the value as JSON in at most the given number of bytes, with comments in place of what does
// not fit.
func (v value) outlined(limit int) string {
	for room := limit; room >= minOutline; room = room * 7 / 8 {
		var b strings.Builder
		if v.outline(&b, room); b.Len() <= limit {
			return b.String()
		}
	}
	return display.Cut("/* "+v.String()+" */", limit)
}

func outline(b *strings.Builder, raw json.RawMessage, limit int) {
	if len(raw) <= max(limit, minOutline/2) {
		b.Write(bytes.TrimSpace(raw))
		return
	}
	valueOf(raw).outline(b, limit)
}

// outline writes the value in about the given number of bytes.
func (v value) outline(b *strings.Builder, limit int) {
	switch {
	case v.kind == "string" && limit < minOutline/4:
		fmt.Fprintf(b, "/* %s */", v)
	case v.kind == "string":
		room := max(min(limit, len(v.text)/2), 0)
		text := prefix(v.text, room*3/4) + "…" + suffix(v.text, room/4)
		fmt.Fprintf(b, "%s /* %s */", jsonvalue.Text(text), display.Plural(length(v.text), "character"))
	case v.kind == "object" && v.members == nil:
		b.WriteString(display.Cut(string(v.raw), limit))
	case v.kind == "array" && len(v.items) == 0: // long because of white space
		b.WriteString("[]")
	case v.kind == "object" && len(v.members) == 0:
		b.WriteString("{}")
	case limit < minOutline:
		fmt.Fprintf(b, "/* %s */", v)
	case v.kind == "array":
		outlineArray(b, v.items, limit)
	case v.kind == "object":
		outlineObject(b, v.members, limit)
	default:
		fmt.Fprintf(b, "%s /* %s */", display.Cut(string(v.raw), limit), v)
	}
}

// outlineArray writes the first items and the last one, or only the first one if there is little room.
func outlineArray(b *strings.Builder, items []json.RawMessage, limit int) {
	start, each, last := b.Len(), limit/4, len(items)-1
	b.WriteByte('[')
	if each < 2*minOutline && len(items[0]) > each && last > 0 {
		outline(b, items[0], limit*3/4)
		fmt.Fprintf(b, ", /* … %d more … */]", last)
		return
	}
	shown := 0
	for shown < last && b.Len()-start < limit/2 {
		outline(b, items[shown], each)
		b.WriteString(", ")
		shown++
	}
	if omitted := last - shown; omitted > 0 {
		fmt.Fprintf(b, "/* … %d more … */ ", omitted)
	}
	outline(b, items[last], each)
	b.WriteByte(']')
}

// outlineObject writes the first members with their values, then only keys, and then how many more there are.
func outlineObject(b *strings.Builder, members signature.Values, limit int) {
	start, each := b.Len(), limit/min(len(members), 4)
	b.WriteByte('{')
	for i, m := range members {
		if used := b.Len() - start; used > limit {
			fmt.Fprintf(b, "/* … %s … */", display.Plural(len(members)-i, "more key"))
			break
		} else if used > limit*3/4 {
			each = 0
		}
		b.WriteString(jsonvalue.Text(display.Cut(m.Name, minOutline)) + ": ")
		outline(b, m.JSON, each)
		if i < len(members)-1 {
			b.WriteString(", ")
		}
	}
	b.WriteByte('}')
}
