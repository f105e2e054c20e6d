package module

import (
	"strings"

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
	name, text = strings.Trim(left, " \t*`#>+-"), strings.TrimSpace(line[at+1:])
	switch bold := strings.Count(left, "**"); {
	case bold == 1 && strings.HasPrefix(text, "**"):
		text = strings.TrimSpace(text[2:]) // **Mood:** good
	case bold == 1 && strings.HasSuffix(text, "**") && strings.Count(text, "**") == 1:
		text = strings.TrimSpace(strings.TrimSuffix(text, "**")) // **Mood: good**
	}
	return name, text, name != "" && !strings.HasPrefix(text, "//")
}

// label reads a line that gives a field.
func label(fields []signature.Field, line string) (f signature.Field, text string, ok bool) {
	name, text, ok := labelled(line)
	if !ok {
		return f, "", false
	}
	f, ok = named(fields, name)
	return f, text, ok
}

// named finds a field also as Final answer.
func named(fields []signature.Field, name string) (signature.Field, bool) {
	if f, ok := fieldNamed(fields, name); ok {
		return f, true
	}
	first, rest, ok := strings.Cut(name, " ")
	if !ok || !strings.EqualFold(first, "final") && !strings.EqualFold(first, "the") && !strings.EqualFold(first, "my") {
		return signature.Field{}, false
	}
	return fieldNamed(fields, rest)
}

// heading reads a line that is the name of a field and no more, in the
// decoration of a heading or of a marker that is not quite one.
func heading(line string) (name string, ok bool) {
	line = strings.TrimSpace(line)
	name = strings.Trim(line, " \t*`#[]:>=")
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
			if s, ok := begins(known, line); ok {
				all = append(all, s)
				continue
			}
		}
		if len(all) > 0 {
			all[len(all)-1].rest = append(all[len(all)-1].rest, line)
		}
	}
	return all
}

func begins(known func(name string) bool, line string) (section, bool) {
	if name, ok := heading(line); ok && known(name) {
		return section{name: name}, true
	}
	name, text, ok := labelled(line)
	return section{name: name, inline: text}, ok && known(name)
}

func (s section) given(last bool) given {
	rest := strings.TrimSpace(dedent(strings.Join(s.rest, "\n")))
	return given{
		text: strings.TrimSpace(s.inline + "\n" + rest), open: last,
		loose: true, ragged: s.inline != "" && rest != "",
	}
}

// dedent takes off the indentation of the first line, if all others have it.
func dedent(text string) string {
	text = strings.Trim(text, "\n")
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	if indent == "" || strings.Count("\n"+text, "\n"+indent) != 1+strings.Count(text, "\n") {
		return text
	}
	return strings.ReplaceAll("\n"+text, "\n"+indent, "\n")
}

// readLines reads a line for each field, with its value behind it or below.
func readLines(r reply) (signature.Values, error) {
	inputs, end := r.spec.Inputs(), endName(r.outputs)
	known := func(name string) bool {
		_, out := named(r.outputs, name)
		_, in := fieldNamed(inputs, name)
		return out || in || strings.EqualFold(strings.Trim(name, "# "), end)
	}
	all := sections(known, unfence(r.text))
	fields := map[string]given{}
	for i, s := range all {
		f, isOutput := named(r.outputs, s.name)
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
	behind := ""
	if last := all[len(all)-1]; strings.EqualFold(last.name, end) {
		behind = last.given(true).text
	}
	return r.settle(fields, behind)
}
