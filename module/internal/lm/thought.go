package lm

import "strings"

// Models that no server prepares write what they think in tags, before their
// answer.
var thoughtTags = []string{"think", "thinking"}

// splitThought takes the thought from the head of a whole text. One that does not
// end is none, unless the text was cut off.
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

// thoughts divides a text that comes in pieces in the same way.
type thoughts struct {
	onText, onThought func(string)

	blanks []byte // at the head, of which there may be many: some models end in nothing else
	held   string // until it is known what it is
	tag    string // whose thought this is
	state  int
}

// The states of thoughts: nothing is known, this is one, it has ended, this is
// text.
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

// step reports whether there may be more to do.
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

// head finds out whether the text begins with a thought.
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

// end tells what was held back.
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

// holdBack divides a text before what may be the beginning of end.
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
