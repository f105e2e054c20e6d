package replies

import (
	"strings"

	"github.com/writ-go/writ/signature"
)

// The members of an object may have markers of their own: under that of the object, with
// its name before a point, or in its place, if it is all that was asked for.

// dotted is the output of which a marker names a member: person.name.
func dotted(outputs []signature.Field, name string) (signature.Field, bool) {
	before, _, ok := strings.Cut(name, ".")
	if !ok {
		return signature.Field{}, false
	}
	return fieldNamed(outputs, before)
}

// dottedMarks is what stands under the markers that name members of a field, one a
// line, and how many there are; none if one of them has more than a line.
func dottedMarks(f signature.Field, text string, marks []mark, end string) (lines string, n int) {
	if shapeOf(f).members == nil {
		return "", 0
	}
	for n < len(marks)-1 {
		before, name, _ := strings.Cut(marks[n].name, ".")
		if !sameName(f.Name, before) {
			break
		}
		g := under(text, marks[n:], end)
		if g.text == "" || strings.Contains(g.text, "\n") {
			return "", 0
		}
		lines += name + ": " + g.text + "\n"
		n++
	}
	return strings.TrimSpace(lines), n
}

// parentOf is the only output, if the first marker is that of one of its members.
func parentOf(outputs []signature.Field, marks []mark) (signature.Field, bool) {
	if len(outputs) != 1 {
		return signature.Field{}, false
	}
	_, known := fieldNamed(outputs, marks[0].name)
	_, member := shapeOf(outputs[0]).member(marks[0].name)
	return outputs[0], member && !known
}

// memberMarks is what stands under the markers of a field's members, one a line, and
// how many there are.
func memberMarks(f signature.Field, text string, marks []mark, end string) (lines string, n int) {
	s := shapeOf(f)
	if s.members == nil {
		return "", 0
	}
	for n < len(marks)-1 {
		g := under(text, marks[n:], end)
		if _, ok := s.member(marks[n].name); !ok || strings.Contains(g.text, "\n") || g.text == "" {
			break
		}
		lines += marks[n].name + ": " + g.text + "\n"
		n++
	}
	return strings.TrimSpace(lines), n
}
