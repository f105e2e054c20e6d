package replies

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature"
)

// labelled reads a line that begins with a name and a colon, also in a list, in
// bold or in backticks: **Mood:** good.
func labelled(line string) (name, text string, ok bool) {
	at := strings.IndexByte(line, ':')
	if at < 0 || at > 80 {
		return "", "", false
	}
	left := strings.TrimLeft(strings.TrimSpace(line[:at]), "0123456789.)")
	name, text = plainName(left), strings.TrimSpace(line[at+1:])
	switch bold := strings.Count(left, "**"); {
	case bold == 1 && strings.HasPrefix(text, "**"):
		text = strings.TrimSpace(text[2:]) // **Mood:** good
	case bold == 1 && strings.HasSuffix(text, "**") && strings.Count(text, "**") == 1:
		text = strings.TrimSpace(strings.TrimSuffix(text, "**")) // **Mood: good**
	}
	return name, text, name != "" && !strings.HasPrefix(text, "//")
}

// plainName is a name without what is put round it.
func plainName(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return strings.ContainsRune(" \t*`#[]【】:>=+-\"", r) || isPictogram(r) })
}

// pointed reads a line that begins with a name and another sign than a colon:
// Mood → good. It may as well be a sentence, if the name is not a field's.
func pointed(line string) (name, text string, ok bool) {
	head := line[:min(len(line), 80)]
	if !strings.ContainsAny(head, "=>→➜⇒-–—") {
		return "", "", false
	}
	at := pointer.FindStringIndex(head)
	if at == nil || blank(line[at[1]:]) {
		return "", "", false
	}
	return plainName(line[:at[0]]), strings.TrimSpace(line[at[1]:]), true
}

var pointer = regexp.MustCompile(` *(?:=>|->|=|→|➜|⇒) *| [-–—] `)

// label reads a line that gives a field.
func label(fields []signature.Field, line string) (f signature.Field, text string, ok bool) {
	for _, split := range []func(string) (string, string, bool){labelled, pointed} {
		if name, text, ok := split(line); ok {
			if f, ok = named(fields, name); ok {
				return f, text, true
			}
		}
	}
	return f, "", false
}

// label reads a line that gives an output, by its name or as the answer, if there
// is only one.
func (r reply) label(line string) (f signature.Field, text string, ok bool) {
	if f, text, ok = label(r.outputs, line); ok {
		return f, text, ok
	}
	name, text, ok := labelled(line)
	f, only := r.only()
	return f, text, ok && only && r.isAnswer(name) && text != ""
}

// isAnswer reports whether a name is that of the only output, of which one word
// is the value, as well as its own.
func (r reply) isAnswer(name string) bool {
	if !answerNames[strings.ToLower(name)] {
		return false
	}
	_, input := fieldNamed(r.spec.Inputs(), name)
	f, only := r.only()
	return only && !input && shapeOf(f).scalar()
}

var answerNames = map[string]bool{
	"answer": true, "final answer": true, "the answer": true, "my answer": true, "result": true,
	"final result": true, "the result": true, "verdict": true, "final verdict": true,
}

// named finds a field also as Final answer.
func named(fields []signature.Field, name string) (signature.Field, bool) {
	if f, ok := fieldNamed(fields, name); ok {
		return f, true
	}
	first, rest, ok := strings.Cut(name, " ")
	if !ok || !presents[strings.ToLower(first)] {
		return signature.Field{}, false
	}
	return fieldNamed(fields, rest)
}

var presents = wordSet("final the my total overall")

// heading reads a line that is the name of a field and no more, in the
// decoration of a heading or of a marker that is not quite one.
func heading(line string) (name string, ok bool) {
	line = strings.TrimSpace(line)
	name = plainName(line)
	return name, len(line) < 80 && name != "" && name != line
}

// section is a part of a reply under a line that names it.
type section struct {
	name, inline string // what stands on the line itself
	rest         []string
}

// sections splits a text at the lines that begin a field. Lines in a fence are
// part of what is in it.
func sections(known func(name string) bool, text string) []section {
	var all []section
	mark := ""
	for line := range strings.SplitSeq(text, "\n") {
		run, info := fence(line)
		switch {
		case mark == "" && run != "":
			mark = run
		case mark != "" && info == "" && strings.HasPrefix(run, mark):
			mark = ""
		case mark == "":
			if begun := begins(known, line); begun != nil {
				all = append(all, begun...)
				continue
			}
		}
		if len(all) > 0 {
			all[len(all)-1].rest = append(all[len(all)-1].rest, line)
		}
	}
	return all
}

// begins returns the sections that begin on a line: one, or several with a comma
// between them.
func begins(known func(name string) bool, line string) []section {
	if name, ok := heading(line); ok && known(name) && !scalarStart.MatchString(line) {
		return []section{{name: name}}
	}
	if inMarker.MatchString(line) {
		return nil
	}
	for _, split := range []func(string) (string, string, bool){labelled, pointed} {
		if name, text, ok := split(line); ok && known(name) {
			return several(known, line, section{name: name, inline: text})
		}
	}
	return nil
}

// inMarker finds lines that have a value within what was to be a marker.
var inMarker = regexp.MustCompile(`^\s*\[\[?[^\]]*[:=][^\]]*\]\]?\s*$`)

// scalarStart finds lines below which YAML has a text.
var scalarStart = regexp.MustCompile(`:\s*[>|][-+]?$`)

// several takes apart a line that gives more than one field: Mood: good, Score: 1.
func several(known func(name string) bool, line string, first section) []section {
	parts := inline(known, line)
	if len(parts) < 2 {
		return []section{first}
	}
	all := make([]section, len(parts))
	for i, p := range parts {
		all[i] = section{name: p.name, inline: p.text}
	}
	return all
}

func (s section) given(last bool) given {
	rest := strings.TrimSpace(dedent(strings.Join(s.rest, "\n")))
	if s.inline != "" && strings.Trim(s.inline, "|>-+") == "" && rest != "" {
		if text, whole := s.scalar(); whole {
			return given{text: text, loose: true}
		}
	}
	gap := "\n"
	if len(s.rest) > 1 && blank(s.rest[0]) {
		gap = "\n\n"
	}
	return given{
		text: strings.TrimSpace(s.inline + gap + rest), open: last,
		loose: true, ragged: s.inline != "" && rest != "",
	}
}

// scalar is the text that YAML has below a name with a |: as far as it is
// indented, which must be all.
func (s section) scalar() (text string, whole bool) {
	var lines []outlineLine
	for _, line := range s.rest {
		rest := strings.TrimLeft(line, " ")
		if rest != "" && rest == line {
			return "", false
		}
		lines = append(lines, outlineLine{len(line) - len(rest), rest})
	}
	return scalar(lines, s.inline[0] == '>'), true
}

// dedent takes off the indentation of the first line, if all others have it but those
// that are empty.
func dedent(text string) string {
	text = strings.Trim(text, "\n")
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest, ok := strings.CutPrefix(line, indent)
		if !ok && !blank(line) {
			return text
		}
		lines[i] = rest
	}
	return strings.Join(lines, "\n")
}

// within finds a field that is given by a label in the midst of another's line: Name:
// Ida Phone: 171.
func (r reply) within(fields map[string]given) error {
	for _, missing := range r.outputs {
		if _, ok := fields[missing.Name]; ok {
			continue
		}
		own := strings.ToLower(spaced.Replace(missing.Name)) + ":"
		for _, g := range fields {
			line, _, _ := strings.Cut(strings.ToLower(g.text), "\n")
			if at := strings.Index(line, own); at > 0 && !unicode.IsLetter(rune(line[at-1])) {
				return structural(missing.Name, "stands within the value of another; put it under %s", marker(missing.Name))
			}
		}
	}
	return nil
}

// readLines reads a line for each field, with its value behind it or below.
func readLines(r reply) (signature.Values, error) {
	inputs, end := r.spec.Inputs(), EndName(r.outputs)
	known := func(name string) bool {
		_, out := named(r.outputs, name)
		_, in := fieldNamed(inputs, name)
		return out || in || strings.EqualFold(strings.Trim(name, "# "), end) || r.isAnswer(name)
	}
	all := sections(known, Unfence(r.text))
	fields := map[string]given{}
	for i, s := range all {
		f, isOutput := named(r.outputs, s.name)
		if !isOutput && r.isAnswer(s.name) {
			f, isOutput = r.only()
		}
		if !isOutput {
			continue
		}
		g := s.given(i == len(all)-1)
		if earlier, twice := fields[f.Name]; twice && earlier.text != g.text {
			return nil, givenTwice(f.Name)
		}
		if !formOnly(f.Name, g.text) {
			fields[f.Name] = g
		}
	}
	if len(fields) == 0 {
		return nil, nil
	}
	if err := r.within(fields); err != nil {
		return nil, err
	}
	behind := ""
	if last := all[len(all)-1]; strings.EqualFold(last.name, end) {
		behind = last.given(true).text
	}
	return r.settle(fields, behind)
}
