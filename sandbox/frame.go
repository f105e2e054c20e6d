package sandbox

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// frameWidth is how much of a long line a frame shows.
const frameWidth = 100

// frame shows a place in the source:
//
//	3 | const rows = await orders.lst();
//	  |                           ^
func frame(source string, line, column int) string {
	if line < 1 {
		return ""
	}
	text := []rune(engine.Line(source, line))
	at := runeIndex(text, column)
	start := 0
	if at > frameWidth*3/4 {
		start = at - frameWidth/2
	}
	end := min(len(text), start+frameWidth)
	number := fmt.Sprint(line)
	caret := strings.Map(blank, string(text[start:min(at, end)]))
	return fmt.Sprintf("%s | %s\n%*s | %s^", number, string(text[start:end]), len(number), "", caret)
}

// blank keeps tabs, so that the caret stays under its column.
func blank(r rune) rune {
	if r == '\t' {
		return r
	}
	return ' '
}

// runeIndex turns a column in UTF-16 units into an index of runes.
func runeIndex(text []rune, column int) int {
	units := 0
	for i, r := range text {
		if units >= column-1 {
			return i
		}
		units += max(utf16.RuneLen(r), 1)
	}
	return len(text)
}
