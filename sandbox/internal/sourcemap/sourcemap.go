// Package sourcemap reads source maps, version 3, as far as they say which line
// and column of one source a place of the generated text comes from.
//
//	m, err := sourcemap.Parse(data)
//	line, column, behind, ok := m.Origin(1, 5) // all count from 0
//
// A map comes from a compiler that has read what nobody has reviewed, so Parse
// takes nothing for granted.
package sourcemap

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Map says where each place of a generated text comes from.
type Map struct {
	lines [][]segment // by generated line
}

// segment is where a run of generated text begins, and where it comes from.
type segment struct {
	column       int
	line, origin int // -1 if it comes from nowhere
}

const nowhere = -1

// Parse reads a map of one source. It returns an error if it is none.
func Parse(data []byte) (*Map, error) {
	var file struct {
		Version  int             `json:"version"`
		Mappings string          `json:"mappings"`
		Sections json.RawMessage `json:"sections"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("source map: %w", err)
	}
	if file.Version != 3 || file.Sections != nil {
		return nil, fmt.Errorf("source map: version %d is not read, nor are sections; only plain maps of version 3", file.Version)
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

// decoder has the fields of the last segment, to which those of the next are
// relative.
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
		if d.source != 0 || at < 0 || d.line < 0 || d.column < 0 || max(at, d.line, d.column) > most {
			return nil, errors.New("it points out of the text")
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b segment) int { return a.column - b.column })
	return list, nil
}

// most is more lines and columns than any text has.
const most = 1 << 30

// digits are those of base 64.
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
			return nil, fmt.Errorf("%q is no digit", text[i])
		case shift > 30 || len(fields) == 5:
			return nil, errors.New("a number is too long, or there are too many")
		}
		n |= v & 31 << shift
		if shift += 5; v&32 == 0 {
			fields = append(fields, signed(n))
			n, shift = 0, 0
		}
	}
	if shift != 0 || len(fields) != 1 && len(fields) != 4 && len(fields) != 5 {
		return nil, fmt.Errorf("%.20q is no segment", text)
	}
	return fields, nil
}

// signed is a number whose lowest bit is its sign.
func signed(n int) int {
	if n&1 == 1 {
		return -(n >> 1)
	}
	return n >> 1
}

// Origin says where the text comes from that is at a place; ok is false if that is
// nowhere. The place is so many columns behind the beginning of that text.
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

// Shift moves the source by so many lines: up, if negative. What comes from lines
// that are then not there comes from nowhere.
func (m *Map) Shift(lines int) {
	for _, segments := range m.lines {
		for i := range segments {
			s := &segments[i]
			if s.line == nowhere {
				continue
			}
			if s.line += lines; s.line < 0 {
				s.line, s.origin = nowhere, nowhere
			}
		}
	}
}

// Push moves the generated text down by so many lines.
func (m *Map) Push(lines int) { m.lines = append(make([][]segment, lines), m.lines...) }

// JSON writes the map of a source.
func (m *Map) JSON() []byte {
	var b strings.Builder
	line, origin := 0, 0
	for i, segments := range m.lines {
		if i > 0 {
			b.WriteByte(';')
		}
		column := 0
		for j, s := range segments {
			if j > 0 {
				b.WriteByte(',')
			}
			encode(&b, s.column-column)
			column = s.column
			if s.line == nowhere {
				continue
			}
			encode(&b, 0)
			encode(&b, s.line-line)
			encode(&b, s.origin-origin)
			line, origin = s.line, s.origin
		}
	}
	return fmt.Appendf(nil, `{"version":3,"sources":["program"],"names":[],"mappings":%q}`, b.String())
}

func encode(b *strings.Builder, n int) {
	v := n << 1
	if n < 0 {
		v = -n<<1 | 1
	}
	for {
		digit := v & 31
		if v >>= 5; v > 0 {
			digit |= 32
		}
		b.WriteByte(digits[digit])
		if v == 0 {
			return
		}
	}
}
