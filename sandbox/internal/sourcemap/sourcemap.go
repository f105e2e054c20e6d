// Package sourcemap reads version 3 source maps, which map positions in generated code to lines and columns of a
// source. The maps must have one source.
//
//	m, err := sourcemap.Parse(data)
//	line, column, behind, ok := m.Origin(1, 5) // all count from 0
//
// A map comes from a compiler that has read untrusted source, so Parse validates it.
package sourcemap

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Map says where each part of generated code comes from.
type Map struct {
	lines [][]segment // the segments of each generated line
}

// segment is the beginning of a range of generated code, and the origin of the range.
type segment struct {
	column       int
	line, origin int // -1 if it has no origin
}

const nowhere = -1

// Parse reads a source map of one source.
func Parse(data []byte) (*Map, error) {
	var file struct {
		Version  int             `json:"version"`
		Mappings string          `json:"mappings"`
		Sections json.RawMessage `json:"sections"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	switch {
	case file.Version != 3:
		return nil, fmt.Errorf("source map: version %d is not supported, only version 3", file.Version)
	case file.Sections != nil:
		return nil, errors.New("source map: sections are not supported")
	}
	m := &Map{}
	var d decoder
	for line := range strings.SplitSeq(file.Mappings, ";") {
		segments, err := d.segments(line)
		if err != nil {
			return nil, fmt.Errorf("source map: generated line %d: %w", len(m.lines), err)
		}
		m.lines = append(m.lines, segments)
	}
	return m, nil
}

// decoder holds the fields of the last segment, because the fields of the next segment are relative to them.
type decoder struct {
	source, line, column int
}

func (d *decoder) segments(text string) ([]segment, error) {
	if text == "" {
		return nil, nil
	}
	var list []segment
	at := 0
	for part := range strings.SplitSeq(text, ",") {
		fields, err := decode(part)
		if err != nil {
			return nil, err
		}
		at += fields[0]
		s := segment{column: at, line: nowhere, origin: nowhere}
		if len(fields) > 1 {
			d.source += fields[1]
			d.line += fields[2]
			d.column += fields[3]
			s.line, s.origin = d.line, d.column
		}
		if d.source != 0 || at < 0 || d.line < 0 || d.column < 0 || max(at, d.line, d.column) > maxPosition {
			return nil, errors.New("a position is out of range")
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b segment) int { return a.column - b.column })
	return list, nil
}

// maxPosition bounds lines and columns.
const maxPosition = 1 << 30

// digits are the digits of base 64.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

var valueOf = func() (values [256]int8) {
	for i := range values {
		values[i] = -1
	}
	for i := range len(digits) {
		values[digits[i]] = int8(i)
	}
	return values
}()

// decode reads the numbers of a segment: one, four or five.
func decode(text string) ([]int, error) {
	var fields []int
	n, shift := 0, 0
	for i := range len(text) {
		v := int(valueOf[text[i]])
		switch {
		case v < 0:
			return nil, fmt.Errorf("%q is not a digit", text[i])
		case shift > 30 || len(fields) == 5:
			return nil, errors.New("a number is too long, or there are too many numbers")
		}
		n |= v & 31 << shift
		if shift += 5; v&32 == 0 {
			fields = append(fields, signed(n))
			n, shift = 0, 0
		}
	}
	if shift != 0 || len(fields) != 1 && len(fields) != 4 && len(fields) != 5 {
		return nil, fmt.Errorf("%.20q is not a segment", text)
	}
	return fields, nil
}

// signed returns a number whose lowest bit is its sign.
func signed(n int) int {
	if n&1 == 1 {
		return -(n >> 1)
	}
	return n >> 1
}

// Origin returns the origin of the segment that contains a position, and the number of columns between the
// beginning of the segment and the position. ok is false if the segment has no origin.
func (m *Map) Origin(line, column int) (originLine, originColumn, behind int, ok bool) {
	if line < 0 || line >= len(m.lines) {
		return 0, 0, 0, false
	}
	segments := m.lines[line]
	i := sort.Search(len(segments), func(i int) bool { return segments[i].column > column }) - 1
	if i < 0 || segments[i].line == nowhere {
		return 0, 0, 0, false
	}
	return segments[i].line, segments[i].origin, column - segments[i].column, true
}
