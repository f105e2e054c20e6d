package module

import (
	"cmp"
	"slices"
	"strings"
)

// maxObservation is how many bytes the model is shown of what came of a program.
const maxObservation = 4 << 10

// observation is what the model is told of a step. Its parts share a bounded room: what
// happened and what was done come first, and the others are cut where they do not fit.
type observation struct {
	happened string    // what came of the step; its first line says it all
	shown    []section // what there is to see
	next     string    // what to do, and what is left of the budgets
	did      string    // the effects of the step, for brief
	keep     bool      // the model may need all of it until the end of the run
}

// section is a part of an observation.
type section struct {
	title string                // with the space around it
	body  func(most int) string // in at most so many bytes
	first bool                  // it has the room before the others
	gist  string                // in a sentence, when the observation is old
	lost  bool                  // the gist does not say all of it
	more  string                // how a program prints a part of it
}

// show adds a section, unless it is empty.
func (o *observation) show(s section) {
	if s.whole() != "" {
		o.shown = append(o.shown, s)
	}
}

// showText adds a section whose text is cut at the ends of lines.
func (o *observation) showText(title, text string) {
	o.show(section{title: title, body: func(most int) string { return cut(text, most) }})
}

// shortGist is how long a value or a console may be to be its own gist.
const shortGist = 100

func (s section) whole() string { return s.body(unbounded) }

const unbounded = 1 << 28 // bytes, more than there are of anything

// String is the observation in at most maxObservation bytes.
func (o *observation) String() string {
	const cutNote = 150 // bytes for the note that not everything is shown
	left := maxObservation - len(o.next) - cutNote
	happened := cut(o.happened, left*3/4)
	left -= len(happened)
	for _, s := range o.shown {
		left -= len(s.title)
	}
	bodies, note := o.bodies(max(left, 0)), ""
	var b strings.Builder
	b.WriteString(happened)
	for i, s := range o.shown {
		b.WriteString(s.title + bodies[i])
		if note == "" && s.more != "" && len(bodies[i]) < len(s.whole()) {
			note = "\n\nNot everything is shown. Print only the part that you need, such as " + s.more + "."
		}
	}
	b.WriteString(note + o.next)
	return b.String()
}

// bodies are the bodies of the sections in at most so many bytes together: those that come
// first may take three quarters, and the shorter ones are shown whole before the longer ones.
func (o *observation) bodies(left int) []string {
	bodies, order := make([]string, len(o.shown)), make([]int, len(o.shown))
	for i, s := range o.shown {
		order[i], bodies[i] = i, s.whole()
	}
	rank := func(i int) int {
		if o.shown[i].first {
			return -1
		}
		return len(bodies[i])
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(i), rank(j)) })
	for n, i := range order {
		share := left / (len(order) - n)
		if o.shown[i].first {
			share = max(share, left*3/4)
		}
		if len(bodies[i]) > share {
			bodies[i] = o.shown[i].body(share)
		}
		left -= len(bodies[i])
	}
	return bodies
}

// brief is the observation in a line, and what was done, for the time when the model has
// answered it and has been shown another. It is empty if that would not be much shorter.
func (o *observation) brief() string {
	const worth = 500 // bytes
	if o.keep {
		return ""
	}
	text, gone := firstLine(o.happened), false
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	for _, s := range o.shown {
		if s.gist != "" {
			text, gone = text+" "+s.gist, gone || s.lost
		}
	}
	if gone {
		text += " Print it again if you need it."
	}
	if text += o.did; len(text)+worth > len(o.String()) {
		return ""
	}
	return text
}

// firstLine is an observation in short: its first line, and what that announces.
func firstLine(observation string) string {
	line, rest, _ := strings.Cut(observation, "\n")
	if strings.HasSuffix(line, ":") {
		next, _, _ := strings.Cut(rest, "\n")
		line += " " + next
	}
	return shorten(line, 200)
}
