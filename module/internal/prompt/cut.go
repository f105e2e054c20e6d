package prompt

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
)

// MaxText is the maximum size of a string in a prompt, in bytes, where no other limit applies.
const MaxText = 8000

// unlimited is a limit that no string reaches.
const unlimited = 1 << 28

// Cut returns text in at most the given number of bytes. It keeps the beginning and the end of a longer text,
// if possible in whole lines, and says between them how much is omitted.
func Cut(text string, limit int) string { return cut(text, limit, "") }

// cut is [Cut] with a prefix for the line that says how much is omitted.
func cut(text string, limit int, comment string) string {
	if len(text) <= limit {
		return text
	}
	head, tail := ends(text, text, limit)
	omitted := length(text) - length(head) - length(tail)
	return joinEnds(head, comment+"… "+display.Plural(omitted, "character")+" omitted …", tail, limit)
}

// cutOutput is [Cut] for console output that the worker has already cut: text is its beginning, tail is its end, and
// size is the size of the whole output in bytes.
func cutOutput(text, tail string, size, limit int) string {
	if len(text) == size {
		return Cut(text, limit)
	}
	head, tail := ends(text, tail, limit)
	return joinEnds(head, "… "+display.Plural(size-len(head)-len(tail), "byte")+" omitted …", tail, limit)
}

// roomForMark is the number of bytes reserved for the line that says how much is omitted.
const roomForMark = 60

// ends returns the beginning of head and the end of tail, in a ratio of 3:1, so that they fit into limit bytes together
// with the mark. It keeps whole lines, unless that would drop more than half of an end.
func ends(head, tail string, limit int) (string, string) {
	room := max(limit-roomForMark, 0)
	head, tail = prefix(head, room*3/4), suffix(tail, room/4)
	if i := strings.LastIndexByte(head, '\n'); i >= len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i <= len(tail)/2 {
		tail = tail[i+1:]
	}
	return head, tail
}

func joinEnds(head, mark, tail string, limit int) string {
	if limit < roomForMark {
		return display.Cut(mark, limit)
	}
	return strings.ToValidUTF8(fmt.Sprintf("%s\n%s\n%s", strings.TrimSuffix(head, "\n"), mark, tail), "")
}

// prefix returns the beginning of text without splitting a character.
func prefix(text string, limit int) string {
	limit = min(limit, len(text))
	for limit > 0 && limit < len(text) && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// suffix returns the end of text without splitting a character.
func suffix(text string, limit int) string {
	from := max(len(text)-limit, 0)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// length returns the length of text in JavaScript, which counts UTF-16 code units.
func length(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// FirstLine returns the first line of an observation, with the next one if it ends in a colon.
func FirstLine(observation string) string {
	line, rest, _ := strings.Cut(observation, "\n")
	if strings.HasSuffix(line, ":") {
		next, _, _ := strings.Cut(rest, "\n")
		line += " " + next
	}
	return display.Cut(line, 200)
}
