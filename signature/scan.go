package signature

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxText    = 64 << 10 // bytes of a signature
	maxFields  = 500      // fields on one side of the arrow
	maxNesting = 50       // levels of types within types
	maxChoices = 500      // alternatives of one union
	maxSchemas = 1000     // schemas; each one is compiled
)

// scanner scans a signature's source. If the source has a mistake, the methods panic with a syntaxError, which rescue
// turns into an error.
type scanner struct {
	text    string
	at      int
	depth   int
	schemas int // number of schemas read so far
}

type syntaxError struct{ error }

func newScanner(text string) (*scanner, error) {
	switch {
	case len(text) > maxText:
		return nil, fmt.Errorf("signature: the string has %d bytes; the limit is %d", len(text), maxText)
	case !utf8.ValidString(text):
		return nil, errors.New("signature: the string is not valid UTF-8")
	default:
		return &scanner{text: text}, nil
	}
}

// rescue recovers from the panic of a scanner and stores the error in *err.
func rescue(err *error) {
	switch p := recover().(type) {
	case nil:
	case syntaxError:
		*err = p
	default:
		panic(p)
	}
}

// fail panics with a syntaxError that names a position.
func (s *scanner) fail(at int, format string, args ...any) {
	panic(syntaxError{fmt.Errorf("signature: "+s.place(at)+": "+format, args...)})
}

func (s *scanner) place(at int) string {
	before := s.text[:at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	if strings.Contains(s.text, "\n") {
		return fmt.Sprintf("line %d, column %d", line, column)
	}
	return fmt.Sprintf("column %d", column)
}

// skip skips white space and returns the position.
func (s *scanner) skip() int {
	s.at = len(s.text) - len(strings.TrimLeftFunc(s.text[s.at:], unicode.IsSpace))
	return s.at
}

// sees reports whether a token comes next.
func (s *scanner) sees(token string) bool { return strings.HasPrefix(s.text[s.skip():], token) }

// take consumes a token if it comes next, and reports whether it did.
func (s *scanner) take(token string) bool {
	if !s.sees(token) {
		return false
	}
	s.at += len(token)
	return true
}

// want consumes a token, or fails if the token does not come next. The advice says what to write.
func (s *scanner) want(token, advice string) {
	if !s.take(token) {
		s.fail(s.at, "expected %q, found %s; %s", token, s.next(), advice)
	}
}

// next describes the next token.
func (s *scanner) next() string {
	s.skip()
	if s.at == len(s.text) {
		return "the end"
	}
	if word := s.peek(); word != "" {
		return fmt.Sprintf("%q", word)
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return fmt.Sprintf("%q", string(r))
}

// peek returns the next word, or "" if no word comes next.
func (s *scanner) peek() string {
	rest := s.text[s.skip():]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if end < 0 {
		end = len(rest)
	}
	return rest[:end]
}

func (s *scanner) word() string {
	word := s.peek()
	s.at += len(word)
	return word
}

// enter begins a type that may contain other types, and leave ends it.
func (s *scanner) enter() {
	if s.depth++; s.depth > maxNesting {
		s.fail(s.skip(), "types are nested deeper than %d; simplify them", maxNesting)
	}
}

func (s *scanner) leave() { s.depth-- }

// pythonic are the Python names of JSON literals.
var pythonic = map[string]json.RawMessage{
	"True": json.RawMessage("true"), "False": json.RawMessage("false"), "None": json.RawMessage("null"),
}

// value reads a JSON value, or a scalar in Python notation.
func (s *scanner) value() json.RawMessage {
	start := s.skip()
	if word := s.peek(); pythonic[word] != nil {
		s.at += len(word)
		return pythonic[word]
	}
	if s.sees("'") {
		return s.quoted()
	}
	decoder := json.NewDecoder(strings.NewReader(s.text[start:]))
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		s.fail(start, "expected a value, found %s; write it as JSON, such as \"text\", 1.5, true or [1, 2]", s.next())
	}
	s.at = start + int(decoder.InputOffset())
	return rewritten(value)
}

// quoted reads a string in single quotes.
func (s *scanner) quoted() json.RawMessage {
	start := s.at
	var b strings.Builder
	b.WriteByte('"')
	for s.at++; s.at < len(s.text) && s.text[s.at] != '\''; s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			b.WriteString(`\"`)
		case c == '\\' && strings.HasPrefix(s.text[s.at:], `\'`):
			b.WriteByte('\'')
			s.at++
		case c == '\\' && s.at+1 < len(s.text):
			b.WriteString(s.text[s.at : s.at+2])
			s.at++
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	value := json.RawMessage(b.String())
	if s.at == len(s.text) || !json.Valid(value) {
		s.fail(start, "the string in single quotes is not closed, or has an escape that JSON does not have; write it "+
			"in double quotes, as in JSON")
	}
	s.at++
	return rewritten(value)
}

// rewritten returns a value without white space, and a string with as few escapes as
// possible, so that equal strings have equal bytes.
func rewritten(value json.RawMessage) json.RawMessage {
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return literal(text)
	}
	return compact(value)
}
