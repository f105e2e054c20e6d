package replies

import "strings"

// labeled reads a reply in sections that begin with the names of outputs, as labels (Mood: good) or as headings. All
// required outputs must be present. If the only output is text, the reply must begin with its label.
func (r reply) labeled() (fields, error) {
	blocks, _ := fences(r.text)
	found := fields{}
	first := r.outputs[0]
	onlyText := len(r.outputs) == 1 && first.Schema.AnyText()
	var current label
	at := 0
	for line := range strings.SplitSeq(r.text, "\n") {
		for len(blocks) > 0 && blocks[0].end <= at {
			blocks = blocks[1:]
		}
		fenced := len(blocks) > 0 && blocks[0].start <= at
		if next, ok := r.label(line); ok && !fenced {
			if onlyText && next.name == first.Name && !blank(r.text[:at]) {
				return nil, structural(first.Name,
					"may be the whole reply, or the part after its name; give only the value")
			}
			current.end(found, r.text, at)
			current, current.start = next, at+len(line)-len(next.inline)
		}
		at += len(line) + 1
	}
	if last := strings.TrimSpace(r.text[min(current.start, len(r.text)):]); current.text &&
		strings.Contains(last, "\n\n") {
		return nil, nil // the text's end is not marked
	}
	current.end(found, r.text, len(r.text))
	for _, f := range r.outputs {
		if f.Required && found[f.Name] == nil {
			return nil, nil
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found, nil
}

// label is an output's name at the beginning of a line.
type label struct {
	name   string
	text   bool   // the output is a string
	inline string // the rest of the line
	start  int    // where its section begins
	bold   bool   // the section ends with **
}

// end ends the section of a label. A value on the line of its label ends at an empty line, unless it is a string.
func (l label) end(found fields, text string, at int) {
	if l.name == "" {
		return
	}
	section := strings.TrimSpace(text[min(l.start, at):at])
	if !l.text && l.inline != "" {
		section, _, _ = strings.Cut(section, "\n\n")
	}
	if l.bold {
		section = strings.TrimSuffix(section, "**")
	}
	found[l.name] = append(found[l.name], fieldValue{text: strings.TrimSpace(section)})
}

// decoration has the characters that may surround a name in a reply.
const decoration = " \t>*_#`-•\"0123456789.)["

// label parses a line that starts with an output's name, or the end marker's, followed by a colon. The name may be
// decorated (`**Mood:** good`); a decorated name needs no colon, since it may be a heading.
func (r reply) label(line string) (l label, ok bool) {
	head, inline, colon := strings.Cut(line, ":")
	if len(head) > 100 {
		return l, false
	}
	left := strings.TrimLeft(head, decoration)
	name := strings.TrimRight(left, " \t*_#`\"]")
	f, ok := fieldNamed(r.outputs, name)
	if ok = ok || sameName(name, EndName(r.outputs)); !ok || !colon && strings.Trim(line, " \t") == name {
		return l, false
	}
	inline = strings.TrimLeft(inline, " \t")
	if open := head[:len(head)-len(left)]; strings.Contains(open, "**") && !strings.HasSuffix(head, "**") {
		if rest, closed := strings.CutPrefix(inline, "**"); closed {
			inline = strings.TrimLeft(rest, " \t") // **Mood:** good
		} else {
			l.bold = strings.HasSuffix(inline, "**") // **Mood: good**
		}
	}
	l.name, l.inline, l.text = f.Name, inline, f.Name != "" && f.Schema.AnyText()
	return l, true
}
