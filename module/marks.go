package module

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// mark is one marker in a reply.
type mark struct {
	name       string
	start, end int  // with its decoration
	inline     bool // there is text before it on its line
}

var (
	markerText = regexp.MustCompile(`\[\[[ \t]*##[ \t]*([\p{L}\p{N}_$]+)[ \t]*##[ \t]*\]\]`)
	// decorated is what models put before a marker: bold, a heading, a quotation.
	decorated = regexp.MustCompile("(?:^|\n)[ \t]*(\\*\\*|`|#+[ \t]+|>[ \t]*)?$")
)

func marksIn(text string) []mark {
	var marks []mark
	for _, m := range markerText.FindAllStringSubmatchIndex(text, -1) {
		found := mark{name: text[m[2]:m[3]], start: m[0], end: m[1], inline: true}
		line := strings.LastIndexByte(text[:m[0]], '\n') + 1
		if d := decorated.FindStringSubmatch(text[line:m[0]]); d != nil {
			found.start, found.inline = line, false
			found.end += len(text[m[1]:]) - len(strings.TrimPrefix(text[m[1]:], strings.TrimSpace(d[1])))
		}
		if strings.HasPrefix(text[found.end:], ":") {
			found.end++
		}
		marks = append(marks, found)
	}
	return marks
}

// boundaries returns the markers that stand on lines of their own, and the end
// marker also behind the last value, where many models put it. A marker in the
// midst of text is text, unless it is all there is of its field.
func boundaries(spec *signature.Spec, text string) ([]mark, error) {
	marks := marksIn(text)
	end := endName(spec.Outputs())
	var standing []mark
	stands := map[string]bool{}
	for i, m := range marks {
		last := i == len(marks)-1 && strings.EqualFold(m.name, end) && !stands[end]
		if !m.inline || last && endsLine(text[m.end:]) {
			standing = append(standing, m)
			stands[strings.ToLower(m.name)] = true
		}
	}
	for _, m := range marks {
		if _, known := outputNamed(spec, m.name); known && !stands[strings.ToLower(m.name)] {
			return nil, fmt.Errorf("the marker %s stands within a line; give each a line of its own", marker(m.name))
		}
	}
	return standing, nil
}

func endsLine(rest string) bool {
	line, _, _ := strings.Cut(rest, "\n")
	return blank(line)
}

// ended reports whether a reply has come to its end marker.
func ended(spec *signature.Spec, text string) bool {
	marks, err := boundaries(spec, text)
	return err == nil && len(marks) > 0 && strings.EqualFold(marks[len(marks)-1].name, endName(spec.Outputs()))
}

// readMarkers reads the form that was asked for.
func readMarkers(spec *signature.Spec, text string) (signature.Values, error) {
	fields, err := splitFields(spec, unfence(text))
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	return collect(spec, fields)
}

// splitFields splits a reply at its markers. What stands under markers before
// the first field, such as the inputs once more, is passed over; so is what
// comes after the end marker.
func splitFields(spec *signature.Spec, text string) (map[string]given, error) {
	marks, err := boundaries(spec, text)
	if err != nil {
		return nil, err
	}
	fields := map[string]given{}
	end, over := endName(spec.Outputs()), false // over: the last that counted was the end marker
	for i, m := range marks {
		f, known := outputNamed(spec, m.name)
		g := under(text, marks[i:], end)
		earlier, twice := fields[f.Name]
		switch {
		case !known && strings.EqualFold(m.name, end):
			if over {
				return nil, fmt.Errorf("%s stands twice; write a text that contains it as a JSON string", marker(end))
			}
			over = len(fields) > 0
			continue
		case !known && len(fields) > 0 && !over:
			return nil, fmt.Errorf("there is no field %q; leave the marker out, or write the text that contains it as a JSON string", m.name)
		case !known, g.text == placeholder(f.Name):
			continue
		case twice && earlier.text != g.text:
			return nil, fmt.Errorf("the field %q was given twice, with different values; give each once", f.Name)
		}
		fields[f.Name], over = g, false
	}
	return fields, nil
}

// under returns what stands under the first of marks.
func under(text string, marks []mark, end string) given {
	if len(marks) == 1 {
		return given{strings.TrimSpace(text[marks[0].end:]), true}
	}
	value := strings.TrimSpace(text[marks[0].end:marks[1].start])
	_, _, open := fences(value)
	if rest := strings.TrimSpace(text[marks[1].end:]); open && strings.EqualFold(marks[1].name, end) && closesFence.MatchString(rest) {
		value += "\n" + rest // the end marker was put inside the fence
	}
	return given{value, false}
}
