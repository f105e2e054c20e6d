package engine

import (
	"sort"
	"strings"
	"unicode/utf16"
)

// LineTable knows where the lines of a program begin.
type LineTable struct {
	text   string
	starts []int // offsets
}

// NewLineTable returns the line table of a program.
func NewLineTable(text string) *LineTable {
	t := &LineTable{text: text, starts: []int{0}}
	for i := range len(text) {
		if EndsLine(text, i) {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// EndsLine reports whether text[i] is the last byte of a JavaScript line terminator.
func EndsLine(text string, i int) bool {
	switch text[i] {
	case '\n':
		return true
	case '\r':
		return i+1 == len(text) || text[i+1] != '\n'
	case 0xA8, 0xA9: // the last byte of U+2028 or U+2029 in UTF-8
		return i >= 2 && text[i-2] == 0xE2 && text[i-1] == 0x80
	}
	return false
}

// Len returns the number of lines.
func (t *LineTable) Len() int { return len(t.starts) }

// Start returns the offset at which a line begins. Lines count from 1.
func (t *LineTable) Start(line int) int { return t.starts[line-1] }

// End returns the offset after a line and its terminator.
func (t *LineTable) End(line int) int {
	if line < len(t.starts) {
		return t.starts[line]
	}
	return len(t.text)
}

// Line returns a line without its terminator, or "" if there is no such line.
func (t *LineTable) Line(line int) string {
	if line < 1 || line > t.Len() {
		return ""
	}
	return strings.TrimRight(t.text[t.Start(line):t.End(line)], "\r\n\u2028\u2029")
}

// Pos returns the position of an offset.
func (t *LineTable) Pos(offset int) Pos {
	line := sort.SearchInts(t.starts, offset+1)
	return Pos{Line: line, Column: UTF16Len(t.text[t.Start(line):offset]) + 1}
}

// UTF16Len returns the number of UTF-16 code units in a string.
func UTF16Len(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// Line returns one line of a program; see [LineTable.Line].
func Line(text string, line int) string { return NewLineTable(text).Line(line) }
