package module

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxText is how many bytes of a text a model is shown where nothing else bounds it.
const maxText = 8000

// cut is a text in at most so many bytes: of a longer one the beginning and the end, at the
// ends of lines where possible, and how much is left out between them.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	room := max(most-roomForMark, 0)
	head, tail := wholeLines(prefix(text, room*3/4), suffix(text, room/4))
	return joinEnds(head, tail, plural(lengthOf(text)-lengthOf(head)-lengthOf(tail), "character"), most)
}

// cutOutput is cut for a text of so many bytes whose middle may be missing already.
func cutOutput(text, tail string, all, most int) string {
	if len(text) == all {
		return cut(text, most)
	}
	room := max(most-roomForMark, 0)
	head, tail := wholeLines(prefix(text, room*3/4), suffix(tail, room/4))
	return joinEnds(head, tail, plural(all-len(head)-len(tail), "byte"), most)
}

// roomForMark is room for the line that says how much is left out.
const roomForMark = 60

func joinEnds(head, tail, left string, most int) string {
	mark := "… " + left + " left out …"
	if most < roomForMark {
		return shorten(mark, most)
	}
	return strings.ToValidUTF8(fmt.Sprintf("%s\n%s\n%s", strings.TrimSuffix(head, "\n"), mark, tail), "")
}

// ends are the beginning and the end of a text, three to one, of so many bytes together, and
// no more than half of it. No character is cut in two.
func ends(text string, most int) (head, tail string) {
	most = max(min(most, len(text)/2), 0)
	return prefix(text, most*3/4), suffix(text, most/4)
}

func prefix(text string, most int) string {
	most = min(most, len(text))
	for most > 0 && most < len(text) && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func suffix(text string, most int) string {
	from := max(len(text)-most, 0)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}

// wholeLines leaves the line out in which the head ends, and the one in which the tail begins,
// unless that would be more than half of them.
func wholeLines(head, tail string) (string, string) {
	if i := strings.LastIndexByte(head, '\n'); i >= len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i <= len(tail)/2 {
		tail = tail[i+1:]
	}
	return head, tail
}

// shorten is the beginning of a text, in at most so many bytes.
func shorten(text string, most int) string {
	const mark = "…"
	switch {
	case len(text) <= most:
		return text
	case most < len(mark):
		return ""
	}
	return strings.ToValidUTF8(prefix(text, most-len(mark)), "") + mark
}

// fencedIn is a text in at most so many bytes, together with a fence if it needs one: what
// is cut is the text, never the fence.
func fencedIn(most int, part func(most int) string) string {
	if text := fenced(part(most)); len(text) <= most {
		return text
	}
	for room := most - len(fenced("\n")) + 1; room > 0; room = room * 3 / 4 {
		if text := fenced(part(room)); len(text) <= most {
			return text
		}
	}
	return ""
}
