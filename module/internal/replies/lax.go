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
	comments []comment
	name     string // of the member that is read
	last     string // the value that was read before on this line, "" of an object
	behind   bool   // there is one on this line
	bare     bool   // a text was a word without quotes
	slashes  slashes
	mended   bool // a text had quotes in it that were not escaped
	unclosed bool // an object ended with the text, behind a whole member
	inner    bool // that was one within another
}

const maxLaxDepth = 200

var errCutValue = errors.New("it ends in the midst of a value")

// readLax reads the value that a text begins with, and returns where it ends.
func readLax(text string) (value json.RawMessage, l *lax, err error) {
	l = &lax{text: text}
	if err := l.value(); err != nil {
		return nil, l, err
	}
	if err := l.slashes.err(); err != nil {
		return nil, l, err
	}
	for _, c := range l.comments {
		if c.doubts() {
			return nil, l, fmt.Errorf("the comment %q makes it uncertain; leave comments out", strings.TrimSpace(c.text))
		}
	}
	return l.out.Bytes(), l, nil
}

// closed is the JSON of an object that lacks nothing but brackets at its end, if that is
// where the value ends. Of a list, an item may be missing with its bracket. A text with
// which anything else is wrong stays as it is.
func (s shape) closed(text string) string {
	l := &lax{text: text}
	if err := l.value(); err != nil || l.comments != nil || l.bare || !l.unclosed || !blank(text[l.at:]) || strings.HasSuffix(text, ",") || !s.known(l.out.Bytes()) {
		return text
	}
	return l.out.String()
}

// space passes over white space and comments.
func (l *lax) space() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch c := rest[0]; {
		case c == ' ', c == '\t', c == '\n', c == '\r':
			l.behind = l.behind && c != '\n'
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
	c := comment{text: text, name: l.name, value: ahead}
	if l.behind {
		c.value = l.last
	}
	l.comments = append(l.comments, c)
	l.behind = l.behind && end != "\n"
	l.at = min(len(l.text), l.at+len(open)+len(text)+len(end))
}

// ahead stands for the value that comes next.
const ahead = "\n"

// read notes the value that was read, also for the comments that stood before it.
func (l *lax) read(value string) {
	l.last, l.behind = value, true
	for i := len(l.comments) - 1; i >= 0 && l.comments[i].value == ahead; i-- {
		l.comments[i].name, l.comments[i].value = l.name, value
	}
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
	l.read(PlainText(text))
	return err
}

// construction begins a value as Python prints it: Person(name='Ada', age=36).
var construction = regexp.MustCompile(`^\p{Lu}\w*\((?:[a-z_]\w*=[^=])`)

func (l *lax) nested(read func() error) error {
	if l.depth++; l.depth > maxLaxDepth {
		return errors.New("it is nested too deeply")
	}
	defer func() {
		l.depth--
		l.last, l.behind = "", true
	}()
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
		case n > 0 && line >= 0 && l.closedBy(c):
			l.out.WriteByte('}')
			return nil
		case (c == 0 || l.fenceEnd()) && n > 0:
			l.unclosed, l.inner = true, l.inner || l.depth > 1
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

// closedBy reports whether the bracket that is next closes what is around the value that
// it stands in, so that the bracket of that is all that lacks: nothing follows it but
// others. Where nothing is around it, the bracket is taken for the right one.
func (l *lax) closedBy(c byte) bool {
	if c != ']' && c != '}' {
		return false
	}
	rest := strings.TrimLeft(l.text[l.at:min(len(l.text), l.at+maxLaxDepth)], "]} \t")
	if rest != "" && rest[0] != '\n' && !strings.HasPrefix(rest, "```") || strings.HasPrefix(strings.TrimLeft(rest, "]} \t\n"), ",") {
		return false
	}
	if l.depth == 1 {
		l.at++
	}
	return true
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
	l.name = PlainText(key)
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
		from := l.at
		c := l.peek()
		comma := n > 0 && (c == ',' || c == ';')
		if comma {
			l.at++
			c = l.peek()
		}
		switch {
		case c == end:
			l.at++
			l.out.WriteByte(']')
			return nil
		case comma || n == 0:
		case c == '}' && l.closedBy(c):
			l.out.WriteByte(']')
			return nil
		case c == '"' && l.out.Bytes()[l.out.Len()-1] == '"' && strings.Contains(l.text[from:l.at], "\n"): // one a line
		case c != '{' || l.out.Bytes()[l.out.Len()-1] != '}':
			return l.unexpected("a comma or " + string(end))
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

// ends reports a value that goes on where it should have ended.
func (l *lax) ends(before string) error {
	end, comments, behind := l.at, len(l.comments), l.behind
	c := l.peek()
	newLine := strings.Contains(l.text[end:l.at], "\n")
	if c != 0 && l.depth > 0 && !newLine && strings.IndexByte(before, c) < 0 {
		return l.unexpected("the end of the value")
	}
	l.at, l.comments, l.behind = end, l.comments[:comments], behind
	return nil
}

var literals = map[string]string{
	"true": "true", "True": "true", "false": "false", "False": "false", "null": "null", "None": "null", "undefined": "null",
}

var bareWord = regexp.MustCompile(`^[\pL\pN_.+-]+`)

// spelledNumber is what may be more than a number: a telephone's, a postal code.
var spelledNumber = regexp.MustCompile(`^[+]|^-?0\d|_`)

// signed finds what JSON5 takes for a number, and may be a telephone's.
var signed = regexp.MustCompile(`^\+\d+(?:\.\d+)?$`)

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
	if amount := bareAmount.FindStringSubmatch(l.text[l.at:min(len(l.text), l.at+100)]); amount != nil && l.depth > 0 {
		word, value = amount[1], string(Quote(amount[1]))
	}
	if value == "" && signed.MatchString(word) {
		value, l.bare = string(Quote(word)), true
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
	l.read(word)
	return l.ends(",;]})")
}

// bareAmount is a number with its unit, all there is of a value: 1.2 kg.
var bareAmount = regexp.MustCompile(`^(-?\d+(?:\.\d+)? ?[\pL°$€£%][\pL°/²³]{0,11}|(?:[$€£]|[A-Z]{3} )-?\d+(?:\.\d+)?)\s*[,}\]\n]`)

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
