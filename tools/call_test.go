package tools_test

import (
	"testing"

	"github.com/writ-go/writ/tools"
)

func TestSourceLine(t *testing.T) {
	t.Parallel()
	const program = "a\r\nb\n\nd\u2028e\u2029f\rg"
	for line, want := range []string{"", "a", "b", "", "d", "e", "f", "g", ""} {
		if got := (tools.Call{Program: program, Line: line}).SourceLine(); got != want {
			t.Errorf("line %d is %q, not %q", line, got, want)
		}
	}
	if got := (tools.Call{Line: 1}).SourceLine(); got != "" {
		t.Errorf("without a program, line 1 is %q", got)
	}
}

func TestClassString(t *testing.T) {
	t.Parallel()
	for class, want := range map[tools.Class]string{tools.Effect: "effect", tools.Idempotent: "idempotent",
		tools.Read: "read", 7: "class 7"} {
		if got := class.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
