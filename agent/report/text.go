package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonscan"
)

// span is a piece of text with a class for its style, or none.
type span struct{ Class, Text string }

// value is text that may be long.
type value struct {
	Text        []span
	Size, Shown int // in bytes
	head        string
}

// Line returns the beginning of the text, on a line.
func (v value) Line() string { return v.head }

// Long reports whether the text is folded where short text is not.
func (v value) Long() bool { return v.Shown > 2000 }

const (
	maxValue  = 16 << 10 // bytes shown of a value
	maxPrompt = 64 << 10 // bytes shown of a message, a reply or a program
	minValue  = 100      // bytes shown of a value when the page is full
	maxSecret = 4 << 10  // bytes after the shown part that are searched for secrets that begin in it
)

// cut returns the beginning of the text without secrets, and whether this is the whole text.
func (b *builder) cut(text string, limit int) (shown string, whole bool) {
	limit = min(limit, max(b.left, minValue))
	shown = b.clean(text, limit)
	b.left -= len(shown)
	return shown, len(text) <= limit
}

// clean returns the beginning of the text, valid and without secrets.
func (b *builder) clean(text string, limit int) string {
	head := display.Cut(text, limit+maxSecret)
	clean := b.Secrets.Text(strings.ToValidUTF8(head, "\uFFFD"))
	if len(head) < len(text) { // the end may have the beginning of a secret
		limit = min(limit, max(len(clean)-maxSecret, 3))
	}
	return display.Cut(clean, limit)
}

// value returns text for display, cut to limit bytes.
func (b *builder) value(text string, limit int) value {
	shown, whole := b.cut(text, limit)
	v := value{visible(shown, ""), len(text), len(shown), b.Secrets.Text(display.OneLine(display.Cut(shown, 150)))}
	b.left -= 40 * len(v.Text) // for the elements
	if whole {
		v.Shown = v.Size
	}
	return v
}

// json returns a JSON value for display, indented if it is short.
func (b *builder) json(raw json.RawMessage) value {
	var indented bytes.Buffer
	if len(raw) > min(maxValue, b.left) || deep(raw) || json.Indent(&indented, raw, "", "  ") != nil {
		v := b.value(string(raw[:min(len(raw), maxValue+maxSecret+1)]), maxValue)
		v.Size = len(raw)
		return v
	}
	return b.value(indented.String(), maxValue)
}

// deep reports whether JSON is nested so deeply that most of its indented form would be white space.
func deep(raw json.RawMessage) bool {
	depth := 0
	for _, c := range raw {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > 50 {
			return true
		}
	}
	return false
}

// line returns text as a line of at most limit bytes.
func (b *builder) line(text any, limit int) string {
	if b.left <= 0 {
		limit = min(limit, 60)
	}
	s, ok := text.(string)
	if !ok {
		s = fmt.Sprint(text)
	}
	b.left -= min(len(s), limit)
	return display.Cut(b.Secrets.Text(display.OneLine(b.clean(s, limit))), limit) // again: OneLine removes characters
}

// visible returns text as spans of a class. Invisible characters have spans of their own, which name the code points.
func visible(text, class string) (spans []span) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	for text != "" {
		i := strings.IndexFunc(text, display.Hidden)
		if i < 0 {
			return append(spans, span{class, text})
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		spans = append(spans, span{class, text[:i]}, span{"hidden-char", fmt.Sprintf("U+%04X", r)})
		text = text[i+n:]
	}
	return spans
}

// field is an input or an output with its name.
type field struct {
	Name  string
	Value value
	Prose bool // the value is text, not JSON
}

// fields returns the first members of a JSON object. It returns any other value as one field.
func (b *builder) fields(raw json.RawMessage) (list []field) {
	const maxFields = 50
	if len(raw) == 0 {
		return nil
	}
	if !json.Valid(raw) || bytes.TrimSpace(raw)[0] != '{' {
		return []field{{Value: b.json(raw)}}
	}
	for name, v := range jsonscan.Members(raw) {
		f, text := field{Name: string(name), Value: b.json(v)}, ""
		if f.Prose = json.Unmarshal(v, &text) == nil; f.Prose {
			f.Value = b.value(text, maxValue)
		}
		if list = append(list, f); len(list) == maxFields {
			break
		}
	}
	return list
}

// duration returns a duration with three digits.
func duration(d time.Duration) string {
	return d.Round(time.Duration(math.Pow10(int(math.Log10(float64(max(d, 1)))) - 2))).String()
}

// first returns at most n elements, and the number of the remaining ones.
func first[T any](list []T, n int) (shown []T, more int) {
	n = min(n, len(list))
	return list[:n], len(list) - n
}
