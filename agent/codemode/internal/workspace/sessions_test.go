package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

func openStore(t testing.TB, l workspace.Limits) (*workspace.Store, string) {
	t.Helper()
	dir := t.TempDir() + "/storage"
	store, err := workspace.Limited(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store, dir
}

// reopen opens a storage again, as another replica does.
func reopen(t *testing.T, dir string) *workspace.Store {
	t.Helper()
	store, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// runs runs a program in a session and compares its value.
func runs(t *testing.T, space *workspace.Space, handle string, box *sandbox.Sandbox, source, want string) {
	t.Helper()
	if got := shown(space.RunSession(t.Context(), handle, box, program(source))); got != want {
		t.Errorf("%s: got %s, want %s", source, got, want)
	}
}

func newSession(t testing.TB, space *workspace.Space) string {
	t.Helper()
	handle, err := space.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

// Two processes take turns in one session. Each continues where the other stopped, and the
// tool was called only once, by the first.
func TestSessionOfTwoProcesses(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
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

// A process is killed repeatedly in the middle of a run. The session continues after its last
// stored program.
func TestSessionSurvivesKill(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
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

// A process that stores one program after the other is killed repeatedly. The programs that
// it reported are stored, and the record is complete.
func TestSessionKilledWhileStoring(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	ann, box := store.Space("ann"), inProcess(t)
	handle := newSession(t, ann)
	runs(t, ann, handle, box, "let n = 0; n", "0")
	told := 0
	for round := range 12 {
		c := start(t, "count", dir)
		if _, err := fmt.Fprintln(c.in, handle); err != nil {
			t.Fatal(err)
		}
		for range round + 1 {
			told++
			if line, err := c.out.ReadString('\n'); err != nil || line != fmt.Sprintln(told) {
				t.Fatalf("%q, %v; want %d", line, err, told)
			}
		}
		c.die(t)
		got, err := strconv.Atoi(shown(ann.RunSession(t.Context(), handle, box, program("n"))))
		if err != nil || got < told {
			t.Fatalf("%d, %v; %d were reported", got, err, told)
		}
		told = got // it may have stored more than it reported
	}
}

// Programs of one session that are started at the same time, through two stores, run one
// after the other.
func TestSessionConcurrently(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	other := reopen(t, dir)
	box, ann := inProcess(t), store.Space("ann")
	handle := newSession(t, ann)
	runs(t, ann, handle, box, "let n = 0; n", "0")
	const each = 10
	var all sync.WaitGroup
	for _, space := range []*workspace.Space{ann, ann, other.Space("ann"), other.Space("ann")} {
		all.Go(func() {
			for range each {
				if _, err := space.RunSession(t.Context(), handle, box, program("n++")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	runs(t, ann, handle, box, "n", fmt.Sprint(4*each))
}

// A session continues in another process, which does not have it in memory, whatever the
// names of the tools.
func TestSessionWithOddToolNames(t *testing.T) {
	t.Parallel()
	store, dir := openStore(t, workspace.Limits{})
	other := reopen(t, dir)
	set, err := tools.NewSet(t.Context(), &tools.Tool{
		Namespace: "context7", Name: "resolve-library-id",
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`"/go/x"`), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	box := inProcess(t)
	handle := newSession(t, store.Space("ann"))
	for i, source := range []string{`const id = await context7.resolve_library_id({}); id`,
		`await context7["resolve-library-id"]({})`, `id`} {
		space := []*workspace.Store{store, other}[i%2].Space("ann")
		if got := shown(space.RunSession(t.Context(), handle, box,
			sandbox.Program{Source: source, Tools: set})); got != `"/go/x"` {
			t.Errorf("%s: %s", source, got)
		}
	}
}

func TestSessionsOfOthers(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	store, _ := openStore(t, workspace.Limits{Sessions: 2})
	ann, bob := store.Space("ann"), store.Space("bob")
	handle := newSession(t, ann)
	removed := newSession(t, bob)
	runs(t, bob, removed, box, "1", "1")
	if err := bob.RemoveSession(t.Context(), removed); err != nil {
		t.Error(err)
	}
	for _, h := range []string{handle, removed, "session-aaaaaa", "../x", ""} {
		out, err := bob.RunSession(t.Context(), h, box, program("1"))
		errorIs(t, h, err, workspace.ErrNotFound, fmt.Sprintf("workspace: not found: you have no session %q", h))
		if out != nil || bob.RemoveSession(t.Context(), h).Error() != err.Error() {
			t.Errorf("%q: %v", h, out)
		}
	}
	newSession(t, ann)
	list, err := ann.Sessions(t.Context())
	if err != nil || len(list) != 2 || list[0].Size != 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	oldest := slices.MinFunc(list, func(x, y workspace.SessionInfo) int { return x.Used.Compare(y.Used) })
	_, err = ann.NewSession(t.Context())
	errorIs(t, "count", err, workspace.ErrLimit,
		"workspace: over a limit: you have 2 sessions and the limit is 2; nothing was created. Remove one that is no "+
			"longer needed; "+oldest.Handle+" has been unused the longest")
}

func TestSessionBytes(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	store, _ := openStore(t, workspace.Limits{SessionBytes: 1000})
	ann := store.Space("ann")
	handle := newSession(t, ann)
	var err error
	ran := 0
	for ; err == nil && ran < 10; ran++ {
		_, err = ann.RunSession(t.Context(), handle, box, program("1"))
	}
	list, bad := ann.Sessions(t.Context())
	if bad != nil || len(list) != 1 || ran < 3 {
		t.Fatal(list, bad, ran)
	}
	errorIs(t, "full", err, workspace.ErrLimit,
		fmt.Sprintf("workspace: over a limit: the session's record has %d bytes and the limit is 1000; nothing "+
			"was run. Start a new session", list[0].Size))
}

// The record on disk is authoritative. If its end is missing, the session continues without
// it. If it was changed or has different rules, the session is lost, and the error says so.
func TestSessionRecord(t *testing.T) {
	t.Parallel()
	box := inProcess(t)
	strict, err := sandbox.NewInProcess(&sandbox.Options{Rules: &sandbox.Rules{Names: []string{"eval"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer strict.Close()
	store, dir := openStore(t, workspace.Limits{})
	ann := store.Space("ann")
	handle := newSession(t, ann)
	for i := range 3 {
		runs(t, ann, handle, box, fmt.Sprintf("const x%d = %d; x%d", i, i, i), fmt.Sprint(i))
	}
	found, err := filepath.Glob(dir + "/owners/*/sessions/*/record")
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	file := found[0]
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, record, source, want string
	}{
		{"as it was", string(whole), "[x0, x1, x2]", "[0,1,2]"},
		{"torn", string(whole[:len(whole)-1]), "[x0, x1, typeof x2]", `[0,1,"undefined"]`},
		{"more torn", string(whole[:len(whole)-70]), "let y = 1; [x0, x1, y]", "[0,1,1]"},
		{"a line is begun", string(whole) + "{", "[x0, x1, x2]", "[0,1,2]"},
		{"its end is empty", string(whole) + "\x00\x00", "[x0, x1, x2]", "[0,1,2]"},
		{"only its head is begun", "{", "typeof x0", `"undefined"`},
		{"empty", "", "typeof x0", `"undefined"`},
		{"changed", strings.Replace(string(whole), "x1", "y1", 1), "1",
			"error: workspace: sandbox: the session cannot be rebuilt: line 3 of its record: the line is damaged"},
	} {
		if err := os.WriteFile(file, []byte(c.record), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := shown(ann.RunSession(t.Context(), handle, box, program(c.source))); got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, got, c.want)
		}
		if strings.HasPrefix(c.want, "error") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if session, n, err := box.RestoreSession(text); err != nil || n != len(text) || session.Len() == 0 {
			t.Errorf("%s: then %d of %d bytes, %v", c.what, n, len(text), err)
		}
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.RunSession(t.Context(), handle, strict, program("1")); !errors.Is(err,
		sandbox.ErrSessionLost) || !strings.Contains(err.Error(), "no rules") {
		t.Error(err)
	}
	runs(t, ann, handle, box, "x2", "2")
	if _, err := ann.RunSession(t.Context(), handle, nil, program("1")); err == nil {
		t.Error("there is no sandbox")
	}
}

func program(source string) sandbox.Program { return sandbox.Program{Source: source} }
