package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

func TestEntryJSON(t *testing.T) {
	t.Parallel()
	e := journal.Entry{
		ID: "E1", Step: 1, Attempt: 2, Tool: "mail.send", Class: tools.Idempotent,
		Args: json.RawMessage(`{"to":"ann"}`), State: journal.StateFailed, Err: errors.New("no route"),
	}
	raw, err := json.Marshal(e)
	const want = `{"id":"E1","step":1,"attempt":2,"tool":"mail.send","class":"idempotent","args":{"to":"ann"},` +
		`"state":"failed","error":"no route"}`
	if err != nil || string(raw) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, raw, want)
	}
	var back journal.Entry
	err = json.Unmarshal(raw, &back)
	if err != nil || back.Err == nil || back.Err.Error() != "no route" || back.Class != e.Class || back.ID != e.ID {
		t.Errorf("read back: %v %+v", err, back)
	}
	const unknown = `hints: unknown class "writes"; use effect, idempotent, read or unclassified`
	if err := json.Unmarshal([]byte(`{"class":"writes"}`), &back); err == nil || err.Error() != unknown {
		t.Errorf("an unknown class: %v", err)
	}
	if _, err := json.Marshal(tools.Class(7)); err == nil {
		t.Error("a class that does not exist was written")
	}
}

// String returns an entry on one line.
func TestString(t *testing.T) {
	t.Parallel()
	e := journal.Entry{
		ID: "E1", Tool: "mail.send", Args: json.RawMessage(`{"to":"ann"}`),
		State: journal.StateOK, Result: json.RawMessage(`"mail 1"`),
	}
	if got, want := fmt.Sprint(e), `E1 mail.send({"to":"ann"}) ok → "mail 1"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e.State, e.Result, e.Err = journal.StateUnknown, nil, errors.New("a timeout")
	if got, want := fmt.Sprint(e), `E1 mail.send({"to":"ann"}) unknown: a timeout`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	e.Args, e.Err = json.RawMessage("\"\u202e\""), errors.New("\x1b[2J")
	if got, want := fmt.Sprint(e), `E1 mail.send("\u202e") unknown: \u001b[2J`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
