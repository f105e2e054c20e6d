package engine

import (
	"errors"
	"sort"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/writ-go/writ/sandbox/internal/check"
)

// source is the text of a program and the geometry of its lines.
type source struct {
	text     string
	prologue string // what the wrapped program has before it
	renamed  string // the text with other names for the fields that goja does not know; "" if there are none
	starts   []int  // offsets of the lines
	callees  []check.Callee
}

func newSource(text string) *source {
	s := &source{text: text, prologue: prologue, starts: []int{0}}
	for i := range len(text) {
		if endsLine(text, i) {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// endsLine reports whether text[i] is the last byte of what ends a line in
// JavaScript.
func endsLine(text string, i int) bool {
	switch text[i] {
	case '\n':
		return true
	case '\r':
		return i+1 == len(text) || text[i+1] != '\n'
	case 0xA8, 0xA9: // of U+2028 and U+2029
		return i >= 2 && text[i-2] == 0xE2 && text[i-1] == 0x80
	}
	return false
}

// Line returns a line of a program, counted from 1, without what ends it.
func Line(text string, line int) string {
	s := newSource(text)
	if line < 1 || line > len(s.starts) {
		return ""
	}
	return s.line(line)
}

// Lines returns all of them.
func Lines(text string) []string {
	s := newSource(text)
	lines := make([]string, len(s.starts))
	for i := range lines {
		lines[i] = s.line(i + 1)
	}
	return lines
}

func (s *source) line(line int) string {
	end := len(s.text)
	if line < len(s.starts) {
		end = s.starts[line]
	}
	return strings.TrimRight(s.text[s.starts[line-1]:end], "\r\n\u2028\u2029")
}

// At is the place of an offset in a program.
func At(text string, offset int) Pos { return newSource(text).pos(offset) }

// pos translates an offset.
func (s *source) pos(offset int) Pos {
	line := sort.SearchInts(s.starts, offset+1)
	return Pos{Line: line, Column: utf16Len(s.text[s.starts[line-1]:offset]) + 1}
}

// fromIdx translates a place in the wrapped program; the zero Pos if it is in
// the wrapping.
func (s *source) fromIdx(idx file.Idx) Pos {
	offset := int(idx) - 1 - len(s.prologue)
	if offset < 0 || offset > len(s.text) {
		return Pos{}
	}
	return s.pos(offset)
}

// fromFrame translates a place in the wrapped program as goja counts it in
// stack traces. For a call goja names the parenthesis; people look at the name.
func (s *source) fromFrame(line, column int) Pos {
	idx := s.idx(line, column)
	for _, c := range s.callees {
		if c.Parenthesis == idx {
			idx = c.Name
		}
	}
	return s.fromIdx(idx)
}

// parse parses the wrapped program.
func (s *source) parse(name string) (*ast.Program, error) {
	wrapped := s.prologue + s.text + epilogue
	if s.renamed != "" {
		return mend(name, wrapped, renameRests(s.prologue+s.renamed+epilogue))
	}
	tree, err := parseByGoja(name, wrapped)
	switch {
	case onlyBadTargets(err):
		return mend(name, wrapped, wrapped)
	case errors.Is(err, errPanic):
		return mend(name, wrapped, renameRests(wrapped))
	}
	return tree, err
}

// idx is the place in the wrapped program; 0 if there is none.
func (s *source) idx(line, column int) file.Idx {
	if line < 1 || line > len(s.starts) {
		return 0
	}
	offset := s.starts[line-1] + column - 1
	if line > 1 {
		offset += len(s.prologue)
	}
	return file.Idx(offset + 1)
}

// fromLine translates a line and a column in bytes of the program itself. A
// place beyond the end is the end.
func (s *source) fromLine(line, column int) Pos {
	if line < 1 {
		return Pos{}
	}
	if line > len(s.starts) {
		return s.pos(len(s.text))
	}
	return s.pos(min(s.starts[line-1]+max(column, 1)-1, len(s.text)))
}

// fromRunes is fromLine for a column in characters.
func (s *source) fromRunes(line, column int) Pos {
	if line < 1 || line > len(s.starts) {
		return s.fromLine(line, column)
	}
	start := s.starts[line-1]
	for offset := range s.text[start:] {
		if column--; column == 0 {
			return s.pos(start + offset)
		}
	}
	return s.pos(len(s.text))
}

// around returns what stands on the line before a place, and from there on.
func (s *source) around(at Pos) (before, behind string) {
	if at.Line < 1 {
		return "", ""
	}
	start := s.starts[at.Line-1]
	end := len(s.text)
	if at.Line < len(s.starts) {
		end = s.starts[at.Line]
	}
	line := s.text[start:end]
	units := 1
	for i, r := range line {
		if units >= at.Column {
			return line[:i], line[i:]
		}
		units += max(utf16.RuneLen(r), 1)
	}
	return line, ""
}

func utf16Len(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// fromGoja is fromFrame for syntax errors, which may be found only behind the
// program's end.
func (s *source) fromGoja(line, column int) Pos {
	if line == 1 {
		column -= len(s.prologue)
	}
	return s.fromLine(line, column)
}
