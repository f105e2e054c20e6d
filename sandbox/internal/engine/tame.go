package engine

import "strings"

// What goja's parser sees at once. Where no brackets are nested it goes, at worst,
// as deep as a text is long, at some hundred bytes of stack a level.
const (
	tameLength = 16 << 10
	tameDepth  = 64
)

// tame reports whether goja's parser takes no more than linear time and a small
// stack for a text, be it JavaScript or not. It parses the parameters of an arrow
// function twice, and so takes exponential time for arrow functions in the
// parameters of others; and what a yield is followed by, if it is no expression.
//
// All arrows count, as nothing is known of strings and comments yet: of each it
// must be certain where its function begins, and that the parameters have no
// arrow in them, whatever is before.
func tame(text string) bool {
	if len(text) > tameLength || deepest(text) > tameDepth || strings.Contains(text, "yield") {
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
		start = plainParameters(text)
	} else {
		start -= len(lastWord(text))
	}
	return start >= 0 && start < len(text) && beginsExpression(text[:start])
}

// plainParameters returns where the parenthesis opens that closes at the end of a
// text, -1 if what is between is not plain.
func plainParameters(text string) int {
	quote := byte(0)
	for i := len(text) - 2; i >= 0; i-- {
		switch c := text[i]; {
		case c == '(' && quote == 0:
			return i
		case c == '"' || c == '\'':
			if quote != 0 && quote != c {
				return -1
			}
			quote ^= c
		case c == '{' && i > 0 && text[i-1] == '$':
			return -1
		case !inWord(c) && strings.IndexByte(" \t,.:={}[]+-*%?!&|", c) < 0:
			return -1
		}
	}
	return -1
}

// beginsExpression reports whether an expression begins behind a text, and not the
// operand of one.
func beginsExpression(text string) bool {
	text = beforeSpace(text)
	if text == "" {
		return false
	}
	end := len(text) - 1
	switch c := text[end]; c {
	case '(', ',', '[', '{', ':':
		return true
	case '=':
		return strings.IndexByte("=!<>", text[max(end-1, 0)]) < 0
	case '>':
		return strings.HasSuffix(text, "=>")
	case '?':
		return !strings.HasSuffix(text, "??")
	}
	switch word := lastWord(text); word {
	case "return":
		return true
	case "async":
		return beginsExpression(text[:len(text)-len(word)])
	}
	return false
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
