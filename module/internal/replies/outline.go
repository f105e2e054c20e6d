package replies

import "strings"

// outline reads names, bullets and what is indented below them, as YAML and
// Markdown have it:
//
//   - name: Jan
//     age: 33
//
// Every line must have its place.
func outline(text string) (node, bool) {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "<") {
		return node{}, false
	}
	var lines []outlineLine
	for line := range strings.SplitSeq(text, "\n") {
		rest := strings.TrimLeft(line, " \t")
		lines = append(lines, outlineLine{len(line) - len(rest), strings.TrimRight(rest, " \t\\")})
	}
	return indentedBlock(lines, 0)
}

// outlineLine is a line, and how far it is indented.
type outlineLine struct {
	indent int
	text   string
}

// indentedBlock reads lines of which the first is indented least.
func indentedBlock(lines []outlineLine, depth int) (n node, ok bool) {
	lines = trimmed(lines)
	if len(lines) == 0 || depth > maxElements || len(lines) == 1 && depth == 0 && !bullet.MatchString(lines[0].text) && !isLabel(lines[0].text) {
		return n, false
	}
	headed := isHeading(lines[0].text)
	bulleted, kind, number := bullet.MatchString(lines[0].text), bulletKind(lines[0].text), ""
	for _, part := range parts(lines, headed, bulleted) {
		switch {
		case part[0].indent != lines[0].indent, bulletKind(part[0].text) != kind, doubtful.MatchString(kind):
			return n, false
		case bulleted:
			item, ok := bulletItem(part, depth)
			last := number
			number = bulletNumber(part[0].text)
			if !ok || len(n.items) > 0 && !follows(last, number) {
				return n, false
			}
			n.items = append(n.items, item)
		default:
			b, ok := nameAndBelow(part, headed, depth)
			if !ok {
				return n, false
			}
			n.members = append(n.members, b)
		}
	}
	return n, true
}

// trimmed drops empty lines at both ends.
func trimmed(lines []outlineLine) []outlineLine {
	for len(lines) > 0 && lines[0].text == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1].text == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// parts splits lines where another of the same rank begins: a heading, a bullet,
// or a name.
func parts(lines []outlineLine, headed, bulleted bool) (all [][]outlineLine) {
	from := 0
	for i, line := range lines {
		if i == 0 || line.text == "" || line.indent > lines[0].indent || headed && !isHeading(line.text) {
			continue
		}
		if !headed && !bulleted && bullet.MatchString(line.text) {
			continue // YAML has the items of a name on its own level
		}
		all = append(all, lines[from:i])
		from = i
	}
	return append(all, lines[from:])
}

// isHeading reports whether a line names what stands below it, and has the
// decoration of that.
func isHeading(line string) bool {
	name, ok := heading(line)
	return ok && name != "" && !bullet.MatchString(line) && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") && strings.HasSuffix(strings.TrimSuffix(line, ":"), "**") || numberedName(line))
}

// numberedName reports whether a line is a name with a number, as Person 1:
func numberedName(line string) bool {
	line, ok := strings.CutSuffix(line, ":")
	return ok && unnumbered(line) != line && short(line, 3)
}

func isLabel(line string) bool {
	_, _, ok := labelled(line)
	return ok
}

// bulletItem reads what stands behind a bullet and below.
func bulletItem(lines []outlineLine, depth int) (node, bool) {
	mark := bullet.FindString(lines[0].text)
	if mark == "" {
		return node{}, false
	}
	below := trimmed(lines[1:])
	first := outlineLine{lines[0].indent + len(mark), strings.TrimSpace(lines[0].text[len(mark):])}
	if len(below) == 0 && !isLabel(first.text) {
		return node{text: first.text}, first.text != ""
	}
	if len(below) == 0 {
		return oneLabel(first.text)
	}
	if _, text, ok := labelled(first.text); ok && text != "" {
		first.indent = below[0].indent // the rest of the members
	}
	return indentedBlock(append([]outlineLine{first}, below...), depth+1)
}

// oneLabel is an item that is one line: a member, or, if it has several, what only
// the shape can take apart.
func oneLabel(line string) (node, bool) {
	if partStart.MatchString(line) && len(partStart.FindAllString(line, 2)) > 1 {
		return node{text: line}, true
	}
	name, text, ok := labelled(line)
	return node{members: []branch{{name, node{text: text}}}}, ok
}

// nameAndBelow reads a name, and what stands behind it or below.
func nameAndBelow(lines []outlineLine, headed bool, depth int) (b branch, ok bool) {
	below := trimmed(lines[1:])
	name, text, ok := labelled(lines[0].text)
	if headed || !ok {
		if name, ok = heading(lines[0].text); !ok {
			return b, false
		}
		text = ""
	}
	b.name = name
	switch {
	case len(below) == 0:
		b.text = text
	case text != "" && strings.Trim(text, "|>-+") == "":
		b.text = scalar(lines[1:], text[0] == '>')
	case text != "":
		return b, false
	default:
		b.node, ok = indentedBlock(below, depth+1)
		if len(below) == 1 && !ok {
			b.node, ok = node{text: below[0].text}, true
		}
	}
	return b, ok
}

// scalar is the text that YAML has below a name with | or >, which joins lines.
func scalar(lines []outlineLine, folded bool) string {
	lines = trimmed(lines)
	var b strings.Builder
	for i, line := range lines {
		switch {
		case i > 0 && folded && line.text != "" && lines[i-1].text != "":
			b.WriteByte(' ')
		case i > 0:
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat(" ", max(0, line.indent-lines[0].indent)) + line.text)
	}
	return b.String()
}
