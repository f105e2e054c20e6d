package replies

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature"
)

// mark is one marker in a reply.
type mark struct {
	name       string
	start, end int  // with its decoration
	inline     bool // there is text before it on its line
	dropped    bool // what stands under it is given again, behind a correction
}

// marksIn finds the markers of a text. It goes through it once.
func marksIn(text string) []mark {
	if !strings.Contains(text, "[[") {
		return nil
	}
	marks := make([]mark, 0, 4)
	line, at := 0, 0
	for {
		i := strings.Index(text[at:], "[[")
		if i < 0 {
			return marks
		}
		start := at + i
		if n := strings.LastIndexByte(text[at:start], '\n'); n >= 0 {
			line = at + n + 1
		}
		name, length := markerAt(text[start:])
		if length == 0 {
			at = start + 1
			continue
		}
		m := mark{name: name, start: start, end: start + length, inline: true}
		m.undecorate(text, line)
		marks = append(marks, m)
		at = m.end
	}
}

// quotedMark finds a marker in a quotation of Markdown.
var quotedMark = regexp.MustCompile(`(?m)^> *\[\[ *##`)

// unquotedLines is a text without the signs of a quotation, if all of it is in one.
func unquotedLines(text string) string {
	if !strings.Contains(text, ">") {
		return text
	}
	at := quotedMark.FindStringIndex(text)
	if at == nil || !blank(text[:at[0]]) {
		return text
	}
	lines := strings.Split(strings.TrimSpace(text[at[0]:]), "\n")
	for i, line := range lines {
		inner, quoted := strings.CutPrefix(line, ">")
		if !quoted {
			return text
		}
		lines[i] = strings.TrimPrefix(inner, " ")
	}
	return strings.Join(lines, "\n")
}

// unescapedMarks is a text of which the markers were escaped as Markdown has it, if
// nothing else in it is: of what else is, it is not certain how it is meant.
func unescapedMarks(text string) string {
	if !strings.Contains(text, `\[\[`) {
		return text
	}
	bare := escapedMarks.ReplaceAllString(text, "[[ ## $1 ## ]]")
	if strings.Contains(bare, `\`) || HasMarker(text) {
		return text
	}
	return bare
}

var escapedMarks = regexp.MustCompile(`(?m)^\\\[\\\[ *(?:##|\\#\\#) *(\w+) *(?:##|\\#\\#) *\\\]\\\]`)

// HasMarker reports whether a text has a marker, of a field or not.
func HasMarker(text string) bool {
	for {
		i := strings.Index(text, "[[")
		if i < 0 {
			return false
		}
		if _, length := markerAt(text[i:]); length > 0 {
			return true
		}
		text = text[i+1:]
	}
}

// markerAt reads the marker that a text begins with: its name and its length, 0
// if there is none.
func markerAt(text string) (name string, length int) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text[len("[["):], " \t"), "##")
	if !ok {
		return "", 0
	}
	rest = strings.TrimLeft(rest, " \t")
	n := strings.IndexFunc(rest, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' && r != '.'
	})
	if n <= 0 {
		return "", 0
	}
	name, rest = rest[:n], strings.TrimLeft(rest[n:], " \t")
	if rest, ok = strings.CutPrefix(rest, "##"); !ok {
		return "", 0
	}
	if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), "]]"); !ok {
		return "", 0
	}
	return name, len(text) - len(rest)
}

// undecorate takes in what models put round a marker: bold, a heading, a
// colon.
func (m *mark) undecorate(text string, line int) {
	if m.start-line > 16 {
		return
	}
	before := strings.TrimSpace(text[line:m.start])
	if before != "" && before != "**" && before != "`" && strings.Trim(before, "#") != "" {
		return
	}
	m.start, m.inline = line, false
	rest := strings.TrimPrefix(text[m.end:], ":")
	if before == "**" || before == "`" {
		rest = strings.TrimPrefix(rest, before)
	}
	m.end = len(text) - len(strings.TrimPrefix(rest, ":"))
}

// boundaries returns the markers that stand on lines of their own, and the end
// marker also behind the last value, where many models put it. A marker in the
// midst of text is text, unless it is all there is of its field, or the whole
// reply is one line.
func boundaries(outputs []signature.Field, text string) ([]mark, error) {
	end := EndName(outputs)
	marks := closing(outputs, end, marksIn(text))
	if len(marks) > 1 && !strings.Contains(strings.TrimSpace(text[marks[0].start:]), "\n") && eachOnce(outputs, end, marks) {
		return marks, nil
	}
	if !slices.ContainsFunc(marks, func(m mark) bool { return m.inline }) {
		return marks, nil
	}
	standing := make([]mark, 0, len(marks))
	stands := map[string]bool{}
	inline := false
	for i, m := range marks {
		last := i == len(marks)-1 && strings.EqualFold(m.name, end)
		switch _, known := marked(outputs, end, m.name); {
		case !m.inline || last && !stands[end] && endsLine(text[m.end:]):
			standing = append(standing, m)
			stands[strings.ToLower(m.name)] = true
		case known:
			inline = true
		}
	}
	for _, m := range marks {
		if _, known := marked(outputs, end, m.name); known && inline && !stands[strings.ToLower(m.name)] {
			return nil, structural("", "the marker %s stands within a line; give each a line of its own", marker(m.name))
		}
	}
	return standing, nil
}

// eachOnce reports whether the marks are those of the outputs, in their order,
// with the end behind them or not.
func eachOnce(outputs []signature.Field, end string, marks []mark) bool {
	if len(marks) < 2 || len(marks) < len(outputs) || len(marks) > len(outputs)+1 {
		return false
	}
	for i, m := range marks {
		if i == len(outputs) {
			return strings.EqualFold(m.name, end)
		}
		if f, ok := marked(outputs, end, m.name); !ok || f.Name != outputs[i].Name {
			return false
		}
	}
	return true
}

// marked is the output of which a marker has the name; the end marker has none.
func marked(outputs []signature.Field, end, name string) (signature.Field, bool) {
	if strings.EqualFold(name, end) {
		return signature.Field{}, false
	}
	return fieldNamed(outputs, name)
}

func endsLine(rest string) bool {
	line, _, _ := strings.Cut(rest, "\n")
	return blank(line)
}

// ended reports whether a reply has come to its end marker.
func ended(outputs []signature.Field, text string) bool {
	text = withEnd(outputs, text)
	marks, err := boundaries(outputs, text)
	return err == nil && len(marks) > 0 && strings.EqualFold(marks[len(marks)-1].name, EndName(outputs)) || err == nil && ranOn(outputs, text, marks)
}

// ranOn reports whether a reply is the whole answer, its end, and the beginning of
// another question.
func ranOn(outputs []signature.Field, text string, marks []mark) bool {
	end := EndName(outputs)
	at := slices.IndexFunc(marks, func(m mark) bool { return strings.EqualFold(m.name, end) })
	if at < 0 || at == len(marks)-1 || marks[at+1].inline {
		return false
	}
	if _, known := marked(outputs, end, marks[at+1].name); known {
		return false
	}
	fields, _, err := split(outputs, text, marks[:at+1])
	return err == nil && invented(outputs, fields, marks[at+1].name)
}

// readMarkers reads the form that was asked for.
func readMarkers(r reply) (signature.Values, error) {
	text := withEnd(r.outputs, Unfence(r.text))
	marks, err := boundaries(r.outputs, text)
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	withoutDrafts(r.outputs, text, marks)
	fields, behind, err := split(r.outputs, text, marks)
	if err != nil || len(fields) == 0 {
		return nil, err
	}
	if values, err := r.together(fields); values != nil || err != nil {
		return values, err
	}
	if err := r.hidden(fields); err != nil {
		return nil, err
	}
	values, err := r.settle(fields, behind)
	if err == nil {
		err = r.presentedAs(values, text[:marks[0].start])
	}
	if err != nil {
		return nil, err
	}
	return values, nil
}

// together reads the whole answer, where it stands as one object under the first
// marker.
func (r reply) together(fields map[string]given) (signature.Values, error) {
	if len(fields) != 1 || len(r.outputs) == 1 {
		return nil, nil
	}
	for _, g := range fields {
		if inner := strings.TrimSpace(Unfence(g.text)); strings.HasPrefix(inner, "{") {
			r.text = inner
			return readWhole(r)
		}
	}
	return nil, nil
}

// split splits a reply at its markers. What stands under markers before the
// first field, such as the inputs once more, is passed over; what comes after
// the end marker is returned, as far as it is under no marker itself.
func split(outputs []signature.Field, text string, marks []mark) (fields map[string]given, behind string, err error) {
	fields = make(map[string]given, len(outputs))
	end, over := EndName(outputs), false // over: the last that counted was the end marker
	inner := 0                           // how many of the marks that follow are of members
	if f, ok := parentOf(outputs, marks); ok {
		var g given
		g.text, inner = memberMarks(f, text, marks, end)
		fields[f.Name], inner = g, inner+1
	}
	for i, m := range marks {
		if inner--; inner >= 0 || m.dropped {
			continue
		}
		f, known := marked(outputs, end, m.name)
		if !known {
			f, known = slipped(outputs, marks, m.name)
		}
		g := under(text, marks[i:], end)
		if of, ok := dotted(outputs, m.name); ok {
			f, known = of, true
			if g.text, inner = dottedMarks(f, text, marks[i:], end); inner == 0 {
				return nil, "", structural(f.Name, "cannot be read: write it as one value under %s", marker(f.Name))
			}
			inner--
		}
		if known && g.text == "" {
			g.text, inner = memberMarks(f, text, marks[i+1:], end)
		}
		earlier, twice := fields[f.Name]
		switch {
		case !known && strings.EqualFold(m.name, end):
			if over {
				return nil, "", structural("", "%s stands twice; write a text that contains it as a JSON string", marker(end))
			}
			if over = len(fields) > 0; over && !closesFence(g.text) {
				behind = g.text
			}
			continue
		case !known && len(fields) == len(outputs) && certainties[strings.ToLower(m.name)] && i == len(marks)-2 && ownCertainty.MatchString(g.text):
			continue
		case !known && over && (reasons[strings.ToLower(m.name)] || remarkNames[strings.ToLower(m.name)]):
			behind += "\n" + g.text
			continue
		case !known && over && invented(outputs, fields, m.name):
			return fields, behind, nil
		case !known && len(fields) > 0 && !over:
			return nil, "", structural("", "there is no field %q; leave the marker out, or write the text that contains it as a JSON string", m.name)
		case !known, formOnly(f.Name, g.text):
			continue
		case twice && earlier.text != g.text:
			return nil, "", givenTwice(f.Name)
		}
		fields[f.Name], over = g, false
	}
	return fields, behind, nil
}

// remarkNames are markers of what is said behind an answer about it.
var remarkNames = wordSet("note notes remark remarks comment comments ps caveat caveats warning")

// invented reports whether a marker behind a whole answer begins another question,
// which models make up when they do not stop.
func invented(outputs []signature.Field, fields map[string]given, name string) bool {
	for _, f := range outputs {
		if _, ok := fields[f.Name]; f.Required && !ok {
			return false
		}
	}
	return !reasons[strings.ToLower(name)] && idleName(name)
}

// formOnly reports whether a text stands for a value without being one.
func formOnly(field, text string) bool {
	return text == NotGiven || strings.HasPrefix(text, "{") && text == Placeholder(field)
}

func givenTwice(field string) error {
	return structural(field, "is given twice, with different values; give it once")
}

// under returns what stands under the first of marks.
func under(text string, marks []mark, end string) given {
	if len(marks) == 1 {
		return given{text: aligned(text[marks[0].end:]), open: true}
	}
	value := aligned(text[marks[0].end:marks[1].start])
	if !strings.EqualFold(marks[1].name, end) {
		return given{text: value}
	}
	if _, _, open := fences(value); open {
		if rest := strings.TrimSpace(text[marks[1].end:]); closesFence(rest) {
			value += "\n" + rest // the end marker was put inside the fence
		}
	}
	return given{text: value}
}

// aligned is the text under a marker without the blanks around it. Lines that are
// indented keep their places to each other.
func aligned(text string) string {
	if below, ok := strings.CutPrefix(text, "\n"); ok {
		if below = strings.TrimLeft(below, "\n"); below != "" && (below[0] == ' ' || below[0] == '\t') {
			text = dedent(strings.TrimRight(below, " \t\n"))
		}
	}
	return strings.TrimSpace(text)
}

// hidden finds a field that is given by a label within another's text: what was
// meant is not certain.
func (r reply) hidden(fields map[string]given) error {
	for _, missing := range r.outputs {
		if _, ok := fields[missing.Name]; ok {
			continue
		}
		for _, g := range fields {
			for line := range strings.SplitSeq(g.text, "\n") {
				if f, text, ok := label(r.outputs, line); ok && text != "" && f.Name == missing.Name {
					return structural(missing.Name, "stands within the value of another; put it under %s", marker(missing.Name))
				}
			}
		}
	}
	return nil
}
