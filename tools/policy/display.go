package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Display returns text that is safe to show to a person. It writes characters that are
// invisible, or that change how other characters are displayed, as \u and four hexadecimal
// digits: control characters including line breaks, direction marks, spaces other than the
// ASCII space, and characters without width or shape. Letters, including those of
// right-to-left scripts, are not changed. A JSON or JavaScript string keeps its meaning.
func Display(text string) string { return visible(text, "") }

// visible does the same as Display, except for the characters in kept.
func visible(text, kept string) string {
	if strings.IndexFunc(text, func(r rune) bool { return invisible(r) && !strings.ContainsRune(kept, r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !invisible(r) || strings.ContainsRune(kept, r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func invisible(r rune) bool {
	const brailleBlank = '\u2800'
	return !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == brailleBlank ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
