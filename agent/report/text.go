package report

import (
	"bytes"
	"encoding/json"
	"fmt"
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
func (v value) Line() string { return display.OneLine(v.head) }

// Long reports whether the text is folded where short text is not.
func (v value) Long() bool { return v.Shown > 2000 }

const (
	maxValue  = 16 << 10 // bytes shown of a value
	maxPrompt = 64 << 10 // bytes shown of a message, a reply or a program
	minValue  = 200      // bytes shown of a value when the page is full
	maxSecret = 4 << 10  // bytes after the shown part that are searched for secrets that begin in it
)

// value returns text for display. Secrets are replaced, and at most limit bytes are shown.
func (b *builder) value(text string, limit int) value {
	limit = min(limit, max(b.left, minValue))
	shown := prefix(b.Secrets.Text(prefix(text, limit+maxSecret)), limit)
	b.left -= len(shown)
	v := value{visible(shown), len(text), len(shown), prefix(shown, 150)}
	if len(text) <= limit {
		v.Shown = v.Size
	}
	return v
}

// json returns a JSON value for display, indented if it is short.
func (b *builder) json(raw json.RawMessage) value {
	var indented bytes.Buffer
	if len(raw) > maxValue || json.Indent(&indented, raw, "", "  ") != nil {
		return b.value(string(raw), maxValue)
	}
	return b.value(indented.String(), maxValue)
}

// line returns text as a line of at most limit bytes.
func (b *builder) line(text any, limit int) string {
	if b.left <= 0 {
		limit = min(limit, 60)
	}
	s := fmt.Sprint(text)
	b.left -= min(len(s), limit)
	return display.Cut(display.OneLine(b.Secrets.Text(prefix(s, limit+maxSecret))), limit)
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
func visible(text string) (spans []span) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	for text != "" {
		i := strings.IndexFunc(text, display.Hidden)
		if i < 0 {
			return append(spans, span{"", text})
		}
		if i > 0 {
			spans = append(spans, span{"", text[:i]})
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		spans, text = append(spans, span{"hidden-char", fmt.Sprintf("U+%04X", r)}), text[i+n:]
	}
	return spans
}

// field is an input or an output with its name.
type field struct {
	Name  string
	Value value
	Prose bool // the value is text, not JSON
}

// fields returns the first members of a JSON object, or the value itself if it is none.
func (b *builder) fields(raw json.RawMessage) (list []field) {
	const maxFields = 50
	if len(raw) > 0 && json.Valid(raw) && bytes.TrimSpace(raw)[0] == '{' {
		for name, v := range jsonscan.Members(raw) {
			f, text := field{Name: string(name)}, ""
			if f.Prose = json.Unmarshal(v, &text) == nil; f.Prose {
				f.Value = b.value(text, maxValue)
			} else {
				f.Value = b.json(v)
			}
			if list = append(list, f); len(list) == maxFields {
				break
			}
		}
	} else if len(raw) > 0 {
		list = []field{{Value: b.json(raw)}}
	}
	return list
}

func duration(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond} {
		if d >= 10*unit {
			return d.Round(unit / 10).String()
		}
	}
	return d.Round(10 * time.Microsecond).String()
}

// size returns a number of bytes for people.
func size(n int) string {
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
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// errorText returns an error's text, or "" for nil, even if its Error method panics.
func errorText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("an error of type %T", err)
		}
	}()
	if err != nil {
		text = err.Error()
	}
	return text
}
