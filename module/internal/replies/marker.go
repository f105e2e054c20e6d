package replies

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// marker is the line that a value stands under.
func marker(field string) string { return "[[ ## " + field + " ## ]]" }

// cutMarker returns what follows the marker of a name that is written exactly as asked.
func cutMarker(text, name string) (rest string, ok bool) {
	for _, part := range [...]string{"[[ ## ", name, " ## ]]"} {
		if text, ok = strings.CutPrefix(text, part); !ok {
			return "", false
		}
	}
	return text, true
}

// EndName is the name of the marker that ends a reply.
func EndName(outputs []signature.Field) string {
	name := "completed"
	for slices.ContainsFunc(outputs, func(f signature.Field) bool { return strings.EqualFold(f.Name, name) }) {
		name += "_"
	}
	return name
}

// mark is a marker in a text.
type mark struct {
	name       string // as it is written
	hashed     bool   // with the signs ##
	start, end int
}

// A marker begins its line, possibly decorated. Within a line it is one only where the form is
// written on a single line.
var (
	lineMark   = regexp.MustCompile(`(?m)^[ \t>*_#` + "`" + `-]*\[\[[ \t]*(#*)[ \t]*(/?[\pL_][\pL\pN_ .?-]{0,80}?)[ \t]*#*[ \t]*\]\][*_` + "`" + `]*:?`)
	inlineMark = regexp.MustCompile(`\[\[[ \t]*(#+)[ \t]*([\pL_][\pL\pN_ .?-]{0,80}?)[ \t]*#+[ \t]*\]\]`)
)

func marksIn(text string, form *regexp.Regexp) []mark {
	if !strings.Contains(text, "[[") {
		return nil
	}
	var marks []mark
	for _, m := range form.FindAllStringSubmatchIndex(text, -1) {
		marks = append(marks, mark{text[m[4]:m[5]], m[3] > m[2], m[0], m[1]})
	}
	return marks
}

// HasMarker reports whether a text has a marker, or may seem to have one.
func HasMarker(text string) bool { return firstMark(text) != "" || len(marksIn(text, inlineMark)) > 0 }

// firstMark is the name of the first marker in a text.
func firstMark(text string) string {
	for _, m := range marksIn(text, lineMark) {
		if m.hashed {
			return m.name
		}
	}
	return ""
}

func containsMark(text, name string) bool {
	return slices.ContainsFunc(marksIn(text, lineMark), func(m mark) bool { return sameName(m.name, name) })
}

// marked reads values under markers. Whole reports whether the end marker follows them. A reply
// without a marker of an output gives nil.
func (r reply) marked() (found fields, whole bool, err error) {
	text := r.text
	if inner := Unfence(text); firstMark(inner) != "" {
		text = inner
	}
	end := EndName(r.outputs)
	marks := r.boundaries(text, end)
	for i, m := range marks {
		stop := len(text)
		if i+1 < len(marks) {
			stop = marks[i+1].start
		}
		f, known := fieldNamed(r.outputs, m.name)
		switch {
		case sameName(m.name, end):
			if whole = whole || found != nil; whole && i+1 == len(marks) {
				err = r.only(found, text[m.end:])
			}
		case m.name[0] == '/': // closes a field, as tags do
		case known:
			value := trimmed(text[m.end:stop])
			if found == nil {
				found = fields{}
			}
			whole = false
			if !isPlaceholder(f, value) && (value != "" || f.Required) {
				found[f.Name] = append(found[f.Name], given{text: value})
			}
		case found != nil && !whole:
			return nil, false, structural("", "there is no field %q; leave the marker out, or write the text that contains it as a JSON string", m.name)
		}
	}
	if n := len(marks); !whole && n > 0 && found != nil {
		if f, _ := fieldNamed(r.outputs, marks[n-1].name); f.Schema != nil && f.Schema.AnyText() && strings.Contains(strings.TrimSpace(text[marks[n-1].end:]), "\n\n") {
			return nil, false, structural(f.Name, "may go on: nothing says where the text ends; put the end marker after it")
		}
	}
	return found, whole, err
}

// boundaries are the markers that divide a text: those that begin a line, and those within a line of
// required fields and of the end that have none at the beginning of a line.
func (r reply) boundaries(text, end string) []mark {
	known := func(m mark) bool {
		_, output := fieldNamed(r.outputs, m.name)
		return m.hashed || output || sameName(m.name, end)
	}
	marks := slices.DeleteFunc(marksIn(text, lineMark), func(m mark) bool { return !known(m) })
	if len(marks) == 0 {
		return nil
	}
	atLine := slices.Clone(marks)
	for _, m := range marksIn(text, inlineMark) {
		same := func(o mark) bool { return sameName(o.name, m.name) }
		f, output := fieldNamed(r.outputs, m.name)
		atEnd := sameName(m.name, end) && blank(text[m.end:])
		if (output && f.Required || atEnd) && !slices.ContainsFunc(atLine, same) {
			marks = append(marks, m)
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return a.start - b.start })
	return marks
}

// isPlaceholder reports whether a text is what the prompt shows in the place of a value.
func isPlaceholder(f signature.Field, text string) bool {
	return text == NotGiven || strings.HasPrefix(text, "{") && text == Placeholder(f.Name)
}
