package declare

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates the number of tokens in a string. For declarations and English prose
// the estimate is within 10% of the tokenizer o200k, usually above; it may be further off
// for single lines, other languages and the tokenizers of other models.
func Tokens(text string) int { return (hundredths(text) + 99) / 100 }

// hundredths estimates a string's tokens in hundredths, so that the estimates of lines can be added.
func hundredths(text string) int {
	s := splitter{text: text}
	n := 0
	for s.text != "" {
		n += s.piece()
	}
	return n
}

// splitter splits text as byte-pair tokenizers do before they consult their
// vocabulary: into words with the character before them, groups of three digits, runs of
// punctuation, and white space.
type splitter struct{ text string }

// piece consumes the next piece and returns its estimate in hundredths.
func (s *splitter) piece() int {
	r, size := utf8.DecodeRuneInString(s.text)
	switch {
	case unicode.IsLetter(r):
		return s.word()
	case unicode.IsDigit(r):
		s.take(3, unicode.IsDigit)
		return 100
	case unicode.IsSpace(r):
		return s.space()
	case s.letterAt(size): // a mark before a word is often part of the word's token
		s.text = s.text[size:]
		if r == '_' {
			return wordJoin + s.word()
		}
		return wordPrefix + s.word()
	default:
		return s.marks()
	}
}

const ( // in hundredths of a token
	wordPrefix = 52 // a mark right before a word
	wordJoin   = 25 // an underscore right before a word, as in list_users
	perMark    = 28 // each mark after the first in a run of punctuation
	wide       = 85 // a letter of a script other than Latin
)

func (s *splitter) letterAt(i int) bool {
	r, _ := utf8.DecodeRuneInString(s.text[i:])
	return unicode.IsLetter(r)
}

// word consumes capitals and then small letters, as in camel|Case.
func (s *splitter) word() int {
	upper := s.take(len(s.text), unicode.IsUpper)
	lower := s.take(len(s.text), func(r rune) bool { return unicode.IsLetter(r) && !unicode.IsUpper(r) })
	n := len(upper) + len(lower)
	if runes := utf8.RuneCountInString(upper + lower); n > runes*5/4 {
		return max(100, runes*wide)
	}
	switch {
	case n <= 7:
		return 100
	case n <= 12:
		return 118
	default:
		return 60 + n*7
	}
}

// space consumes white space. A single blank belongs to the piece after it.
func (s *splitter) space() int {
	if s.text[0] == ' ' && len(s.text) > 1 {
		s.text = s.text[1:]
		switch r, _ := utf8.DecodeRuneInString(s.text); {
		case unicode.IsLetter(r):
			return s.word()
		case !unicode.IsSpace(r) && !unicode.IsDigit(r):
			return s.marks()
		}
	}
	s.take(len(s.text), unicode.IsSpace)
	return 100
}

// marks consumes a run of punctuation and symbols, and the line ends after it.
func (s *splitter) marks() int {
	run := s.take(len(s.text), func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
	s.take(len(s.text), func(r rune) bool { return r == '\n' })
	return 100 + (len(run)-1)*perMark
}

// take consumes up to limit runes of a kind.
func (s *splitter) take(limit int, is func(rune) bool) string {
	n, count := 0, 0
	for n < len(s.text) && count < limit {
		r, size := utf8.DecodeRuneInString(s.text[n:])
		if !is(r) {
			break
		}
		n += size
		count++
	}
	cut := s.text[:n]
	s.text = s.text[n:]
	return cut
}
