package prompt

import (
	"cmp"
	"slices"
	"strings"
)

// maxObservation is the maximum size of an observation in bytes.
const maxObservation = 4 << 10

// Observation reports a step's result to the model. Its sections share a limited space: the result and the effects come
// first, and other sections are cut if they do not fit.
type Observation struct {
	happened string // the step's result; its first line is a summary
	sections []section
	next     string // what to do, and which budgets are nearly used up
	effects  string // the step's effects, for Brief
	keep     bool   // the model may need the whole observation until the end of the run
}

// section is a part of an observation.
type section struct {
	title   string                 // with the white space around it
	cut     func(limit int) string // returns the text in at most limit bytes; nil cuts text
	text    string                 // the whole text
	first   bool                   // the section takes precedence over others
	brief   string                 // one sentence, for an old observation
	lost    bool                   // brief leaves something out
	example string                 // how a program prints part of the text
}

// add adds a section unless it is empty.
func (o *Observation) add(s section) {
	if s.cut == nil {
		text := s.text
		s.cut = func(limit int) string { return Cut(text, limit) }
	} else {
		s.text = s.cut(unlimited)
	}
	if s.text != "" {
		o.sections = append(o.sections, s)
	}
}

// String returns the observation in at most maxObservation bytes.
func (o *Observation) String() string {
	const roomForNote = 150
	room := maxObservation - len(o.next) - roomForNote
	happened := Cut(o.happened, room*3/4)
	room -= len(happened)
	for _, s := range o.sections {
		room -= len(s.title)
	}
	texts, note := o.fit(max(room, 0)), ""
	var b strings.Builder
	b.WriteString(happened)
	for i, s := range o.sections {
		b.WriteString(s.title + texts[i])
		if note == "" && s.example != "" && len(texts[i]) < len(s.text) {
			note = "\n\nNot everything is shown. Print only the part that you need, such as " + s.example + "."
		}
	}
	b.WriteString(note + o.next)
	return b.String()
}

// fit returns the sections' texts, which together take at most room bytes. A section that is marked as first may take
// three quarters of the room. Shorter sections are shown in full before longer ones.
func (o *Observation) fit(room int) []string {
	texts, order := make([]string, len(o.sections)), make([]int, len(o.sections))
	for i := range o.sections {
		order[i] = i
	}
	rank := func(i int) int {
		if o.sections[i].first {
			return -1
		}
		return len(o.sections[i].text)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(i), rank(j)) })
	for n, i := range order {
		s, share := o.sections[i], room/(len(order)-n)
		if s.first {
			share = max(share, room*3/4)
		}
		if texts[i] = s.text; len(s.text) > share {
			texts[i] = s.cut(share)
		}
		room -= len(texts[i])
	}
	return texts
}

// Brief returns a one-line summary of the observation, followed by the step's effects. The summary replaces the
// observation in a conversation after the next step. Brief returns "" if the summary would not be much shorter.
func (o *Observation) Brief() string {
	const minSaving = 500 // bytes
	if o.keep {
		return ""
	}
	text, lost := strings.TrimSuffix(FirstLine(o.happened), ".")+".", false
	for _, s := range o.sections {
		if s.brief != "" {
			text, lost = text+" "+s.brief, lost || s.lost
		}
	}
	if lost {
		text += " Print it again if you need it."
	}
	if text += o.effects; len(text)+minSaving > len(o.String()) {
		return ""
	}
	return text
}
