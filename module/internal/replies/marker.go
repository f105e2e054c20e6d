package replies

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// marker returns the marker of a field, which is the line above its value.
func marker(field string) string { return "[[ ## " + field + " ## ]]" }

// EndName returns the name of the marker at the end of a reply.
func EndName(outputs []signature.Field) string {
	name := "completed"
	for slices.ContainsFunc(outputs, func(f signature.Field) bool { return strings.EqualFold(f.Name, name) }) {
		name += "_"
	}
	return name
}

// mark is a marker in a reply.
type mark struct {
	name       string // as it is written
	hashed     bool   // the marker has ##
	start, end int
}

// marksIn returns the markers in text: [[ ## name ## ]] or [[name]]. A marker is at the beginning of a line, possibly
// after Markdown.
func marksIn(text string) (marks []mark) {
	line := 0 // where the line begins; -1 if it cannot have another marker
	for at := 0; ; {
		next := strings.Index(text[at:], "[[")
		if next < 0 {
			return marks
		}
		open := at + next
		if n := strings.LastIndexByte(text[at:open], '\n'); n >= 0 {
			line = at + n + 1
		}
		inner, _, closed := strings.Cut(text[open+2:min(len(text), open+120)], "]]")
		name := strings.Trim(inner, "# \t")
		if at = open + 2; closed && line >= 0 && name != "" && !strings.Contains(inner, "\n") &&
			strings.Trim(text[line:open], " \t>*_#`-") == "" {
			at += len(inner) + 2
			end := len(text) - len(strings.TrimLeft(text[at:], "*_`:"))
			if marks == nil {
				marks = make([]mark, 0, 8)
			}
			marks = append(marks, mark{name, strings.Contains(inner, "#"), line, end})
		}
		line = -1
	}
}

// seeming matches what looks like a marker, anywhere in a line.
var seeming = regexp.MustCompile(`\[\[[ \t]*#+[^\n\]]{1,90}#[ \t]*\]\]`)

// HasMarker reports whether text contains a marker, or something that looks like one.
func HasMarker(text string) bool { return firstMark(text) != "" || seeming.MatchString(text) }

// firstMark returns the name of the first marker in text, or "".
func firstMark(text string) string {
	for _, m := range marksIn(text) {
		if m.hashed {
			return m.name
		}
	}
	return ""
}

// outOfFence removes the fence around a reply with markers.
func outOfFence(text string) string {
	if inner := Unfence(text); firstMark(inner) != "" {
		return inner
	}
	return text
}

func containsMark(text, name string) bool {
	return slices.ContainsFunc(marksIn(text), func(m mark) bool { return sameName(m.name, name) })
}

// marks returns the markers in text, without [[name]] that names neither an output nor the end.
func (r reply) marks(text string) []mark {
	return slices.DeleteFunc(marksIn(text), func(m mark) bool {
		_, output := fieldNamed(r.outputs, m.name)
		return !m.hashed && !output && !sameName(m.name, EndName(r.outputs))
	})
}

var errOpenText = structural("", "the end of the text is not marked; put the end marker after it")

// marked returns the values under markers, or nil if the reply has no marker of an output. Whole reports whether the
// end marker follows them.
func (r reply) marked() (found fields, whole bool, err error) {
	text := outOfFence(r.text)
	end := EndName(r.outputs)
	open := false // the last text's end is not marked
	marks := r.marks(text)
	for i, m := range marks {
		stop := len(text)
		if i+1 < len(marks) {
			stop = marks[i+1].start
		}
		f, known := fieldNamed(r.outputs, m.name)
		switch {
		case sameName(m.name, end):
			if whole = whole || found != nil; whole && i+1 == len(marks) {
				err = r.addRest(found, text[m.end:])
			}
		case m.name[0] == '/': // closes a field, as tags do
		case known:
			value := trimmed(text[m.end:stop])
			value, ended := strings.CutSuffix(value, " "+marker(end))
			if found == nil {
				found = fields{}
			}
			whole, open = ended, !ended && f.Schema.AnyText() && strings.Contains(value, "\n\n")
			if !isPlaceholder(f, value) && (value != "" || f.Required) {
				found[f.Name] = append(found[f.Name], fieldValue{text: value})
			}
		case found != nil && !whole:
			return nil, false, structural("", "there is no field %q; leave the marker out, or write the text that "+
				"contains it as a JSON string", m.name)
		}
	}
	if !whole && open {
		return nil, false, errOpenText
	}
	for _, f := range r.outputs {
		if found != nil && found[f.Name] == nil && strings.Contains(text, " "+marker(f.Name)) {
			return nil, false, structural(f.Name, "has its marker within a line; put it on a line of its own")
		}
	}
	return found, whole, err
}

// isPlaceholder reports whether text is a copy of the placeholder in the prompt.
func isPlaceholder(f signature.Field, text string) bool {
	return text == NotGiven || strings.HasPrefix(text, "{") && text == Placeholder(f.Name)
}
