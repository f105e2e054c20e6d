package check

import (
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Source is a program's text and translates positions in it.
type Source struct {
	Text     string
	prologue string // precedes the text in the wrapped program
	Acts     bool   // the program contains a call or a declaration
	*engine.LineTable
	callees []Callee
}

func newSource(text string) *Source {
	return &Source{Text: text, prologue: prologue, LineTable: engine.NewLineTable(text)}
}

// fromIdx returns the position in the program for an index in the wrapped program. It returns the zero Pos for an index
// outside of the program.
func (s *Source) fromIdx(idx file.Idx) engine.Pos {
	offset := int(idx) - 1 - len(s.prologue)
	if offset < 0 || offset > len(s.Text) {
		return engine.Pos{}
	}
	return s.Pos(offset)
}

// FromFrame returns the position in the program for a position in a stack trace. For a call, goja reports the position
// of the parenthesis; FromFrame returns the called name's position.
func (s *Source) FromFrame(line, column int) engine.Pos {
	idx := s.idx(line, column)
	for _, c := range s.callees {
		if c.Parenthesis == idx {
			idx = c.Name
		}
	}
	return s.fromIdx(idx)
}

// Callee returns the name that is called at a position in a stack trace, or "" if the program computes the called
// function.
func (s *Source) Callee(f Frame) string {
	idx := s.idx(f.Line, f.Column)
	for _, c := range s.callees {
		if at := int(c.Name) - 1 - len(s.prologue); c.Parenthesis == idx && at >= 0 && at < len(s.Text) {
			return calledName.FindString(s.Text[at:])
		}
	}
	return ""
}

var calledName = re(`^[\pL\pN_$]+`)

// parse parses the wrapped program with goja's parser.
func (s *Source) parse(name string) (*ast.Program, error) {
	return parseByGoja(name, s.prologue+s.Text+epilogue)
}

// idx returns the index of a position in the wrapped program, or 0 if the line does not exist.
func (s *Source) idx(line, column int) file.Idx {
	if line < 1 || line > s.Len() {
		return 0
	}
	offset := s.Start(line) + column - 1
	if line > 1 {
		offset += len(s.prologue)
	}
	return file.Idx(offset + 1)
}

// SkipSuper removes calls to super(…) from the top of a stack, so that an error whose class the program declares has
// the position of the new expression.
func (s *Source) SkipSuper(frames []Frame) []Frame {
	for len(frames) > 1 {
		at := int(s.idx(frames[0].Line, frames[0].Column)) - 1 - len(s.prologue)
		if at < 0 || at > len(s.Text) || !strings.HasSuffix(s.Text[:at], "super") {
			break
		}
		frames = frames[1:]
	}
	return frames
}

// fromLine converts a line and a column in bytes to a Pos. A position beyond the end of the text becomes the end of the
// text.
func (s *Source) fromLine(line, column int) engine.Pos {
	if line < 1 {
		return engine.Pos{}
	}
	if line > s.Len() {
		return s.Pos(len(s.Text))
	}
	return s.Pos(min(s.Start(line)+max(column, 1)-1, len(s.Text)))
}

// fromRunes converts a line and a column in characters to a Pos, whose columns are UTF-16 code units.
func (s *Source) fromRunes(line, column int) engine.Pos {
	if line < 1 || line > s.Len() {
		return s.fromLine(line, column)
	}
	start := s.Start(line)
	for offset := range s.Text[start:] {
		if column--; column == 0 {
			return s.Pos(start + offset)
		}
	}
	return s.Pos(len(s.Text))
}

// around returns the parts of a line before and after a position.
func (s *Source) around(at engine.Pos) (before, behind string) {
	if at.Line < 1 {
		return "", ""
	}
	line := s.Text[s.Start(at.Line):s.End(at.Line)]
	units := 1
	for i, r := range line {
		if units >= at.Column {
			return line[:i], line[i:]
		}
		units += max(utf16.RuneLen(r), 1)
	}
	return line, ""
}

// fromGoja converts a syntax error's position in the wrapped program, which may be beyond the end of the program, to a
// position in the program.
func (s *Source) fromGoja(line, column int) engine.Pos {
	if line == 1 {
		column -= len(s.prologue)
	}
	return s.fromLine(line, column)
}

// Frame is a position in the wrapped program.
type Frame struct{ Line, Column int }
