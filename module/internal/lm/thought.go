package lm

import "strings"

// thoughtTags has the tags in which models write reasoning before their answer, if the server does not separate it.
var thoughtTags = []string{"think", "thinking"}

// splitThought separates reasoning at the start of a complete reply. Reasoning without an end tag does not count,
// unless the reply was truncated.
func splitThought(text string, truncated bool) (thought, answer string, found bool) {
	head := strings.TrimLeft(text, " \n")
	if !strings.HasPrefix(head, "<") {
		return "", text, false
	}
	for _, tag := range thoughtTags {
		rest, ok := strings.CutPrefix(head, "<"+tag+">")
		if !ok {
			continue
		}
		thought, answer, ended := strings.Cut(rest, "</"+tag+">")
		if ended || truncated {
			return strings.TrimSpace(thought), strings.TrimLeft(answer, " \n"), true
		}
	}
	return "", text, false
}

// thoughts is splitThought for a reply that arrives in pieces.
type thoughts struct {
	onText, onThought func(string)

	blanks []byte // white space at the start; some models write a lot of it
	held   string // text that is not yet classified
	tag    string // the open tag
	state  int
}

// The states of thoughts.
const (
	atHead = iota
	inThought
	afterThought
	inText
)

func (t *thoughts) add(piece string) {
	t.held += piece
	for t.step() {
	}
}

// step classifies part of the held text. It reports whether there may be more.
func (t *thoughts) step() bool {
	switch t.state {
	case atHead:
		return t.head()
	case inThought:
		thought, after, ended := strings.Cut(t.held, "</"+t.tag+">")
		if ended {
			t.held, t.state = after, afterThought
		} else {
			thought, t.held = holdBack(t.held, "</"+t.tag+">")
		}
		tell(t.onThought, thought)
		return ended
	case afterThought:
		if t.held = strings.TrimLeft(t.held, " \n"); t.held == "" {
			return false
		}
		t.state = inText
	}
	tell(t.onText, t.held)
	t.held = ""
	return false
}

// head determines whether the text begins with reasoning.
func (t *thoughts) head() bool {
	text := strings.TrimLeft(t.held, " \n")
	t.blanks = append(t.blanks, t.held[:len(t.held)-len(text)]...)
	t.held = text
	for _, tag := range thoughtTags {
		open := "<" + tag + ">"
		if rest, ok := strings.CutPrefix(text, open); ok {
			t.tag, t.held, t.state = tag, rest, inThought
			return true
		}
		if strings.HasPrefix(open, text) {
			return false
		}
	}
	t.held, t.state = string(t.blanks)+text, inText
	return true
}

// end passes on the held text.
func (t *thoughts) end() {
	switch t.state {
	case atHead:
		tell(t.onText, string(t.blanks)+t.held)
	case inThought:
		tell(t.onThought, t.held)
	default:
		tell(t.onText, t.held)
	}
	t.held = ""
}

// holdBack splits text before a suffix that may be the beginning of end.
func holdBack(text, end string) (sure, held string) {
	for n := min(len(end)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, end[:n]) {
			return text[:len(text)-n], text[len(text)-n:]
		}
	}
	return text, ""
}

func tell(on func(string), text string) {
	if on != nil && text != "" {
		on(text)
	}
}
