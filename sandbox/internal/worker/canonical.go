package worker

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is how deep what a worker sends may be nested. The engine's values
// end at 500 levels, its parser at 1000, and the envelope adds a few.
const maxNesting = 1024

// trustedNesting is how deep what the host sends may be nested: no deeper than
// encoding/json can write it.
const trustedNesting = 10_000 + 8

// scanner reads JSON once, and writes what it reads in its one canonical form:
// no white space, no escape that isn't needed, members in their order, digits as
// they are. What is no Unicode becomes U+FFFD, in keys as in values. So two
// readers can't understand it in two ways, which is why a key may not come twice.
//
// The host reads thus what a worker says, so it counts everything.
type scanner struct {
	in       []byte
	at       int
	out      []byte // canonical text, and the scanner's only memory of keys
	keys     []span // of the objects that are open, in out
	text     []byte // of the string that was read last
	depth    int
	trusting bool // the host wrote it: keys may repeat
}

// span is a part of out.
type span struct{ from, to int }

var errEnd = errors.New("unexpected end of JSON input")

// value appends one value of any kind to out.
func (s *scanner) value() error {
	switch c := s.peek(); {
	case c == '{':
		return s.object()
	case c == '[':
		return s.array()
	case c == '"':
		return s.quoted()
	case c == '-', '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.unexpected()
}

// peek returns the first byte that isn't white space, or 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.in) {
		switch c := s.in[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// skip reads a byte, if it comes next.
func (s *scanner) skip(c byte) bool {
	if s.peek() != c || s.at == len(s.in) {
		return false
	}
	s.at++
	return true
}

// expect reads a byte that must come next.
func (s *scanner) expect(c byte) error {
	if !s.skip(c) {
		return s.unexpected()
	}
	return nil
}

// end makes sure that nothing follows.
func (s *scanner) end() error {
	if s.peek(); s.at < len(s.in) {
		return s.unexpected()
	}
	return nil
}

func (s *scanner) unexpected() error {
	if s.at >= len(s.in) {
		return errEnd
	}
	return fmt.Errorf("unexpected %q at byte %d", s.in[s.at:s.at+1], s.at)
}

// enter begins an object or array.
func (s *scanner) enter(bracket byte) error {
	limit := maxNesting
	if s.trusting {
		limit = trustedNesting
	}
	if s.depth++; s.depth > limit {
		return fmt.Errorf("nested deeper than %d levels", limit)
	}
	return s.expect(bracket)
}

// more says whether another element follows; first, whether there was none yet.
func (s *scanner) more(closing byte, first bool) (bool, error) {
	switch {
	case s.skip(closing):
		s.depth--
		return false, nil
	case first:
		return true, nil
	}
	return true, s.expect(',')
}

func (s *scanner) array() error {
	if err := s.enter('['); err != nil {
		return err
	}
	s.out = append(s.out, '[')
	for first := true; ; first = false {
		more, err := s.more(']', first)
		if err != nil {
			return err
		}
		if !more {
			s.out = append(s.out, ']')
			return nil
		}
		if !first {
			s.out = append(s.out, ',')
		}
		if err := s.value(); err != nil {
			return err
		}
	}
}

func (s *scanner) object() error {
	if err := s.enter('{'); err != nil {
		return err
	}
	start := len(s.keys)
	s.out = append(s.out, '{')
	for first := true; ; first = false {
		more, err := s.more('}', first)
		if err != nil {
			return err
		}
		if !more {
			s.out = append(s.out, '}')
			return s.distinct(start)
		}
		if !first {
			s.out = append(s.out, ',')
		}
		if err := s.member(start); err != nil {
			return err
		}
	}
}

// member appends a key and its value.
func (s *scanner) member(start int) error {
	from := len(s.out)
	if s.peek() != '"' {
		return s.unexpected()
	}
	if err := s.quoted(); err != nil {
		return err
	}
	if err := s.remember(start, span{from, len(s.out)}); err != nil {
		return err
	}
	if err := s.expect(':'); err != nil {
		return err
	}
	s.out = append(s.out, ':')
	return s.value()
}

// fewKeys are compared with each other as they come, more in the end.
const fewKeys = 16

// remember notes a key of the object whose first key is at start.
func (s *scanner) remember(start int, key span) error {
	if s.trusting {
		return nil
	}
	if len(s.keys)-start < fewKeys {
		for _, k := range s.keys[start:] {
			if bytes.Equal(s.out[k.from:k.to], s.out[key.from:key.to]) {
				return s.duplicate(key)
			}
		}
	}
	s.keys = append(s.keys, key)
	return nil
}

// distinct makes sure that no key of an object came twice, and forgets them.
func (s *scanner) distinct(start int) error {
	keys := s.keys[start:]
	s.keys = s.keys[:start]
	if len(keys) <= fewKeys {
		return nil
	}
	compare := func(a, b span) int { return bytes.Compare(s.out[a.from:a.to], s.out[b.from:b.to]) }
	slices.SortFunc(keys, compare)
	for i := range keys[1:] {
		if compare(keys[i], keys[i+1]) == 0 {
			return s.duplicate(keys[i])
		}
	}
	return nil
}

func (s *scanner) duplicate(key span) error {
	return fmt.Errorf("the key %.50s comes twice", s.out[key.from:key.to])
}

// word appends true, false or null.
func (s *scanner) word(w string) error {
	rest := s.in[s.at:]
	if len(rest) < len(w) || string(rest[:len(w)]) != w {
		return s.unexpected()
	}
	s.at += len(w)
	s.out = append(s.out, w...)
	return nil
}

// number appends a number, digit by digit.
func (s *scanner) number() error {
	start := s.at
	s.one('-')
	if !s.one('0') && !s.digits() {
		return s.unexpected()
	}
	if s.one('.') && !s.digits() {
		return s.unexpected()
	}
	if s.one('e') || s.one('E') {
		if !s.one('+') {
			s.one('-')
		}
		if !s.digits() {
			return s.unexpected()
		}
	}
	s.out = append(s.out, s.in[start:s.at]...)
	return nil
}

// one reads a byte, if it comes next, without white space before it.
func (s *scanner) one(c byte) bool {
	if s.at == len(s.in) || s.in[s.at] != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.in) && '0' <= s.in[s.at] && s.in[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

// quoted appends a string. Most need no second look.
func (s *scanner) quoted() error {
	if n := plain(s.in[s.at+1:]); s.at+1+n < len(s.in) && s.in[s.at+1+n] == '"' {
		s.out = append(s.out, s.in[s.at:s.at+n+2]...)
		s.at += n + 2
		return nil
	}
	text, err := s.unquoted()
	if err != nil {
		return err
	}
	s.out = appendQuoted(s.out, text)
	return nil
}

// plain returns how many bytes stand for themselves in a JSON string.
func plain(b []byte) int {
	for i, c := range b {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}

// unquoted reads a string and returns what it says, until the next is read.
func (s *scanner) unquoted() ([]byte, error) {
	if err := s.expect('"'); err != nil {
		return nil, err
	}
	s.text = s.text[:0]
	for {
		n := plain(s.in[s.at:])
		s.text = append(s.text, s.in[s.at:s.at+n]...)
		s.at += n
		switch {
		case s.at == len(s.in):
			return nil, errEnd
		case s.one('"'):
			return s.text, nil
		case s.one('\\'):
			if err := s.escape(); err != nil {
				return nil, err
			}
		case s.in[s.at] < ' ':
			return nil, s.unexpected()
		default:
			r, size := utf8.DecodeRune(s.in[s.at:])
			s.text = utf8.AppendRune(s.text, r)
			s.at += size
		}
	}
}

// escape reads what follows a backslash.
func (s *scanner) escape() error {
	const names, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if s.at == len(s.in) {
		return errEnd
	}
	if i := bytes.IndexByte([]byte(names), s.in[s.at]); i >= 0 {
		s.text = append(s.text, meanings[i])
		s.at++
		return nil
	}
	if !s.one('u') {
		return s.unexpected()
	}
	r, err := s.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		r = s.pair(r)
	}
	s.text = utf8.AppendRune(s.text, r)
	return nil
}

// pair reads the other half of a surrogate pair. A half alone is U+FFFD.
func (s *scanner) pair(first rune) rune {
	rest := s.in[s.at:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return utf8.RuneError
	}
	back := s.at
	s.at += 2
	second, err := s.hex()
	r := utf16.DecodeRune(first, second)
	if err != nil || r == utf8.RuneError {
		s.at = back
	}
	return r
}

// hex reads four digits.
func (s *scanner) hex() (rune, error) {
	var r rune
	for range 4 {
		if s.at == len(s.in) {
			return 0, errEnd
		}
		switch c := s.in[s.at]; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, s.unexpected()
		}
		s.at++
	}
	return r, nil
}

// appendQuoted appends a text as a JSON string, exactly as encoding/json does
// when it isn't to escape HTML.
func appendQuoted[T ~string | ~[]byte](dst []byte, text T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			if r == '\u2028' || r == '\u2029' { // ends a line in old JavaScript
				dst = append(dst, `\u202`...)
				dst = append(dst, hex[r&0xf])
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			i += size
			continue
		}
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			if c < ' ' {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
			} else {
				dst = append(dst, c)
			}
		}
		i++
	}
	return append(dst, '"')
}
