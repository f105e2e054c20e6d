package mcptools

import (
	"strings"
	"unicode/utf8"
)

// cutText returns the start of a text, at most limit bytes, up to the end of a
// sentence, or of a word if no sentence ends in its second half.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	text = text[:limit]
	for _, ends := range [][]string{{". ", ".\n", "! ", "? ", "\n\n", "。"}, {" ", "\n"}} {
		at := 0
		for _, end := range ends {
			if i := strings.LastIndex(text, end); i >= 0 {
				at = max(at, i+len(strings.TrimRight(end, " \n")))
			}
		}
		if at > limit/2 {
			return text[:at]
		}
	}
	return text
}
