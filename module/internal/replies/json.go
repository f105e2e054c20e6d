package replies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lax reads JSON as models write it and turns it into JSON: with comments, trailing commas, bare
// keys, quotes of other kinds, line breaks in texts, and Python's literals. It goes through the text once. What could
// mean something else is an error: an expression, an ellipsis, a missing bracket.
type lax struct {
	text  string
	at    int
	depth int
	out   bytes.Buffer

	abbreviated bool // a comment may stand for what is left out
}

const maxDepth = 200

var (
	errCutValue    = errors.New("it ends in the middle of a value")
	errAbbreviated = errors.New("it is abbreviated; write it in full")
)

// readJSON reads the value that a text begins with, and returns what follows it.
func readJSON(text string) (value json.RawMessage, rest string, err error) {
	l := &lax{text: text}
	if err = l.value(); err == nil && l.abbreviated {
		err = errAbbreviated
	}
	if err != nil {
		return nil, "", err
	}
	return l.out.Bytes(), text[l.at:], nil
}

// wholeJSON reads a text that is one value.
func wholeJSON(text string) (json.RawMessage, error) {
	value, rest, err := readJSON(text)
	if l := (&lax{text: rest}); err == nil && l.peek() != 0 {
		err = l.unexpected("the end")
	}
	return value, err
}

// peek returns the next byte that is neither white space nor in a comment, 0 at the end.
func (l *lax) peek() byte {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch c := rest[0]; {
		case c == ' ', c == '\t', c == '\n', c == '\r':
			l.at++
		case strings.HasPrefix(rest, "\u00a0"):
			l.at += len("\u00a0")
		case l.depth > 0 && (strings.HasPrefix(rest, "//") || c == '#'):
			l.skip("\n")
		case l.depth > 0 && strings.HasPrefix(rest, "/*"):
			l.skip("*/")
		default:
			return c
		}
	}
	return 0
}

// skip passes over a comment, unless an ellipsis in it may stand for what is left out.
func (l *lax) skip(end string) {
	comment, _, _ := strings.Cut(l.text[l.at:], end)
	l.abbreviated = l.abbreviated || strings.Contains(comment, "...") || strings.Contains(comment, "…")
	l.at = min(len(l.text), l.at+len(comment)+len(end))
}

func (l *lax) value() error {
	switch c := l.peek(); {
	case c == 0:
		return errCutValue
	case c == '{', c == '[':
		if l.depth++; l.depth > maxDepth {
			return errors.New("it is nested too deeply")
		}
		l.at++
		err := error(nil)
		if c == '{' {
			err = l.object(':', '}')
		} else {
			err = l.array()
		}
		l.depth--
		return err
	}
	if open, _ := l.quote(); open == "" {
		return l.word()
	}
	text, err := l.string()
	l.out.Write(text)
	return err
}

// object reads members up to the bracket that ends them. A name that is given twice must have equal
// values.
func (l *lax) object(colon, end byte) error {
	l.out.WriteByte('{')
	seen := map[string][2]int{}
	for first := true; ; {
		c := l.peek()
		if c == end {
			l.at++
			l.out.WriteByte('}')
			return nil
		}
		before := l.out.Len()
		if !first {
			l.out.WriteByte(',')
		}
		name, from, err := l.member(colon)
		if err != nil {
			return err
		}
		if earlier, twice := seen[name]; twice {
			if !equalJSON(l.out.Bytes()[earlier[0]:earlier[1]], l.out.Bytes()[from:]) {
				return fmt.Errorf("the name %q is given twice, with different values", name)
			}
			l.out.Truncate(before)
		} else {
			seen[name], first = [2]int{from, l.out.Len()}, false
		}
		if err := l.comma(end); err != nil {
			return err
		}
	}
}

// member reads a member, whose value begins at from in the output.
func (l *lax) member(colon byte) (name string, from int, err error) {
	var key json.RawMessage
	if open, _ := l.quote(); open != "" {
		key, err = l.string()
	} else if bare := bareKey.FindString(l.text[l.at:min(len(l.text), l.at+200)]); bare != "" {
		l.at += len(bare)
		key = Quote(bare)
	} else {
		err = l.unexpected("a name")
	}
	if err == nil && l.peek() != colon {
		err = l.unexpected(string(colon))
	}
	if err != nil {
		return "", 0, err
	}
	l.at++
	l.out.Write(key)
	l.out.WriteByte(':')
	from = l.out.Len()
	return PlainText(key), from, l.value()
}

var bareKey = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*`)

func (l *lax) array() error {
	l.out.WriteByte('[')
	for first := true; ; first = false {
		if l.peek() == ']' {
			l.at++
			l.out.WriteByte(']')
			return nil
		}
		if !first {
			l.out.WriteByte(',')
		}
		if err := l.value(); err != nil {
			return err
		}
		if err := l.comma(']'); err != nil {
			return err
		}
	}
}

// comma passes over the comma after a value, which may be missing before the end, and at the end of a
// line.
func (l *lax) comma(end byte) error {
	from := l.at
	switch c := l.peek(); {
	case c == ',':
		l.at++
	case c == end:
	case c == '"' && strings.Contains(l.text[from:l.at], "\n"):
	default:
		return l.unexpected("a comma or " + string(end))
	}
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
	if l.at += len(word); l.at == len(l.text) && l.depth > 0 {
		return errCutValue
	}
	l.out.WriteString(value)
	return nil
}

// quotes are those in which texts stand: the longer first.
var quotes = [...][2]string{{`"""`, `"""`}, {`'''`, `'''`}, {`"`, `"`}, {`'`, `'`}, {"`", "`"}, {"“", "”"}}

// quote returns the quotes of the text that begins here.
func (l *lax) quote() (open, end string) {
	rest := l.text[l.at:]
	if strings.HasPrefix(rest, `""`) && !strings.HasPrefix(rest, `"""`) {
		return `"`, `"`
	}
	for _, q := range quotes {
		if strings.HasPrefix(rest, q[0]) {
			return q[0], q[1]
		}
	}
	return "", ""
}

// string reads a text in quotes.
func (l *lax) string() (json.RawMessage, error) {
	open, end := l.quote()
	l.at += len(open)
	var b strings.Builder
	var slashes, letters bool // the text has backslashes of its own; it has escapes such as \n
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		c := rest[0]
		switch {
		case c == '\\':
			n, text, err := escape(rest)
			if err != nil {
				return nil, err
			}
			if text == "" {
				slashes, text = true, rest[:n]
			} else if strings.IndexByte("bfnrt", rest[1]) >= 0 {
				letters = true
			}
			b.WriteString(text)
			l.at += n
		case c == '\'' && open == "'" && l.apostrophe():
			b.WriteByte(c)
			l.at++
		case strings.HasPrefix(rest, end):
			l.at += len(end)
			if slashes && letters {
				return nil, errors.New(`it has backslashes that are not escaped next to escapes such as \n; write each backslash as \\`)
			}
			return Quote(b.String()), nil
		case open == "`" && strings.HasPrefix(rest, "${"):
			return nil, errors.New("a text in it is to be computed; write it out")
		default:
			n := max(strings.IndexAny(rest, "\\'`$\"”"), 0)
			if n == 0 {
				_, n = utf8.DecodeRuneInString(rest)
			}
			b.WriteString(rest[:n])
			l.at += n
		}
	}
	return nil, errCutValue
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
	if strings.HasPrefix(l.text[l.at:], "...") || strings.HasPrefix(l.text[l.at:], "…") {
		return errAbbreviated
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.at:])
	return fmt.Errorf("there is %q in line %d where %s was expected", r, 1+strings.Count(l.text[:l.at], "\n"), wanted)
}
