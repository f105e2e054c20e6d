package codemode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/journal"
)

// stored is a folder of runs.
type stored struct {
	*journal.Dir
	t    *testing.T
	path string
}

func newStored(t *testing.T) stored {
	t.Helper()
	path := t.TempDir()
	dir, err := journal.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return stored{dir, t, path}
}

// office returns a new server with this store.
func (s stored) office() *office { return newOffice(s.t, setup{Options: Options{Journal: s}}) }

// fail runs a program of ada that fails, on a server that ends then. It returns the run.
func (s stored) fail() string {
	s.t.Helper()
	f := s.office()
	run := code(s.t, f.connect("ada"), "", annAndFail).Run
	if err := f.Close(); run == "" || err != nil {
		s.t.Fatalf("run %q, %v", run, err)
	}
	return run
}

// wantRuns compares the number of stored runs.
func (s stored) wantRuns(want int) {
	s.t.Helper()
	if all, err := s.Runs(s.t.Context()); err != nil || len(all) != want {
		s.t.Errorf("the store has %q (%v), want %d runs", all, err, want)
	}
}

// TestRetryLater retries a run on later servers: what is done is done once.
func TestRetryLater(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	if _, err := s.Open(t.Context(), "of-somebody-else"); err != nil {
		t.Fatal(err)
	}
	run := s.fail()
	for range 2 {
		f := s.office()
		if e := code(t, f.connect("bob"), run, annAndFail); e.ErrorType != notFound {
			t.Errorf("another principal: %+v", e)
		}
		session := f.connect("ada")
		if e := code(t, session, run, `let x = ;`); e.Run != run {
			t.Errorf("a program that does not begin: %+v", e)
		}
		wantHeld(t, code(t, session, run, `await send({to: "Ann"})`), "send with other arguments")
		if e := code(t, session, run, annAndFail); !e.Calls[0].Recorded || e.Run != run {
			t.Errorf("the same program: %+v", e)
		}
		f.wantSent("")
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	f := s.office()
	session := f.connect("ada")
	e := code(t, session, run, `await list({}); [await send({to: "ann"}), await send({to: "bob"})]`)
	if string(e.Result) != `["sent to ann","sent to bob"]` || e.Calls[0].Recorded || !e.Calls[1].Recorded {
		t.Errorf("got %+v", e)
	}
	f.wantSent("bob")
	s.wantRuns(1)
	code(t, session, "", `await list({})`)
	code(t, session, "", `await list({}); throw 1`)
	s.wantRuns(1)
}

// TestHeldLater holds, once, a call of any session that a program before the start of the server has made.
func TestHeldLater(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	run := s.fail()
	f := s.office()
	if e := code(t, f.connect("bob"), "", `await send({to: "ann"})`); !e.Success {
		t.Errorf("another principal: %+v", e)
	}
	session := f.connect("ada")
	wantHeld(t, code(t, session, "", `await send({to: "ann"})`), "from before the last start of this server failed",
		`retry_of: "`+run+`"`)
	if e := code(t, session, "", `await send({to: "ann"})`); !e.Success {
		t.Errorf("held twice: %+v", e)
	}
	f.wantSent("ann ann")
	if e := code(t, session, run, `await send({to: "ann"}); throw 1`); !e.Calls[0].Recorded {
		t.Errorf("got %+v", e)
	}
	if e := code(t, f.connect("ada"), "", `await send({to: "ann"})`); !e.Success {
		t.Errorf("held in another session than that of the retry: %+v", e)
	}
}

// TestRetryElsewhere retries a run on another server, while its own is there and after that.
func TestRetryElsewhere(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	f, other := s.office(), s.office()
	run := code(t, f.connect("ada"), "", annAndFail).Run
	session := other.connect("ada")
	if e := code(t, session, run, annAndFail); e.ErrorType != busy ||
		!strings.Contains(e.Diagnostics[0].Message, "belongs to another server") {
		t.Errorf("got %+v", e)
	}
	if e := code(t, other.connect("bob"), run, annAndFail); e.ErrorType != notFound {
		t.Errorf("another principal: %+v", e)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if e := code(t, session, run, `await send({to: "ann"})`); !e.Success || !e.Calls[0].Recorded {
		t.Errorf("got %+v", e)
	}
	other.wantSent("")
}

// TestRetryAfterClose closes a server during a call, whose outcome is then unknown on the next server.
func TestRetryAfterClose(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	f := s.office()
	session := f.connect("ada")
	const text = `await send({to: "ann"}); await slow({to: "bob"})`
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_code",
			Arguments: map[string]any{"code": text}})
	}()
	<-f.begun
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	other := s.office()
	session = other.connect("ada")
	e := code(t, session, "", text)
	wantHeld(t, e, "which is done")
	if e = code(t, session, e.Run, text); e.ErrorType != "UNKNOWN" || !e.Calls[0].Recorded || !e.Calls[1].Rejected {
		t.Errorf("got %+v", e)
	}
	if e = code(t, session, e.Run, `await send({to: "ann"})`); !e.Success || len(e.Warnings) != 1 {
		t.Errorf("got %+v", e)
	}
	f.wantSent("ann")
	other.wantSent("")
	s.wantRuns(0)
}

// TestRetryDamaged does nothing for a run whose log is damaged, and keeps the log.
func TestRetryDamaged(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	run := s.fail()
	logs, err := filepath.Glob(filepath.Join(s.path, run+".*", "log"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	text, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(logs[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	f := s.office()
	if e := code(t, f.connect("ada"), run, `await send({to: "bob"})`); e.ErrorType != errorServer ||
		!strings.Contains(e.Diagnostics[0].Message, "cannot be read, so nothing was run") {
		t.Errorf("got %+v", e)
	}
	if e := code(t, f.connect("bob"), run, "1"); e.ErrorType != notFound {
		t.Errorf("another principal: %+v", e)
	}
	f.wantSent("")
	if now, err := os.ReadFile(logs[0]); err != nil || !slices.Equal(now, text) {
		t.Errorf("the log has changed (%v)", err)
	}
	if got := f.written.String(); !strings.Contains(got, "is damaged") {
		t.Errorf("the server's log does not say so: %s", got)
	}
}

// TestRunsExpireLater removes stored runs that have expired, or had no effects, when a server starts.
func TestRunsExpireLater(t *testing.T) {
	t.Parallel()
	s := newStored(t)
	run := s.fail()
	for _, id := range []string{run, "r-aaaaaaaa"} {
		log, err := s.Open(t.Context(), id+"."+owner("ada"))
		last := time.Now()
		if id == run {
			last = last.Add(-2 * keepRuns)
		}
		if err == nil {
			err = log.Append(last.AppendFormat([]byte("time "), time.RFC3339))
		}
		if err != nil || log.Close() != nil {
			t.Fatal(err)
		}
	}
	s.wantRuns(2)
	f := s.office()
	s.wantRuns(0)
	if e := code(t, f.connect("ada"), run, annAndFail); e.ErrorType != notFound {
		t.Errorf("got %+v", e)
	}
}
