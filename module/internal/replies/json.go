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

// lax converts the JSON that models write to strict JSON. It accepts comments, trailing commas, keys without quotes,
// other quotes, line breaks in strings, and the literals of Python. It reads its input once. Ambiguous input, such as
// an expression, an ellipsis or a missing bracket, is an error.
type lax struct {
	text  string
	at    int
	depth int
	out   []byte
}

const maxDepth = 200

var (
	errCutValue    = errors.New("it ends in the middle of a value")
	errAbbreviated = errors.New("it is abbreviated; write it in full")
	errEscape      = errors.New(`a string in it contains an unpaired surrogate escape, or an escape that JSON does ` +
		`not have; write the character itself, and a backslash as \\`)
)

// readJSON reads the value at the beginning of text, and returns the rest of text.
func readJSON(text string) (value json.RawMessage, rest string, err error) {
	l := &lax{text: text}
	if err := l.value(); err != nil {
		return nil, "", err
	}
	return l.out, text[l.at:], nil
}

// wholeJSON reads text that is a single value.
func wholeJSON(text string) (json.RawMessage, error) {
	value, rest, err := readJSON(text)
	if err == nil && !blank(rest) {
		err = (&lax{text: text, at: len(text) - len(strings.TrimSpace(rest))}).unexpected("the end")
	}
	return value, err
}

// peek returns the next byte that is neither white space nor in a comment, or 0 at the end. It does not skip a comment
// with an ellipsis, which may stand for omitted values.
func (l *lax) peek() byte {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		end := ""
		switch c := rest[0]; {
		case c == ' ', c == '\t', c == '\n', c == '\r':
			l.at++
			continue
		case strings.HasPrefix(rest, "//"), c == '#':
			end = "\n"
		case strings.HasPrefix(rest, "/*"):
			end = "*/"
		}
		comment, _, _ := strings.Cut(rest, end)
		if end == "" || l.depth == 0 || strings.Contains(comment, "...") || strings.Contains(comment, "…") {
			return rest[0]
		}
		l.at += min(len(rest), len(comment)+len(end))
	}
	return 0
}

func (l *lax) value() error {
	switch c := l.peek(); c {
	case '{', '[':
		return l.container(c)
	case '"', '\'', '`':
		return l.string(c)
	}
	return l.word()
}

// container reads an object or an array.
func (l *lax) container(open byte) error {
	if l.depth++; l.depth > maxDepth {
		return errors.New("it is nested too deeply")
	}
	end := open + 2 // in ASCII
	l.at++
	l.out = append(l.out, open)
	for first := true; l.peek() != end; first = false {
		if !first {
			l.out = append(l.out, ',')
		}
		if open == '{' {
			if err := l.key(); err != nil {
				return err
			}
		}
		if err := l.value(); err != nil {
			return err
		}
		if c := l.peek(); c == ',' {
			l.at++
		} else if c != end {
			return l.unexpected("a comma or " + string(end))
		}
	}
	l.at++
	l.depth--
	l.out = append(l.out, end)
	return nil
}

var bareKey = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*`)

// key reads a member's name and the colon after it.
func (l *lax) key() error {
	if c := l.peek(); c == '"' || c == '\'' {
		if err := l.string(c); err != nil {
			return err
		}
	} else {
		bare := bareKey.FindString(l.text[l.at:min(len(l.text), l.at+200)])
		if bare == "" {
			return l.unexpected("a name")
		}
		l.at += len(bare)
		l.out = append(l.out, Quote(bare)...)
	}
	if l.peek() != ':' {
		return l.unexpected("a colon")
	}
	l.at++
	l.out = append(l.out, ':')
	return nil
}

var literals = map[string]string{
	"true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null",
	"undefined": "null",
}

var (
	bareWord   = regexp.MustCompile(`^[\pL\pN_.+-]+`)
	jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$`)
)

// word reads a number or a literal.
func (l *lax) word() error {
	word := bareWord.FindString(l.text[l.at:min(len(l.text), l.at+1000)])
	value := literals[word]
	if jsonNumber.MatchString(word) {
		value = word
	} else if strings.HasPrefix(word, ".") && jsonNumber.MatchString("0"+word) {
		value = "0" + word
	}
	if value == "" {
		return l.unexpected("a value")
	}
	l.at += len(word)
	l.out = append(l.out, value...)
	return nil
}

// string reads a string in quotes.
func (l *lax) string(quote byte) error {
	from := len(l.out)
	l.out = append(l.out, '"')
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; {
		case c == '\\' && l.at+1 < len(l.text):
			if l.at++; l.text[l.at] != '\'' && l.text[l.at] != '`' {
				l.out = append(l.out, c)
			}
			l.out = append(l.out, l.text[l.at])
		case c == quote && (c != '\'' || !l.apostrophe()):
			l.at++
			l.out = append(l.out, '"')
			if _, ok := quotedText(string(l.out[from:])); !ok {
				return errEscape
			}
			return nil
		case c == '"', c < ' ':
			l.out = fmt.Appendf(l.out, `\u%04x`, c)
		case quote == '`' && strings.HasPrefix(l.text[l.at:], "${"):
			return errors.New("a string in it is an expression; write its value")
		default:
			l.out = append(l.out, c)
		}
	}
	return errCutValue
}

// apostrophe reports whether a single quote is within a word, as in 'it's'.
func (l *lax) apostrophe() bool {
	before, _ := utf8.DecodeLastRuneInString(l.text[:l.at])
	next, _ := utf8.DecodeRuneInString(l.text[l.at+1:])
	return unicode.IsLetter(before) && unicode.IsLetter(next)
}

func (l *lax) unexpected(wanted string) error {
	if l.at >= len(l.text) {
		return errCutValue
	}
	rest := l.text[l.at:]
	if strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, "…") || rest[0] == '/' || rest[0] == '#' {
		return errAbbreviated
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return fmt.Errorf("line %d has %q instead of %s", 1+strings.Count(l.text[:l.at], "\n"), r, wanted)
}
