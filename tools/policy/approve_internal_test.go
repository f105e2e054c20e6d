package policy

import (
	"testing"

	"github.com/writ-go/writ/tools"
)

func TestSourceLine(t *testing.T) {
	t.Parallel()
	const program = "a\r\nb\n\nd\u2028e\u2029f\rg"
	for line, want := range []string{"", "a", "b", "", "d", "e", "f", "g", ""} {
		if got := sourceLine(tools.Call{Program: program, Line: line}); got != want {
			t.Errorf("line %d is %q, not %q", line, got, want)
		}
	}
	if got := sourceLine(tools.Call{Line: 1}); got != "" {
		t.Errorf("without a program, line 1 is %q", got)
	}
}
