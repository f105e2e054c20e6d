package esbuild

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A program is run as the body of a function, where no import declaration may
// stand, and esbuild has no syntax tree to offer. So the declarations are found
// here, token by token, and put before the program. Where this goes wrong, one of
// them stays where it is, and is refused by who comes next; none is made up, for
// import is no name in JavaScript.

// token is one token of a program.
type token struct {
	kind       tokenKind
	start, end int
}

type tokenKind byte

const (
	atEnd tokenKind = iota
	word
	number
	text // a string
	template
	pattern
	punctuation
)

// scanner reads the tokens of a program.
type scanner struct {
	source string
	at     int
	last   token     // before the next
	value  bool      // whether that ends an operand, so that / divides
	open   []bracket // around the next
}

// bracket is one that is open.
type bracket struct {
	char  byte // '`' for that of a template's ${
	value bool // whether what it closes ends an operand
}

// depth is how many brackets are open.
func (s *scanner) depth() int { return len(s.open) }

// next reads a token. Comments and white space are none.
func (s *scanner) next() token {
	s.skip()
	t := token{start: s.at, kind: atEnd}
	if s.at < len(s.source) {
		t.kind = s.read()
	}
	t.end = s.at
	s.last = t
	return t
}

// text is what a token consists of.
func (s *scanner) text(t token) string { return s.source[t.start:t.end] }

// is reports whether a token is this word or sign.
func (s *scanner) is(t token, text string) bool {
	return (t.kind == word || t.kind == punctuation) && s.text(t) == text
}

func (s *scanner) skip() {
	for s.at < len(s.source) {
		rest := s.source[s.at:]
		switch {
		case strings.HasPrefix(rest, "//"):
			s.to(strings.IndexAny(rest, "\r\n\u2028\u2029"))
		case strings.HasPrefix(rest, "/*"):
			if end := strings.Index(rest[2:], "*/"); end >= 0 {
				s.at += end + 4
			} else {
				s.to(-1)
			}
		case space(rest) > 0:
			s.at += space(rest)
		default:
			return
		}
	}
}

// space is how long the white space is that a text begins with, if it is one
// character, which may end a line; 0 if there is none.
func space(text string) int {
	if text[0] < utf8.RuneSelf {
		if text[0] <= ' ' {
			return 1
		}
		return 0
	}
	r, size := utf8.DecodeRuneInString(text)
	if r == '\ufeff' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Zs, r) {
		return size
	}
	return 0
}

// to goes on by so many bytes; to the end if there are none to be found.
func (s *scanner) to(n int) {
	if n < 0 {
		s.at = len(s.source)
		return
	}
	s.at += n
}

// read reads the token that begins here.
func (s *scanner) read() tokenKind {
	c := s.source[s.at]
	switch {
	case inWord(c) && (c < '0' || c > '9'):
		return s.word()
	case '0' <= c && c <= '9':
		for s.at < len(s.source) && (inWord(s.source[s.at]) || s.source[s.at] == '.') {
			s.at++
		}
		s.value = true
		return number
	case c == '"' || c == '\'':
		s.quoted(c)
		return text
	case c == '`':
		s.at++
		s.template()
		return template
	case c == '/' && !s.value:
		s.pattern()
		return pattern
	}
	return s.sign(c)
}

// inWord reports whether a byte may be part of a name, or of an escape in one.
func inWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c == '#' ||
		c == '\\' || c >= 0x80
}

// beforeOperand are the words that an operand follows.
var beforeOperand = map[string]bool{
	"return": true, "typeof": true, "case": true, "in": true, "of": true, "delete": true, "void": true, "throw": true,
	"new": true, "instanceof": true, "else": true, "do": true, "await": true, "yield": true, "extends": true,
	"default": true,
}

func (s *scanner) word() tokenKind {
	start := s.at
	for s.at < len(s.source) && inWord(s.source[s.at]) && space(s.source[s.at:]) == 0 {
		s.at++
	}
	member := s.is(s.last, ".") || s.is(s.last, "?.")
	s.value = member || !beforeOperand[s.source[start:s.at]]
	return word
}

func (s *scanner) quoted(quote byte) {
	for s.at++; s.at < len(s.source); s.at++ {
		switch s.source[s.at] {
		case '\\':
			s.at++
		case quote:
			s.at++
			s.value = true
			return
		case '\n', '\r':
			s.value = true
			return
		}
	}
	s.at = len(s.source)
}

// template reads up to what ends a template, or interrupts it.
func (s *scanner) template() {
	for s.at < len(s.source) {
		switch {
		case s.source[s.at] == '\\':
			s.at = min(s.at+2, len(s.source))
		case s.source[s.at] == '`':
			s.at++
			s.value = true
			return
		case strings.HasPrefix(s.source[s.at:], "${"):
			s.at += 2
			s.open = append(s.open, bracket{'`', true})
			s.value = false
			return
		default:
			s.at++
		}
	}
}

func (s *scanner) pattern() {
	class := false
	for s.at++; s.at < len(s.source); s.at++ {
		switch c := s.source[s.at]; {
		case c == '\\':
			s.at++
		case c == '\n' || c == '\r':
			s.value = true
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.at++
			for s.at < len(s.source) && inWord(s.source[s.at]) {
				s.at++
			}
			s.value = true
			return
		}
	}
	s.at = len(s.source)
}

// sign reads a sign, of which only a few need be told apart.
func (s *scanner) sign(c byte) tokenKind {
	before, value := s.last, s.value
	s.at++
	switch c {
	case '(':
		head := s.is(before, "if") || s.is(before, "while") || s.is(before, "for") || s.is(before, "with")
		s.open = append(s.open, bracket{c, !head})
		s.value = false
	case '[':
		s.open = append(s.open, bracket{c, true})
		s.value = false
	case '{':
		s.open = append(s.open, bracket{c, !value && !s.beginsBlock(before)})
		s.value = false
	case ')', ']', '}':
		return s.closes(c)
	case '+', '-': // x++ is an operand, and so is what follows ++
		if s.at < len(s.source) && s.source[s.at] == c {
			s.at++
			s.value = value
			return punctuation
		}
		s.value = false
	case '!':
		s.value = value && !(s.at < len(s.source) && s.source[s.at] == '=')
	case '?':
		if strings.HasPrefix(s.source[s.at:], ".") {
			s.at++
		}
		s.value = false
	case '=':
		if strings.HasPrefix(s.source[s.at:], ">") {
			s.at++
		}
		s.value = false
	default:
		s.value = false
	}
	return punctuation
}

// beginsBlock reports whether a brace behind a token that ends no operand is that
// of a block.
func (s *scanner) beginsBlock(before token) bool {
	switch before.kind {
	case atEnd:
		return true
	case word:
		return s.is(before, "else") || s.is(before, "do")
	}
	switch s.text(before) {
	case ";", "{", "}", ")", "=>":
		return true
	}
	return false
}

// closes reads a closing bracket.
func (s *scanner) closes(c byte) tokenKind {
	s.value = c != '}'
	last := len(s.open) - 1
	if last < 0 {
		return punctuation
	}
	b := s.open[last]
	s.open = s.open[:last]
	if b.char == '`' && c == '}' {
		s.template()
		return template
	}
	s.value = b.value
	return punctuation
}
