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

// lax reads JSON as models write it and turns it into JSON: with comments, trailing commas, bare keys,
// other quotes, line breaks in texts, and Python's literals. It goes through the text once. What could
// mean something else is an error: an expression, an ellipsis, a missing bracket.
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
	errBackslashes = errors.New(`it has backslashes that are not escaped next to escapes such as \n; write each backslash as \\`)
)

// readJSON reads the value that a text begins with, and returns what follows it.
func readJSON(text string) (value json.RawMessage, rest string, err error) {
	l := &lax{text: text}
	if err := l.value(); err != nil {
		return nil, "", err
	}
	return l.out, text[l.at:], nil
}

// wholeJSON reads a text that is one value.
func wholeJSON(text string) (json.RawMessage, error) {
	value, rest, err := readJSON(text)
	if err == nil && !blank(rest) {
		err = (&lax{text: text, at: len(text) - len(strings.TrimSpace(rest))}).unexpected("the end")
	}
	return value, err
}

// peek returns the next byte that is neither white space nor in a comment, 0 at the end. A comment with
// an ellipsis may stand for what is left out; it is returned.
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
	end := open + 2 // as ASCII has them
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

// key reads the name of a member and the colon after it.
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
	"true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null", "undefined": "null",
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

// string reads a text in quotes.
func (l *lax) string(quote byte) error {
	l.at++
	var b strings.Builder
	var slashes, letters bool // the text has backslashes of its own; it has escapes such as \n
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch c := rest[0]; {
		case c == '\\':
			n, text, err := escape(rest)
			if err != nil {
				return err
			}
			if text == "" {
				slashes, text = true, rest[:n]
			} else if strings.IndexByte("bfnrt", rest[1]) >= 0 {
				letters = true
			}
			b.WriteString(text)
			l.at += n
		case c == quote && (c != '\'' || !l.apostrophe()):
			if slashes && letters {
				return errBackslashes
			}
			l.at++
			l.out = append(l.out, Quote(b.String())...)
			return nil
		case quote == '`' && strings.HasPrefix(rest, "${"):
			return errors.New("a text in it is to be computed; write it out")
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	return errCutValue
}

// apostrophe reports whether a single quote stands within a word: 'it's'.
func (l *lax) apostrophe() bool {
	before, _ := utf8.DecodeLastRuneInString(l.text[:l.at])
	next, _ := utf8.DecodeRuneInString(l.text[l.at+1:])
	return unicode.IsLetter(before) && unicode.IsLetter(next)
}

// escape reads what begins with a backslash, and is n bytes long. The text is empty if it is no
// escape of JSON's.
func escape(rest string) (n int, text string, err error) {
	if len(rest) < 2 {
		return 0, "", errCutValue
	}
	n = 2
	switch c := rest[1]; c {
	case '\'', '`':
		return n, string(c), nil
	case 'u':
		n = 6
		if len(rest) >= 12 && rest[6:8] == `\u` && strings.EqualFold(rest[2:3], "d") && strings.ContainsAny(rest[3:4], "89abAB") {
			n = 12
		}
	}
	if n > len(rest) || json.Unmarshal([]byte(`"`+rest[:n]+`"`), &text) != nil {
		_, size := utf8.DecodeRuneInString(rest[1:])
		return 1 + size, "", nil
	}
	if strings.HasPrefix(text, "\ufffd") && !strings.EqualFold(rest[:6], `\ufffd`) {
		return 0, "", fmt.Errorf("it has half of a character, %s; write the character itself", rest[:6])
	}
	return n, text, nil
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
	return fmt.Errorf("there is %q in line %d where %s was expected", r, 1+strings.Count(l.text[:l.at], "\n"), wanted)
}
