// Package display makes text from models, tools and servers safe to show on a terminal or in a log.
package display

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// color matches the escape sequences that only change the color and the style of text.
var color = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// Text returns text without colors. It escapes all other characters that control a terminal or are invisible, except
// line breaks and tabs. Use it for text from models, tools and servers that a person will see.
func Text(text string) string {
	return Escape(strings.ReplaceAll(color.ReplaceAllString(text, ""), "\r\n", "\n"), Hidden)
}

// Hidden reports whether a character controls a terminal or is invisible, except for line breaks and tabs.
func Hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\u200c', r == '\u200d': // the last two join letters and emoji
		return false
	case r < 0x7f: // the usual case
		return r < ' '
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Escape replaces each character for which hidden returns true with \u and four hexadecimal digits, as in JSON, and
// invalid UTF-8 with U+FFFD.
func Escape(text string, hidden func(rune) bool) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Plural returns a number with a noun in the singular or plural: 1 tool, 2 tools.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Cut returns text if it has at most limit bytes. Otherwise, it cuts the text between characters and appends …,
// so that the result has at most limit bytes.
func Cut(text string, limit int) string {
	const mark = "…"
	switch {
	case len(text) <= limit:
		return text
	case limit < len(mark):
		return ""
	}
	return strings.ToValidUTF8(text[:limit-len(mark)], "") + mark
}

// Comment is like [OneLine], but the line cannot end a block comment. It only inserts a backslash into each */,
// so that globs such as src/**/*.ts stay readable.
func Comment(text string) string {
	return strings.ReplaceAll(OneLine(text), "*/", `*\/`)
}

// OneLine returns a string as one line of visible characters that cannot end a
// fenced block. Use [Comment] in a block comment.
func OneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		default:
			return r
		}
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	text = strings.ReplaceAll(text, "```", "'''")
	return strings.ReplaceAll(text, "~~~", "'''")
}
