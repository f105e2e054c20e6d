package tools_test

import (
	"context"
	"slices"
	"testing"

	"github.com/writ-go/writ/tools"
)

// warned is a source without tools.
type warned string

// Tools implements [tools.Source].
func (warned) Tools(context.Context) ([]*tools.Tool, error) { return nil, nil }

// Warnings returns the warning.
func (w warned) Warnings() []string { return []string{string(w)} }

// What a server says does not control the terminal on which it is shown.
func TestErrorsAndWarningsAreDisplayable(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		`\u001b[2J\u202e`:  &tools.ToolError{Message: "\x1b[2J\u202e"},
		`tool a.b: \u009b`: &tools.ToolError{Tool: "a.b", Message: "\u009b"},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err.Error(), want)
		}
	}
	set, err := tools.NewSet(t.Context(), warned("\x1b[2J"))
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Warnings(); !slices.Equal(got, []string{`\u001b[2J`}) {
		t.Errorf("got %q", got)
	}
}
