package codemode

import (
	"context"
	"testing"

	"github.com/writ-go/writ/tools"
)

// While a program waits for its tool, another client's program runs, however few may run at once.
// Shutdown lets the first one end.
func TestProgramsTakeTurns(t *testing.T) {
	t.Parallel()
	asked, answered := make(chan struct{}), make(chan struct{})
	set := newSet(t, tools.Func("wait", "", func(context.Context, struct{}) (string, error) {
		close(asked)
		<-answered
		return "done", nil
	}, nil))
	session, s := begin(t, setup{Options: Options{Tools: set}, workers: 1})
	first := make(chan execution)
	go func() { first <- executeCode(t, session, map[string]any{"code": `await wait({})`}) }()
	<-asked
	wantResult(t, session, `1 + 1`, "2")
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
