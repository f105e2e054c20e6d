package replies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// lax reads JSON as models write it and turns it into JSON: with comments,
// trailing or forgotten commas, bare keys, quotes of other kinds, line breaks in
// texts, and Python's literals. It goes through the text once.
//
// What it adds is only what cannot mean anything else. It is no JavaScript: an
// expression, an ellipsis, or a quote within a text is an error.
type lax struct {
	text     string
	at       int
	depth    int
	out      bytes.Buffer
	comments []string
	bare     bool // a text was a word without quotes
	unclosed bool // an object ended with the text, behind a whole member
}

const maxLaxDepth = 200

var errCutValue = errors.New("it ends in the midst of a value")

// readLax reads the value that a text begins with, and returns where it ends.
func readLax(text string) (value json.RawMessage, l *lax, err error) {
	l = &lax{text: text}
	if err := l.value(); err != nil {
		return nil, l, err
	}
	for _, c := range l.comments {
		if dubious(c) || abbreviates.MatchString(c) {
			return nil, l, fmt.Errorf("the comment %q makes it uncertain; leave comments out", strings.TrimSpace(c))
		}
	}
	return l.out.Bytes(), l, nil
}

// abbreviates finds comments that stand for what was left out.
var abbreviates = regexp.MustCompile(`(?i)\b(?:so on|and more|the rest|others?|omitted|continued?|remaining|similar|same)\b`)

// space passes over white space and comments.
func (l *lax) space() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch c := rest[0]; {
		case c == ' ', c == '\t', c == '\n', c == '\r':
			l.at++
		case strings.HasPrefix(rest, "\u00a0"):
			l.at += len("\u00a0")
		case strings.HasPrefix(rest, "//"):
			l.comment("//", "\n")
		case c == '#':
			l.comment("#", "\n")
		case strings.HasPrefix(rest, "/*"):
			l.comment("/*", "*/")
		default:
			return
		}
	}
}

func (l *lax) comment(open, end string) {
	text, _, _ := strings.Cut(l.text[l.at+len(open):], end)
	l.comments = append(l.comments, text)
	l.at = min(len(l.text), l.at+len(open)+len(text)+len(end))
}

// peek returns the next byte that is no space, 0 at the end.
func (l *lax) peek() byte {
	if l.space(); l.at < len(l.text) {
		return l.text[l.at]
	}
	return 0
}

func (l *lax) value() error {
	c := l.peek()
	switch {
	case c == 0:
		return errCutValue
	case c == '{':
		return l.nested(func() error { return l.object(':', '}') })
	case c == '[':
		return l.nested(func() error { return l.array(']') })
	case c == '(' && l.depth > 0:
		return l.nested(func() error { return l.array(')') })
	}
	if name := construction.FindString(l.text[l.at:min(len(l.text), l.at+200)]); name != "" {
		l.at += strings.IndexByte(name, '(')
		return l.nested(func() error { return l.object('=', ')') })
	}
	if open, _ := l.quoteAt(); open == "" {
		return l.word()
	}
	text, err := l.string()
	l.out.Write(text)
	return err
}

// construction begins a value as Python prints it: Person(name='Ada', age=36).
var construction = regexp.MustCompile(`^\p{Lu}\w*\((?:[a-z_]\w*=[^=])`)

func (l *lax) nested(read func() error) error {
	if l.depth++; l.depth > maxLaxDepth {
		return errors.New("it is nested too deeply")
	}
	defer func() { l.depth-- }()
	l.at++
	return read()
}

func (l *lax) object(colon, end byte) error {
	l.out.WriteByte('{')
	for n := 0; ; n++ {
		line := l.at
		c := l.peek()
		if (c == ',' || c == ';') && n > 0 {
			line = -1
			l.at++
			c = l.peek()
		}
		switch {
		case c == end:
			l.at++
			l.out.WriteByte('}')
			return nil
		case (c == 0 || l.fenceEnd()) && n > 0:
			l.unclosed = true
			l.out.WriteByte('}')
			return nil
		case n > 0 && line >= 0 && !strings.Contains(l.text[line:l.at], "\n"):
			return l.unexpected("a comma or " + string(end))
		case n > 0:
			l.out.WriteByte(',')
		}
		if err := l.member(colon); err != nil {
			return err
		}
	}
}

// fenceEnd reports whether a fence ends here, in which an object began.
func (l *lax) fenceEnd() bool {
	return strings.HasPrefix(l.text[l.at:], "```") && strings.HasSuffix(strings.TrimRight(l.text[:l.at], " \t"), "\n")
}

func (l *lax) member(colon byte) error {
	key, err := l.key()
	if err != nil {
		return err
	}
	if l.peek() != colon {
		return l.unexpected(string(colon))
	}
	l.at++
	l.out.Write(key)
	l.out.WriteByte(':')
	return l.value()
}

var bareKey = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*`)

func (l *lax) key() (json.RawMessage, error) {
	if open, _ := l.quoteAt(); open != "" {
		return l.string()
	}
	name := bareKey.FindString(l.text[l.at:min(len(l.text), l.at+200)])
	if name == "" {
		return nil, l.unexpected("a name")
	}
	l.at += len(name)
	return Quote(name), nil
}

func (l *lax) array(end byte) error {
	l.out.WriteByte('[')
	for n := 0; ; n++ {
		c := l.peek()
		if n > 0 && c == ',' {
			l.at++
			c = l.peek()
		} else if n > 0 && c != end && (c != '{' || l.out.Bytes()[l.out.Len()-1] != '}') {
			return l.unexpected("a comma or " + string(end))
		}
		if c == end {
			l.at++
			l.out.WriteByte(']')
			return nil
		}
		if n > 0 {
			l.out.WriteByte(',')
		}
		if err := l.value(); err != nil {
			return err
		}
		if l.unclosed {
			return errCutValue
		}
	}
}

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
	var b strings.Builder
	for from := l.at; l.at < len(l.text); {
		switch c := l.text[l.at]; {
		case c == '\\':
			b.WriteString(l.text[from:l.at])
			if err := l.escape(&b, open); err != nil {
				return nil, err
			}
			from = l.at
		case c == end[0] && strings.HasPrefix(l.text[l.at:], end):
			b.WriteString(l.text[from:l.at])
			l.at += len(end)
			return Quote(b.String()), l.ends(":,;]})")
		default:
			l.at++
		}
	}
	return nil, errCutValue
}

// ends reports a value that goes on where it should have ended.
func (l *lax) ends(before string) error {
	end, comments := l.at, len(l.comments)
	c := l.peek()
	newLine := strings.Contains(l.text[end:l.at], "\n")
	if c != 0 && l.depth > 0 && !newLine && strings.IndexByte(before, c) < 0 {
		return l.unexpected("the end of the value")
	}
	l.at, l.comments = end, l.comments[:comments]
	return nil
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
	}
	var text string
	if n > len(rest) || json.Unmarshal([]byte(`"`+rest[:n]+`"`), &text) != nil {
		return fmt.Errorf("it has the escape %q in a text, which JSON does not know", rest[:min(n, len(rest))])
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

var literals = map[string]string{
	"true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null",
}

var bareWord = regexp.MustCompile(`^[\pL\pN_.+-]+`)

// spelledNumber is what may be more than a number: a telephone's, a postal code.
var spelledNumber = regexp.MustCompile(`^[+]|^-?0\d|_`)

// word reads a number or a literal. Nothing of an expression may follow.
func (l *lax) word() error {
	word := bareWord.FindString(l.text[l.at:min(len(l.text), l.at+1000)])
	value := literals[word]
	if underscores.MatchString(word) {
		value = strings.ReplaceAll(strings.TrimPrefix(word, "+"), "_", "")
	}
	if value == "" && !spelledNumber.MatchString(word) {
		value = decimal(word)
	}
	switch {
	case strings.Contains(word, "..."), strings.HasPrefix(l.text[l.at:], "…"):
		return errors.New("it is abbreviated; write it in full")
	case value == "" && l.depth > 0 && l.wordAlone(word):
		value, l.bare = string(Quote(word)), true
	case value == "" && len(word) > 0 && l.at+len(word) == len(l.text):
		l.at += len(word)
		return errCutValue
	case value == "":
		return l.unexpected("a value")
	}
	l.at += len(word)
	if l.at == len(l.text) && l.depth > 0 && literals[word] == "" {
		return errCutValue // the number may have had more digits
	}
	l.out.WriteString(value)
	return l.ends(",;]})")
}

// wordAlone reports whether a word is all there is of a value.
func (l *lax) wordAlone(word string) bool {
	rest := l.text[l.at+len(word):]
	return lowerWord.MatchString(word) && rest != "" && (rest[0] == ',' || rest[0] == '}' || rest[0] == ']')
}

var lowerWord = regexp.MustCompile(`^[\pL][\pL_-]*$`)

func (l *lax) unexpected(wanted string) error {
	if l.at >= len(l.text) {
		return errCutValue
	}
	if strings.HasPrefix(l.text[l.at:], "...") || strings.HasPrefix(l.text[l.at:], "…") {
		return errors.New("it is abbreviated; write it in full")
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.at:])
	return fmt.Errorf("there is %q in line %d where %s was expected", r, 1+strings.Count(l.text[:l.at], "\n"), wanted)
}
