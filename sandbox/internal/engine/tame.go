package engine

import "strings"

// What goja's parser sees at once. Where no brackets are nested it goes, at worst,
// as deep as a text is long, at some hundred bytes of stack a level.
const (
	tameLength = 16 << 10
	tameDepth  = 64
	tameLabels = 100 // for each, it looks at all those around it
)

// tame reports whether goja's parser takes no more than linear time and a small
// stack for a text, be it JavaScript or not. It parses what is from a parenthesis
// to an arrow twice, and so takes exponential time for arrow functions in the
// parameters of others; and what a yield is followed by, if it is no expression. Of classes it is not known.
//
// All arrows count, as nothing is known of strings and comments yet. Of each it must
// be certain that it belongs to the parameters right before it, whatever is before
// these: where goja's parser misses a bracket, it drops the token that is there
// instead, and goes on as if that had been the bracket. So the parameters must be
// without a fault, and begin behind what is not dropped, or does no harm if it is.
func tame(text string) bool {
	if len(text) > tameLength || deepest(text) > tameDepth || strings.Contains(text, "yield") || strings.Contains(text, "class") || manyLabels(text) {
		return false
	}
	for at := strings.Index(text, "=>"); at >= 0; {
		if !plainArrow(text[:at]) {
			return false
		}
		next := strings.Index(text[at+2:], "=>")
		if next < 0 {
			return true
		}
		at += 2 + next
	}
	return true
}

// plainArrow reports whether a text ends with the simple parameters of an arrow
// function, and they are all that an expression has had so far. No string, comment
// or template begins or ends in them, but for short strings.
func plainArrow(text string) bool {
	text = strings.TrimRight(text, " \t")
	start := len(text)
	if strings.HasSuffix(text, ")") {
		start = strings.LastIndexByte(text, '(')
		if start < 0 || !plainParameters(text[start+1:len(text)-1]) {
			return false
		}
	} else if word := lastWord(text); isVariable(word) {
		start -= len(word)
	} else {
		return false
	}
	return beginsExpression(text[:start])
}

// beginsExpression reports whether an expression begins behind a text, and not the
// operand of one.
func beginsExpression(text string) bool {
	text = beforeSpace(text)
	if text == "" {
		return false
	}
	before := text[:len(text)-1]
	switch text[len(text)-1] {
	case ',':
		return true
	case '(': // of a call: another may be dropped
		return endsName(before)
	case '=': // that is no operator
		return endsName(strings.TrimRight(before, " \t"))
	case '>':
		return strings.HasSuffix(before, "=")
	case 'c':
		name, isAsync := strings.CutSuffix(text, "async")
		return isAsync && beginsExpression(name)
	}
	return false
}

// endsName reports whether a text ends with a name, or a member's name, that is no
// private one.
func endsName(text string) bool {
	before := text[:len(text)-len(lastWord(text))]
	if len(before) == len(text) || before == "" {
		return len(before) < len(text)
	}
	c := before[len(before)-1]
	return c < 0x80 && strings.IndexByte("#}\\", c) < 0
}

// manyLabels counts what may be labels: each colon that is not behind a key or an
// alternative.
func manyLabels(text string) bool {
	labels := 0
	for i := range len(text) {
		if text[i] == ':' && !behindKey(text[:i]) {
			labels++
		}
	}
	return labels > tameLabels
}

func behindKey(text string) bool {
	text = beforeSpace(text)
	if strings.HasSuffix(text, `"`) || strings.HasSuffix(text, "'") {
		return true
	}
	word := lastWord(text)
	text = beforeSpace(text[:len(text)-len(word)])
	return word != "" && text != "" && strings.IndexByte("{,?.", text[len(text)-1]) >= 0
}

// beforeSpace leaves out the space at the end of a text, and returns nothing if
// there may be a comment in it.
func beforeSpace(text string) string {
	for {
		line := strings.TrimRight(text, " \t")
		if !strings.HasSuffix(line, "\n") && !strings.HasSuffix(line, "\r") {
			return line
		}
		text = line[:len(line)-1]
		if strings.Contains(text[strings.LastIndexAny(text, "\r\n")+1:], "//") {
			return ""
		}
	}
}

func lastWord(text string) string {
	start := len(text)
	for start > 0 && inWord(text[start-1]) {
		start--
	}
	return text[start:]
}

func inWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$'
}
