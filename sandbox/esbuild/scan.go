package esbuild

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A program runs as the body of a function, which cannot contain import declarations, and
// esbuild does not expose its syntax tree. The compiler therefore finds the declarations
// here, token by token, and puts them before the program. If the scanner misses a
// declaration, the declaration stays where it is, and a later stage rejects it. The scanner
// does not mistake other code for a declaration, because import is a reserved word.

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
	text // a string literal
	template
	pattern
	punctuation
)

// scanner reads the tokens of a program.
type scanner struct {
	source string
	at     int
	last   token     // the previous token
	value  bool      // whether last ends an operand, so that / means division
	open   []bracket // the open brackets around the next token
}

// bracket is an open bracket.
type bracket struct {
	char  byte // '`' for the brace of ${ in a template literal
	value bool // whether the closing bracket ends an operand
}

// depth returns the number of open brackets.
func (s *scanner) depth() int { return len(s.open) }

// next skips comments and white space, and reads a token.
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

// text returns the text of a token.
func (s *scanner) text(t token) string { return s.source[t.start:t.end] }

// is reports whether a token is the given word or punctuation.
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

// space returns the number of bytes of the first character of text if it is white space or
// a line end, and 0 otherwise. text must not be empty.
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

// to advances by n bytes, or to the end of the source if n is negative.
func (s *scanner) to(n int) {
	if n < 0 {
		s.at = len(s.source)
		return
	}
	s.at += n
}

// read reads the token at the current position.
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

// beforeOperand contains the keywords that an operand can follow.
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

// template reads a template literal up to its end or to the next ${.
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

// sign reads punctuation. It distinguishes only what affects the meaning of a slash.
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
	case '+', '-': // after x++ an operand has ended; after ++ before x it has not
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

// beginsBlock reports whether an opening brace after the token before begins a block. The
// token does not end an operand.
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
