package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
)

// span is a piece of text with a class for its style, or none.
type span struct{ Class, Text string }

// value is text that may be long.
type value struct {
	Text  []span
	Size  int // of the whole text, in bytes
	Shown int // bytes that are shown
	head  string
}

// Line returns the beginning of the text, on a line.
func (v value) Line() string { return display.OneLine(v.head) }

// Long reports whether the text is folded where short text is not.
func (v value) Long() bool { return v.Shown > 2000 }

// Cut reports whether only a part is shown.
func (v value) Cut() bool { return v.Shown < v.Size }

const (
	maxValue  = 16 << 10 // bytes shown of a value
	maxPrompt = 64 << 10 // bytes shown of a message or a program
	minValue  = 200      // bytes shown of a value when the page is full
	maxSecret = 4 << 10  // bytes after the shown part that are searched for secrets that begin in it
)

// value returns text for display. Secrets are replaced, and only the first bytes are shown.
func (b *builder) value(text string, limit int) value {
	v := value{Size: len(text)}
	limit = min(limit, max(b.left, minValue))
	cut := len(text) > limit
	shown := b.options.Secrets.Text(prefix(text, limit+maxSecret))
	if cut {
		shown = prefix(shown, limit)
	}
	b.left -= len(shown)
	v.Text, v.Shown = visible(shown), v.Size
	if cut {
		v.Shown = min(len(shown), v.Size-1)
	}
	v.head = prefix(shown, 150)
	return v
}

// json returns a JSON value for display, indented if it is short.
func (b *builder) json(raw json.RawMessage) value {
	var indented bytes.Buffer
	if len(raw) > maxValue || json.Indent(&indented, raw, "", "  ") != nil {
		return b.value(string(raw), maxValue)
	}
	v := b.value(indented.String(), maxValue)
	v.Size = max(v.Size, v.Shown)
	return v
}

// line returns text as a line of at most limit bytes.
func (b *builder) line(text string, limit int) string {
	if b.left <= 0 {
		limit = min(limit, 60)
	}
	b.left -= min(len(text), limit)
	return display.Cut(display.OneLine(b.options.Secrets.Text(prefix(text, limit+maxSecret))), limit)
}

// prefix returns at most limit bytes of the text, without a part of a character at the end.
func prefix(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// visible splits text so that invisible characters have spans of their own, which name the code points.
func visible(text string) []span {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var spans []span
	from := 0
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		if !display.Hidden(r) {
			continue
		}
		if from < i {
			spans = append(spans, span{"", text[from:i]})
		}
		spans = append(spans, span{"hidden-char", fmt.Sprintf("U+%04X", r)})
		from = i + size
	}
	if from < len(text) {
		spans = append(spans, span{"", strings.ToValidUTF8(text[from:], "\uFFFD")})
	}
	return spans
}

// field is an input or an output with its name.
type field struct {
	Name  string
	Value value
	Prose bool // the value is text, not JSON
}

const maxFields = 50

// fields returns the fields of a JSON object, in the order of their names, or the value itself.
func (b *builder) fields(raw json.RawMessage) []field {
	names, values := members(raw)
	if len(names) == 0 || len(names) > maxFields {
		if len(raw) == 0 {
			return nil
		}
		return []field{{Value: b.json(raw)}}
	}
	var list []field
	for _, name := range names {
		f := field{Name: b.line(name, 100)}
		var text string
		if json.Unmarshal(values[name], &text) == nil {
			f.Value, f.Prose = b.value(text, maxValue), true
		} else {
			f.Value = b.json(values[name])
		}
		list = append(list, f)
	}
	return list
}

// members returns the members of a JSON object and their names in their order, or nothing if raw is no object.
func members(raw json.RawMessage) (names []string, values map[string]json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, nil
	}
	values = map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		var v json.RawMessage
		if err != nil || d.Decode(&v) != nil {
			return nil, nil
		}
		if s := name.(string); !slices.Contains(names, s) && len(names) <= maxFields {
			names, values[s] = append(names, s), v
		}
	}
	return names, values
}

// duration returns a duration with about three digits.
func duration(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return "0 ms"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// sizeText returns a size for people.
func sizeText(n int) string {
	switch {
	case n < 1000:
		return display.Plural(n, "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// count returns a number with commas.
func count(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
