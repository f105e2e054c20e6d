package codemode

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/tools"
)

// While a program waits for its tool, another client's program runs, however few may run at once.
// Shutdown lets the first one end.
func TestProgramsTakeTurns(t *testing.T) {
	t.Parallel()
	asked, answered := make(chan struct{}), make(chan struct{})
	set, err := tools.NewSet(t.Context(),
		tools.Func("wait", "", func(context.Context, struct{}) (string, error) {
			close(asked)
			<-answered
			return "done", nil
		}, nil))
	if err != nil {
		t.Fatal(err)
	}
	session, s := begin(t, setup{Options: Options{Tools: set}, workers: 1})
	first := make(chan execution)
	go func() {
		text, _ := ask(t, session, "execute_code", map[string]any{"code": `await wait({})`})
		var e execution
		if err := json.Unmarshal(text, &e); err != nil {
			t.Errorf("%v in %s", err, text)
		}
		first <- e
	}()
	<-asked
	if e := executeCode(t, session, map[string]any{"code": `1 + 1`}); string(e.Result) != "2" {
		t.Errorf("got %+v", e)
	}
	ended := make(chan error)
	go func() { ended <- s.Shutdown(t.Context()) }()
	close(answered)
	if e := <-first; string(e.Result) != `"done"` {
		t.Errorf("got %+v", e)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
