package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Display makes text safe to be shown to a person: what cannot be seen, or
// changes how the rest is seen, is written as \u and four digits. These are
// control characters, line breaks too, marks of direction, spaces other than the
// ordinary one, and characters without width or shape. Letters are kept,
// those that are written from right to left as well. Within a string of JSON or
// JavaScript, the meaning stays the same.
func Display(text string) string { return visible(text, "") }

// visible is Display, but for some characters that are kept.
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
