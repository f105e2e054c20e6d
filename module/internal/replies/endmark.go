package replies

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// The end marker says nothing but that a reply is whole. So it need not be spelt
// as asked, if it is the last and cannot be a field's.

// closing gives the last mark the name of the end marker, if it is a misspelling
// of it.
func closing(outputs []signature.Field, end string, marks []mark) []mark {
	if len(marks) < 2 {
		return marks
	}
	last := &marks[len(marks)-1]
	if strings.EqualFold(last.name, end) || !endLike(last.name) {
		return marks
	}
	if _, known := fieldNamed(outputs, last.name); !known && !last.inline {
		last.name = end
	}
	return marks
}

// endLike reports whether a name is one that models give the end marker.
func endLike(name string) bool {
	name = strings.ToLower(name)
	return endNames[name] || strings.HasPrefix(name, "end_") || strings.HasPrefix(name, "compl") && len(name) < 13 || strings.HasPrefix(name, "comple")
}

var endNames = wordSet("end done finished finish stop")

// brokenEnd is an end marker that lacks some of its signs.
var brokenEnd = regexp.MustCompile(`(?i)^(?:[<\[{(*#/ ]*[<\[#][<\[{(*#/ ]*)compl\w{2,6}[>\]})*#/. ]*$|^completed$`)

// cutEnd reports whether a line is the beginning of the end marker, and of no other.
func cutEnd(outputs []signature.Field, line string) bool {
	const least = len("[[ ## c")
	return len(line) >= least && strings.HasPrefix(marker(EndName(outputs)), line) &&
		!slices.ContainsFunc(outputs, func(f signature.Field) bool { return strings.HasPrefix(marker(f.Name), line) })
}

// withEnd mends an end marker that is not quite one, on the last line.
func withEnd(outputs []signature.Field, text string) string {
	body := strings.TrimRight(text, " \t\n")
	at := strings.LastIndexByte(body, '\n') + 1
	line := body[at:]
	if !strings.HasSuffix(line, "]]") && cutEnd(outputs, line) && strings.Contains(body[:at], "[[") {
		return body[:at] + marker(EndName(outputs))
	}
	if len(line) > 40 || strings.HasSuffix(line, "## ]]") || at == 0 || !strings.Contains(body[:at], "[[") || !brokenEnd.MatchString(line) {
		return text
	}
	if HasMarker(line) {
		return text
	}
	return body[:at] + marker(EndName(outputs))
}
