package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/workspace"
)

func openStore(t testing.TB, o *workspace.Options) (*workspace.Store, string) {
	t.Helper()
	dir := t.TempDir() + "/storage"
	store, err := workspace.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store, dir
}

func newSession(t testing.TB, space *workspace.Space) string {
	t.Helper()
	handle, err := space.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

// Two processes take turns in one session: each goes on where the other was, and the
// tool was called once, by the first.
func TestSessionOfTwoProcesses(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, nil)
	handle := newSession(t, store.Space("ann"))
	a, b := start(t, "run", dir), start(t, "run", dir)
	defer a.end(t)
	defer b.end(t)
	for i, step := range []struct {
		in           *child
		source, want string
	}{
		{a, `const number = await next(); const chance = Math.random(); const list = [];`, "undefined"},
		{b, `list.push(number); const same = chance; list`, `[1]`},
		{a, `list.push(same === chance); list`, `[1,true]`},
		{a, `list.push("lost"); throw new Error("no")`, "failure: Error: no"},
		{b, `list.push(3); list`, `[1,true,3]`},
		{a, `[list, number]`, `[[1,true,3],1]`},
		{b, `list.length`, `3`},
	} {
		if got := step.in.do(t, handle+" "+step.source); got != step.want {
			t.Errorf("program %d: %s\ngot  %s\nwant %s", i, step.source, got, step.want)
		}
	}
	if calls, err := os.ReadFile(dir + ".calls"); err != nil || string(calls) != "x" {
		t.Errorf("%d calls were made, %v", len(calls), err)
	}
}

// A process is killed in the middle of a run, again and again. The session goes on
// where its last stored program was.
func TestSessionSurvivesKill(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, nil)
	handle := newSession(t, store.Space("ann"))
	for i := range 5 {
		c := start(t, "run", dir)
		source := `n += 1; n`
		if i == 0 {
			source = `let n = 1; n`
		}
		if got, want := c.do(t, handle+" "+source), fmt.Sprint(i+1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := c.do(t, handle+" n = 1000; await hang()"); got != "hanging" {
			t.Errorf("got %s", got)
		}
		c.die(t)
	}
	c := start(t, "run", dir)
	defer c.end(t)
	if got := c.do(t, handle+" n"); got != "5" {
		t.Errorf("got %s", got)
	}
}

func TestSessionsOfOthers(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	store, _ := openStore(t, nil)
	handle := newSession(t, store.Space("ann"))
	for _, h := range []string{handle, "session-aaaaaa", "../x", ""} {
		out, err := store.Space("bob").RunSession(t.Context(), h, box, sandbox.Program{Source: "1"})
		want := fmt.Sprintf("workspace: not found: you have no session %q", h)
		if out != nil || !errors.Is(err, workspace.ErrNotFound) || err.Error() != want {
			t.Errorf("%q: %v, %v", h, out, err)
		}
	}
}
