package check

import (
	"strings"
	"testing"

	"github.com/dop251/goja/file"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	const text = "ab\r\nü😀x\n\u2028\ty\rz"
	s := newSource(text)
	for part, at := range map[string][2]int{
		"a": {1, 1}, "b": {1, 2}, "ü": {2, 1}, "😀": {2, 2}, "x": {2, 4}, "\u2028": {3, 1}, "\t": {4, 1}, "y": {4, 2},
		"z": {5, 1},
	} {
		want := engine.Pos{Line: at[0], Column: at[1]}
		offset := strings.Index(text, part)
		if got := s.Pos(offset); got != want {
			t.Errorf("pos of %q: got %v, want %v", part, got, want)
		}
		if got := s.fromIdx(file.Idx(offset + 1 + len(prologue))); got != want {
			t.Errorf("fromIdx of %q: got %v, want %v", part, got, want)
		}
		if _, behind := s.around(want); !strings.HasPrefix(behind, part) {
			t.Errorf("around %q: got %q", part, behind)
		}
	}
	if got := s.fromIdx(3); got != (engine.Pos{}) {
		t.Errorf("a position in the prologue: got %v", got)
	}
	for line, want := range []string{"", "ab", "ü😀x", "", "\ty", "z", ""} {
		if got := engine.Line(text, line); got != want {
			t.Errorf("line %d: got %q, want %q", line, got, want)
		}
	}
	for _, at := range []struct{ line, column int }{{0, 0}, {9, 9}, {2, 99}, {-1, -1}, {2, 0}} {
		s.fromLine(at.line, at.column)
		s.fromRunes(at.line, at.column)
		s.FromFrame(at.line, at.column)
		s.fromGoja(at.line, at.column)
	}
}
