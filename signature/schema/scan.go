package schema

import (
	"bytes"
	"encoding/json"
)

// scan goes through a text and takes nothing for JSON that is not.
type scan struct {
	text []byte
	at   int
}

// next goes to the first byte of what comes next, and returns it: 0 at the end.
func (s *scan) next() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// opens goes into an object or array, and reports whether there is something in it.
func (s *scan) opens(end byte) bool {
	s.at++
	return s.next() != end
}

// goesOn goes behind a comma, and reports whether there was one.
func (s *scan) goesOn() bool {
	if s.next() != ',' {
		return false
	}
	s.at++
	return true
}

// closes goes behind the end of an object or array, and reports whether it is one.
func (s *scan) closes(end byte) bool {
	if s.next() != end {
		return false
	}
	s.at++
	return true
}

// word goes behind a word that is expected.
func (s *scan) word(want string) bool {
	if !bytes.HasPrefix(s.text[s.at:], []byte(want)) {
		return false
	}
	s.at += len(want)
	return true
}

// string goes behind the string that begins here, and returns what is between its
// quotes, and whether there are no escapes in that.
func (s *scan) string() (text []byte, plain, ok bool) {
	start := s.at
	plain = true
	for i := start + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return s.text[start+1 : i], plain, plain || json.Valid(s.text[start:s.at])
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			return nil, false, false
		}
	}
	return nil, false, false
}

// number goes behind the number that begins here, if it has no exponent.
func (s *scan) number() (text []byte, ok bool) {
	start := s.at
	if s.at < len(s.text) && s.text[s.at] == '-' {
		s.at++
	}
	whole := s.at
	if s.digits() == 0 || s.text[whole] == '0' && s.at > whole+1 {
		return nil, false
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		if s.at++; s.digits() == 0 {
			return nil, false
		}
	}
	return s.text[start:s.at], s.at == len(s.text) || s.text[s.at]|' ' != 'e'
}

// digits goes behind the digits that come next, and returns how many they are.
func (s *scan) digits() int {
	start := s.at
	for s.at < len(s.text) && s.text[s.at]-'0' < 10 {
		s.at++
	}
	return s.at - start
}
