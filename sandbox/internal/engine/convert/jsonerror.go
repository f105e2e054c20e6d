package convert

import (
	"fmt"
	"unicode/utf16"
)

// jsonError says in V8's words why a text is not JSON; "" if it is.
func JSONError(text []uint16) string {
	s := jsonScanner{text: text}
	s.value()
	if s.space(); s.problem == "" && s.at < len(s.text) {
		s.fail("Unexpected non-whitespace character after JSON")
	}
	return s.problem
}

// jsonScanner goes through a text up to its first mistake.
type jsonScanner struct {
	text    []uint16
	at      int
	problem string
}

// fail notes a problem in the present place, if it is the first.
func (s *jsonScanner) fail(message string) {
	if s.problem == "" {
		s.problem = fmt.Sprintf("%s at position %d", message, s.at)
	}
}

// jsonContext is how much of a text V8 shows on either side of a character.
const jsonContext = 10

// unexpected notes that the present character begins nothing, or that there is
// none.
func (s *jsonScanner) unexpected() {
	if s.problem != "" {
		return
	}
	if s.at >= len(s.text) {
		s.problem = "Unexpected end of JSON input"
		return
	}
	switch c := s.text[s.at]; {
	case digit(c), c == '-':
		s.fail("Unexpected number in JSON")
		return
	case c == '"':
		s.fail("Unexpected string in JSON")
		return
	}
	from, to := 0, len(s.text)
	before, behind := "", ""
	if to > 2*jsonContext {
		if s.at >= jsonContext {
			from, before = s.at-jsonContext, "..."
		}
		if s.at < to-jsonContext {
			to, behind = s.at+jsonContext, "..."
		}
	}
	s.problem = fmt.Sprintf(`Unexpected token '%s', %s"%s"%s is not valid JSON`,
		string(utf16.Decode(s.text[s.at:s.at+1])), before, string(utf16.Decode(s.text[from:to])), behind)
}

// next is the present character, 0 at the end or after a problem.
func (s *jsonScanner) next() uint16 {
	if s.problem != "" || s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *jsonScanner) space() {
	for c := s.next(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = s.next() {
		s.at++
	}
}

func (s *jsonScanner) value() {
	s.space()
	switch c := s.next(); {
	case c == '{':
		s.object()
	case c == '[':
		s.array()
	case c == '"':
		s.string()
	case c == '-' || digit(c):
		s.number()
	case c == 't':
		s.word("true")
	case c == 'f':
		s.word("false")
	case c == 'n':
		s.word("null")
	default:
		s.unexpected()
	}
}

func (s *jsonScanner) word(word string) {
	for _, c := range []byte(word) {
		if s.next() != uint16(c) {
			s.unexpected()
			return
		}
		s.at++
	}
}

func (s *jsonScanner) object() {
	s.at++
	if s.space(); s.next() == '}' {
		s.at++
		return
	}
	expected := "Expected property name or '}' in JSON"
	for s.problem == "" {
		if s.space(); s.next() != '"' {
			s.fail(expected)
			return
		}
		s.string()
		if s.space(); s.next() != ':' {
			s.fail("Expected ':' after property name in JSON")
		}
		s.at++
		s.value()
		if s.ends('}', "Expected ',' or '}' after property value in JSON") {
			return
		}
		expected = "Expected double-quoted property name in JSON"
	}
}

func (s *jsonScanner) array() {
	s.at++
	if s.space(); s.next() == ']' {
		s.at++
		return
	}
	for s.problem == "" {
		s.value()
		if s.ends(']', "Expected ',' or ']' after array element in JSON") {
			return
		}
	}
}

// ends takes what stands behind a member, and reports whether it was the last.
func (s *jsonScanner) ends(end uint16, expected string) bool {
	s.space()
	c := s.next()
	if c != end && c != ',' {
		s.fail(expected)
		return true
	}
	s.at++
	return c == end
}

func (s *jsonScanner) string() {
	for s.at++; ; s.at++ {
		switch c := s.next(); {
		case s.at >= len(s.text):
			s.fail("Unterminated string in JSON")
			return
		case c == '"':
			s.at++
			return
		case c < ' ':
			s.fail("Bad control character in string literal in JSON")
			return
		case c == '\\':
			if s.escape(); s.problem != "" {
				return
			}
		}
	}
}

// escape takes what stands behind a backslash, up to its last character.
func (s *jsonScanner) escape() {
	s.at++
	switch s.next() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
	case 'u':
		for range 4 {
			if s.at++; !hexadecimal(s.next()) {
				s.fail("Bad Unicode escape in JSON")
				return
			}
		}
	default:
		s.fail("Bad escaped character in JSON")
	}
}

func (s *jsonScanner) number() {
	if s.next() == '-' {
		if s.at++; !digit(s.next()) {
			s.fail("No number after minus sign in JSON")
			return
		}
	}
	if s.next() == '0' {
		if s.at++; digit(s.next()) {
			s.fail("Unexpected number in JSON")
			return
		}
	}
	s.digits()
	if s.next() == '.' {
		if s.at++; !digit(s.next()) {
			s.fail("Unterminated fractional number in JSON")
			return
		}
		s.digits()
	}
	if c := s.next(); c == 'e' || c == 'E' {
		s.at++
		if c := s.next(); c == '+' || c == '-' {
			s.at++
		}
		if !digit(s.next()) {
			s.fail("Exponent part is missing a number in JSON")
			return
		}
		s.digits()
	}
}

func (s *jsonScanner) digits() {
	for digit(s.next()) {
		s.at++
	}
}

func digit(c uint16) bool { return '0' <= c && c <= '9' }

func hexadecimal(c uint16) bool {
	return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
