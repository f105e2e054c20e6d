// Package display makes text of models, tools and servers safe to show on a terminal or in a log.
package display

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// color matches the escape sequences that change only the color and the style of what follows.
var color = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// Text returns text without colors, and with all other characters escaped that control a terminal or change the order
// in which text is shown. Only line breaks and tabs stay. Use it for text that the library did not write itself,
// wherever it becomes a string for people. Text of a Text is the same Text.
func Text(text string) string {
	if strings.ContainsAny(text, "\r\x1b") {
		text = strings.ReplaceAll(color.ReplaceAllString(text, ""), "\r\n", "\n")
	}
	return Escape(text, controls)
}

// controls reports whether a character controls a terminal or is invisible.
func controls(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d': // the latter join letters and emoji
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Escape writes the characters that hidden reports as \u and four hexadecimal digits, as in JSON, and what is not
// UTF-8 as U+FFFD.
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
