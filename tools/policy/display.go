package policy

import (
	"unicode"

	"github.com/writ-go/writ/internal/display"
)

// shown returns text that is safe to show to a person. It writes characters that are
// invisible, or that change how other characters are displayed, as \u and four hexadecimal
// digits: control characters including line breaks, direction marks, spaces other than the
// ASCII space, and characters without width or shape. Letters, including those of
// right-to-left scripts, are not changed. A JSON or JavaScript string keeps its meaning.
func shown(text string) string { return display.Escape(text, invisible) }

func invisible(r rune) bool {
	const brailleBlank = '\u2800'
	return !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == brailleBlank ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
