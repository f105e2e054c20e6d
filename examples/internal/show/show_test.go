package show_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Nothing that a model or a tool writes controls the terminal.
func TestProgress(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[2Ja\u202e\u009b"
	var b strings.Builder
	report := show.Progress(&b)
	failed := sandbox.Call{Tool: "t", Error: &tools.ToolError{Message: evil}}
	outcome := &sandbox.Outcome{Failure: &sandbox.Failure{Finding: sandbox.Finding{Message: evil}}}
	for _, e := range []event.Event{
		event.ProgramStart{Code: evil}, event.ToolCallEnd{Call: failed},
		event.ToolCallEnd{Call: sandbox.Call{Tool: "t", Pending: true}}, event.ProgramEnd{Outcome: outcome},
	} {
		report(t.Context(), e)
	}
	want := `
   program:
   │ \u001b[2Ja\u202e\u009b
   → t()  0s  failed: \u001b[2Ja\u202e\u009b
   → t()  0s  not finished
   failed after 0s:
   ✗ \u001b[2Ja\u202e\u009b
`
	if got := b.String(); got != want {
		t.Errorf("got %q", got)
	}
}
