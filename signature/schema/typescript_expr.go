package schema

import (
	"slices"
	"strings"
)

// expr is a printed type and how tightly it binds.
type expr struct {
	text string
	bind int
}

const (
	atUnion = iota
	atIntersection
	atAtom
)

var unknownType = expr{"unknown", atAtom}

// within returns the text, in parentheses if it binds less tightly than bind.
func (e expr) within(bind int) string {
	if e.bind < bind {
		return "(" + e.text + ")"
	}
	return e.text
}

// unite prints a union. Null comes last.
func unite(all []expr) expr {
	var texts []string
	null := false
	for _, e := range all {
		switch {
		case e.text == "unknown":
			return unknownType
		case e.text == "null":
			null = true
		case e.text != "never" && !slices.Contains(texts, e.within(atUnion)):
			texts = append(texts, e.within(atUnion))
		}
	}
	if null {
		texts = append(texts, "null")
	}
	return combine(texts, " | ", atUnion, all, "never")
}

// intersect prints an intersection.
func intersect(all []expr) expr {
	var texts []string
	for _, e := range all {
		if text := e.within(atIntersection); e.text != "unknown" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if i := slices.Index(texts, anyObject); i >= 0 && len(texts) > 1 {
		texts = slices.Delete(texts, i, i+1)
	}
	return combine(texts, " & ", atIntersection, all, "unknown")
}

// combine joins the types' texts. For a single text, it returns the type in from that has this text. If texts is empty,
// it returns the type none.
func combine(texts []string, with string, bind int, from []expr, none string) expr {
	switch len(texts) {
	case 0:
		return expr{none, atAtom}
	case 1:
		for _, e := range from {
			if e.within(bind) == texts[0] {
				return e
			}
		}
	}
	return expr{strings.Join(texts, with), bind}
}
