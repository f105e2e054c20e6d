package prompt

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// The lines that PastProgram omits are replaced by a comment, so that the program stays JavaScript.
func TestPastProgram(t *testing.T) {
	t.Parallel()
	code := strings.Repeat("await send({to: 'Rat'});\n", 1000)
	got := PastProgram(code)
	head, tail, cut := strings.Cut(got, "\n// … 23075 characters omitted …\n")
	if !cut || !strings.HasPrefix(code, head) || !strings.HasSuffix(code, tail) || len(got) > pastProgram {
		t.Errorf("got %d bytes:\n%s", len(got), got)
	}
	if short := "submit({})"; PastProgram(short) != short {
		t.Errorf("got %s", PastProgram(short))
	}
}

// A turn without an answer lists its calls without IDs, in a limited number of bytes.
func TestPastTurn(t *testing.T) {
	t.Parallel()
	calls := []journal.Entry{{
		ID: "E1", Tool: "pay", Class: tools.Effect, Args: json.RawMessage(`{}`), State: journal.StateFailed, Err: errors.New("no"),
	}}
	for range 200 {
		calls = append(calls, journal.Entry{
			ID: "E2", Tool: "send", Class: tools.Effect, Args: json.RawMessage(`{"to":"Rat"}`), State: journal.StateOK,
		})
	}
	got := PastTurn{Failed: 2, Why: "the time was up", Calls: calls}.String()
	want := `Not shown: 2 failed, refused or stopped programs.
This question was not answered: the time was up.
Reported an error, but may have taken effect:
- pay({}) → no
Calls that were made:
- send ×200, from {"to":"Rat"} to {"to":"Rat"}
Check whether such a call took effect before you repeat it.`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
