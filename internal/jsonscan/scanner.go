// Package jsonscan measures JSON text and finds its parts before anything is decoded.
// Small values take fifty times the memory of their text once they are Go values, so a
// limit on bytes alone does not limit memory.
//
// To stop reading a document that has too many values:
//
//	scan := &jsonscan.Scanner{Limits: jsonscan.Limits{Values: 100_000}}
//	text, err := io.ReadAll(io.TeeReader(body, scan))
//	if errors.Is(err, jsonscan.ErrValues) {
//		// only the beginning of the text was read
//	}
package jsonscan

import "errors"

// Limits bound a JSON text. Zero is no limit.
type Limits struct {
	// Values is how many values the text may have. Each array and object counts, and
	// so does each element of an array and each member of an object.
	Values int

	// Elements is how many elements the text may have if it is an array. Elements of
	// nested arrays do not count.
	Elements int

	// Depth is how deep arrays and objects may be nested. A text that is one array of
	// numbers has depth 1.
	Depth int
}

// The errors of [Scanner.Write] say which limit the text exceeds.
var (
	ErrValues   = errors.New("too many JSON values")
	ErrElements = errors.New("too many elements in the JSON array")
	ErrDepth    = errors.New("JSON is nested too deeply")
)

// Scanner is an [io.Writer] that measures the JSON text written to it, in pieces of any
// size. It keeps none of the text and allocates nothing. It does not check that the text
// is valid JSON: in an invalid text, it counts at least the values that a decoder decodes
// before it finds the mistake.
type Scanner struct {
	Limits Limits

	values, elements, depth int
	err                     error

	begun    bool // the beginning of a value has been seen
	array    bool // the text is an array
	inside   bool // the next byte belongs to a value or follows one
	inString bool
	escaped  bool
}

// Values returns the number of values that have begun so far.
func (s *Scanner) Values() int { return s.values }

// Write measures the next piece of the text. It fails if the text exceeds a limit, and
// then all further writes fail too.
func (s *Scanner) Write(text []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	for i, c := range text {
		if s.inString {
			switch {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '"':
				s.inString = false
			}
			continue
		}
		if s.err = s.structure(c); s.err != nil {
			return i, s.err
		}
	}
	return len(text), nil
}

// structure processes a byte outside of strings.
func (s *Scanner) structure(c byte) error {
	switch c {
	case ' ', '\t', '\r', '\n':
		return nil
	case ',':
		s.inside = false
		return nil
	case ']', '}':
		s.depth--
		s.inside = true
		return nil
	}
	begins := !s.inside
	if begins {
		s.begin(c)
	}
	switch c {
	case '"':
		s.inString = true
	case '[', '{':
		s.depth++
		s.inside = false
	default:
		if !begins {
			return nil
		}
	}
	return s.over()
}

// begin counts a value whose first byte is c. A member of an object begins with its name.
func (s *Scanner) begin(c byte) {
	s.inside = true
	s.values++
	if s.array && s.depth == 1 {
		s.elements++
	}
	if !s.begun {
		s.begun, s.array = true, c == '['
	}
}

func (s *Scanner) over() error {
	switch l := s.Limits; {
	case l.Elements > 0 && s.elements > l.Elements:
		return ErrElements
	case l.Depth > 0 && s.depth > l.Depth:
		return ErrDepth
	case l.Values > 0 && s.values > l.Values:
		return ErrValues
	}
	return nil
}

// Check returns an error if the document exceeds a limit. It stops reading there.
func Check(text []byte, limits Limits) error {
	s := Scanner{Limits: limits}
	_, err := s.Write(text)
	return err
}
