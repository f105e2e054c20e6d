package replies

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Texts of JSON stand in quotes, of several kinds, and have escapes.

// pairs are the quotes in which texts stand: the longer first.
var pairs = [][2]string{{`"""`, `"""`}, {`'''`, `'''`}, {`"`, `"`}, {`'`, `'`}, {"`", "`"}, {"“", "”"}, {"‘", "’"}}

// quoteAt returns the quotes of the text that begins here, if one does.
func (l *lax) quoteAt() (open, end string) {
	for _, p := range pairs {
		if strings.HasPrefix(l.text[l.at:], p[0]) {
			return p[0], p[1]
		}
	}
	return "", ""
}

func (l *lax) string() (json.RawMessage, error) {
	open, end := l.quoteAt()
	l.at += len(open)
	start := l.at
	var b strings.Builder
	for from := start; l.at < len(l.text); {
		switch c := l.text[l.at]; {
		case c == '\\':
			b.WriteString(l.text[from:l.at])
			if err := l.escape(&b, open); err != nil {
				return nil, err
			}
			from = l.at
		case c == '\'' && open == "'" && l.depth > 0 && l.apostrophe():
			l.at++
		case c == end[0] && strings.HasPrefix(l.text[l.at:], end):
			b.WriteString(l.text[from:l.at])
			l.at += len(end)
			return l.stringEnd(l.asMeant(Quote(b.String()), start), start, open)
		default:
			l.at++
		}
	}
	return nil, errCutValue
}

// asMeant is the text that was read, with an escape if it had one that it does not need.
func (l *lax) asMeant(text json.RawMessage, start int) json.RawMessage {
	if insisted(l.text[start-1:l.at]) == nil {
		return text
	}
	return insist(text)
}

// stringEnd is the text that was read, or the longer one that has its end in it.
func (l *lax) stringEnd(text json.RawMessage, start int, open string) (json.RawMessage, error) {
	err := l.ends(":,;]})")
	if err != nil && open == `"` {
		if longer := l.withInnerQuotes(start); longer != nil {
			return longer, nil
		}
	}
	return text, err
}

// apostrophe reports whether a single quote stands within a word: 'it's'.
func (l *lax) apostrophe() bool {
	before, _ := utf8.DecodeLastRuneInString(l.text[:l.at])
	next, _ := utf8.DecodeRuneInString(l.text[l.at+1:])
	return unicode.IsLetter(before) && unicode.IsLetter(next)
}

// escape reads what begins with a backslash.
func (l *lax) escape(b *strings.Builder, open string) error {
	rest := l.text[l.at:]
	if open == "`" {
		return errors.New("it has a backslash in a text in backticks; write a JSON string")
	}
	if len(rest) < 2 {
		l.at = len(l.text)
		return errCutValue
	}
	n := 2
	switch c := rest[1]; {
	case c == 'u':
		n = unicodeEscape(rest)
	case c == '\n' && open != `"`: // Python goes on in the next line
		l.at += n
		return nil
	case c == '\'', c == '`':
		b.WriteByte(c)
		l.at += n
		return nil
	case l.slashes.see(rest):
		b.WriteString(rest[:2])
		l.at += n
		return nil
	}
	var text string
	if n > len(rest) || json.Unmarshal([]byte(`"`+rest[:n]+`"`), &text) != nil {
		return fmt.Errorf("it has the escape %q in a text, which JSON does not know", rest[:min(n, len(rest))])
	}
	if strings.HasPrefix(text, "\ufffd") && !strings.EqualFold(rest[:6], `\ufffd`) {
		return fmt.Errorf("it has half of a character, %s; write the character itself", rest[:6])
	}
	b.WriteString(text)
	l.at += n
	return nil
}

// unicodeEscape is the length of \u0041, or of the two of a pair.
func unicodeEscape(rest string) int {
	if len(rest) >= 12 && rest[6:8] == `\u` && strings.EqualFold(rest[2:3], "d") && strings.ContainsAny(rest[3:4], "89abAB") {
		return 12
	}
	return 6
}

// Models forget to escape the quotes within a text: {"answer": "It said "closed"."}. They
// are part of the text if that can be divided in one way only: the quotes in it come in
// pairs, each of one before a word and one behind it, and what follows the last can only
// follow a value.

// withInnerQuotes reads the text that begins at a place behind its quote, if it is on one
// line and has quotes in it that are not escaped.
func (l *lax) withInnerQuotes(from int) json.RawMessage {
	line, _, _ := strings.Cut(l.text[from:], "\n")
	if len(line) > longestRemark {
		return nil
	}
	var escaped strings.Builder
	inside := false
	for at := 0; at < len(line); at++ {
		switch {
		case line[at] == '\\' && at+1 < len(line):
			escaped.WriteByte(line[at])
			at++
		case line[at] != '"':
		case !inside && valueEnd.MatchString(line[at+1:min(len(line), at+100)]):
			text, err := (&lax{text: `"` + escaped.String() + `"`}).string()
			if err != nil || memberWithin.MatchString(line[:at]) {
				return nil
			}
			l.at, l.mended = from+at+1, true
			return text
		case inside == opensWord(line, at):
			return nil
		default:
			inside = !inside
			escaped.WriteByte('\\')
		}
		escaped.WriteByte(line[at])
	}
	return nil
}

// valueEnd finds what can only follow a value, and not go on in a text: the next member,
// or the ends of what is around it.
var valueEnd = regexp.MustCompile(`^\s*(?:,\s*"[\w -]+"\s*:|[\]}][\]}\s,]*(?:$|["{]|` + "```" + `)|,?\s*$|,\s*")`)

// memberWithin finds what looks like the end of a text, and a member behind it.
var memberWithin = regexp.MustCompile(`",\s*"\w+"\s*:`)

// opensWord reports whether a quote stands as one does before a word.
func opensWord(line string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(line[:at])
	next, _ := utf8.DecodeRuneInString(line[at+1:])
	return (at == 0 || unicode.IsSpace(before) || strings.ContainsRune(`([{—–-/:"'“`, before)) && (unicode.IsLetter(next) || unicode.IsDigit(next) || strings.ContainsRune(`$€£'“¿¡`, next))
}
