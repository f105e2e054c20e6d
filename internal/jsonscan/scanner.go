// Package jsonscan counts the values in JSON and splits JSON into its parts, without
// decoding it. As a Go value, a small JSON value takes fifty times as much memory as
// its text, so a limit on bytes alone does not limit memory.
//
// This code stops reading a document that has too many values:
//
//	scan := &jsonscan.Scanner{Limits: jsonscan.Limits{Values: 100_000}}
//	text, err := io.ReadAll(io.TeeReader(body, scan))
//	if errors.Is(err, jsonscan.ErrValues) {
//		// the document has too many values, and text is only its beginning
//	}
package jsonscan

import "errors"

// Limits are limits for a JSON text. Zero means no limit.
type Limits struct {
	// Values is the maximum number of values. Arrays, objects, array elements and object members count as values.
	Values int

	// Elements is the maximum number of elements if the text is an array. Elements of
	// nested arrays do not count.
	Elements int

	// Depth is the maximum depth of nested arrays and objects. An array of numbers has
	// depth 1.
	Depth int
}

// These errors of [Scanner.Write] say which limit the text exceeds.
var (
	ErrValues   = errors.New("too many JSON values")
	ErrElements = errors.New("too many elements in the JSON array")
	ErrDepth    = errors.New("JSON is nested too deeply")
)

// Scanner is an [io.Writer] that counts the values in the JSON text that is written to it, in pieces of any
// size. It does not keep the text, and it allocates no memory. It does not check that the text is valid JSON.
// If the text is invalid, the Scanner counts at least as many values as a decoder would decode before it finds
// the mistake.
type Scanner struct {
	Limits Limits

	values, elements, depth int
	err                     error

	begun    bool // the first value has begun
	array    bool // the text is an array
	inside   bool // the next byte belongs to a value or follows a value
	inString bool
	escaped  bool
}

// Values returns the number of values that have begun so far.
func (s *Scanner) Values() int { return s.values }

// Write counts the values in the next piece of the text. Once the text exceeds a limit, this and all further calls to
// Write return an error.
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

// begin counts a value that begins with the byte c. An object member begins with its name.
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

// over returns an error if the text exceeds a limit.
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

// Check returns an error if a JSON text exceeds a limit. It stops reading at that point.
func Check(text []byte, limits Limits) error {
	s := Scanner{Limits: limits}
	_, err := s.Write(text)
	return err
}
