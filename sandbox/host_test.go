package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

func TestCancelledDuring(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"computing": `await started({}); while (true) {}`,
		"waiting":   `await started({}); await sleep(600000);`,
		"calling":   `await text({}); await slow({ms: 600000});`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				soon := func() { time.AfterFunc(20*time.Millisecond, cancel) } // called when there is something to cancel
				begun := func(ctx context.Context, in slowArgs) (int, error) { soon(); return slow(ctx, in) }
				set := newSet(t, raw("text", answers(`"007"`)), tools.Func("slow", "", begun, nil),
					raw("started", func(context.Context, json.RawMessage) (json.RawMessage, error) {
						soon()
						return nil, nil
					}))
				record := journal.New(nil)
				start := time.Now()
				out, err := box.Run(ctx, sandbox.Program{Source: source, Tools: set, Attempt: record.Attempt()})
				if !errors.Is(err, context.Canceled) || out == nil || out.Failure == nil ||
					out.Failure.Kind != sandbox.KindStopped {
					t.Errorf("got %s", outcomeOf(out, err))
				}
				if late := time.Since(start); late > guard {
					t.Errorf("it took %v", late)
				}
				for _, e := range record.Entries() {
					if want := map[string]journal.State{"started": journal.StateOK, "text": journal.StateOK,
						"slow": journal.StateUnknown}[e.Tool]; e.State != want {
						t.Errorf("the state of %s in the journal is %s, want %s", e.Tool, e.State, want)
					}
				}
			})
		})
	}
}

// A handler that ignores cancellation is abandoned, and the outcome shows that.
func TestHandlerIgnoresCancellation(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		release := make(chan struct{})
		defer close(release)
		set := newSet(t, raw("deaf", func(context.Context, json.RawMessage) (json.RawMessage, error) {
			<-release
			return nil, nil
		}))
		var record *journal.Journal
		var told atomic.Int32
		var last time.Duration
		got := interrupted(outcomeOf(untilAbandoned(1, 1, func(limit time.Duration) (*sandbox.Outcome, error) {
			record, last = journal.New(nil), limit
			told.Store(0)
			return box.Run(t.Context(), sandbox.Program{
				Source: "await deaf({})", Tools: set, Limits: sandbox.Limits{Time: limit}, Attempt: record.Attempt(),
				OnCall: func(sandbox.Call) { told.Add(1) },
			})
		})))
		want := fmt.Sprintf("call 1 at 1:7: deaf({}) is pending\nfailure: timeout\nthe program ran longer than %v\n", last)
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if told.Load() != 0 {
			t.Error("OnCall was called for a call that has not ended")
		}
		record.Attempt() // the next attempt sees the unknown calls
		if entries := record.Entries(); len(entries) != 1 || entries[0].State != journal.StateUnknown {
			t.Errorf("the journal has %+v", entries)
		}
	})
}

func TestFatal(t *testing.T) {
	t.Parallel()
	lost := errors.New("the account is closed")
	set := newSet(t, tools.Func("refund", "", refund, nil), raw("fatal", fails(tools.Fatal(lost))))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Tools: set, Source: `
			await refund({order: 1, reason: "late"});
			try { await fatal({}) } catch {}
			await refund({order: 2, reason: "late"})`})
		want := `error: sandbox: tool fatal: the account is closed
call 1 at 2:10: refund({"order":1,"reason":"late"}) → {"order":1,"status":"refunded"}
call 2 at 3:16: fatal({}) threw unknown of fatal: the account is closed
failure: stopped
the program was stopped
`
		if got := outcomeOf(out, err); got != want || !errors.Is(err, lost) || !tools.IsFatal(err) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// A fatal error ends the run, even if it wraps a hold of another run.
func TestFatalHold(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		hold := &tools.HoldError{Call: "E1", Message: "of another run"}
		set := newSet(t, raw("fatal", fails(tools.Fatal(fmt.Errorf("inner run: %w", hold)))))
		out, err := box.Run(t.Context(), sandbox.Program{Source: `await fatal({})`, Tools: set})
		if !errors.Is(err, hold) || !tools.IsFatal(err) || out.Failure.Kind != sandbox.KindStopped {
			t.Errorf("got %v, %v", out, err)
		}
	})
}

// ledger is a fake attempt that holds a call or answers from a record.
type ledger struct {
	mu     sync.Mutex
	issued []string
	hold   string          // the arguments that it holds
	known  json.RawMessage // what it answers for a recorded call
}

func (l *ledger) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.issued = append(l.issued, string(c.Args))
	if string(c.Args) == l.hold {
		return nil, &tools.HoldError{Call: "refund", Message: "E1 did that"}
	}
	return entry{l.known}, nil
}

type entry struct{ known json.RawMessage }

func (e entry) Recorded() (json.RawMessage, error, bool) { return e.known, nil, e.known != nil }

func (e entry) Dispatched(json.RawMessage) error { return nil }

func (e entry) Effect() effect.ID { return effect.ID{} }

func (e entry) Settled(json.RawMessage, error, string, json.RawMessage, bool) string { return "" }

func TestHeld(t *testing.T) {
	t.Parallel()
	set := newSet(t, tools.Func("slow", "", slow, nil))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		book := &ledger{hold: `{"ms":2}`}
		out, err := box.Run(t.Context(), sandbox.Program{Tools: set, Attempt: book, Source: `
			try { const first = slow({ms: 50}); await slow({ms: 3}); await Promise.all([first, slow({ms: 2}), slow({ms: 4})]) }
			catch { console.log("caught") }
			await slow({ms: 5})`})
		want := `call 1 at 2:24: slow({"ms":50}) → 50
call 2 at 2:46: slow({"ms":3}) → 3
call 3 at 2:87: slow({"ms":2}) threw denied of slow: refund was held: E1 did that
failure: held
refund was held: E1 did that
`
		if got := outcomeOf(out, err); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if out.Failure.Hold == nil || !slices.Equal(book.issued, []string{`{"ms":50}`, `{"ms":3}`, `{"ms":2}`}) {
			t.Errorf("hold %v; issued: %q", out.Failure.Hold, book.issued)
		}
	})
}

// A program whose call was held has not succeeded, even if it submits before it notices.
// This is a race, so the test repeats it.
func TestSubmittedTooLate(t *testing.T) {
	t.Parallel()
	set := newSet(t, tools.Func("slow", "", slow, nil))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		for range 20 {
			session := box.NewSession(nil)
			const source = `slow({ms: 2}).catch(() => 1); submit(5)`
			want := "call 1 at 1:1: slow({\"ms\":2}) threw denied of slow: refund was held: E1 did that\n" +
				"failure: held\nrefund was held: E1 did that\n"
			p := sandbox.Program{Source: source, Tools: set, Attempt: &ledger{hold: `{"ms":2}`}, Submit: true}
			if got := outcomeOf(session.Run(t.Context(), p)); got != want || session.Len() != 0 {
				t.Fatalf("got %s, want %s; the session has %d programs", got, want, session.Len())
			}
		}
	})
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	set := newSet(t, tools.Func("slow", "", slow, nil))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		book := &ledger{known: json.RawMessage(`7`)}
		got := outcomeOf(box.Run(t.Context(), sandbox.Program{Tools: set, Attempt: book, Source: `slow({ms: 60000})`}))
		if want := "value: 7\ncall 1 at 1:1: slow({\"ms\":60000}) → 7, recorded\n"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// A panic of OnCall ends the run, not the process.
func TestOnCallPanics(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{
			Source: "await text({}); await text({})", Tools: testTools(t),
			OnCall: func(sandbox.Call) { panic("oops") },
		})
		if err == nil || !strings.HasPrefix(err.Error(), "sandbox: Program.OnCall panicked: oops\n") || out == nil ||
			len(out.Calls) == 0 {
			t.Errorf("got %s", outcomeOf(out, err))
		}
	})
}

// A panic of a tool's Remark means that there is no remark.
func TestRemarkPanics(t *testing.T) {
	t.Parallel()
	find := raw("find", func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("7"), nil })
	find.Remark = func(_, _ json.RawMessage) string { panic("oops") }
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: "await find({})", Tools: newSet(t, find)})
		if err != nil || string(out.Value) != "7" || len(out.Warnings) > 0 {
			t.Errorf("got %s", outcomeOf(out, err))
		}
	})
}

// The error of a failed tool has its cause, which is not shown to the program.
func TestFailureHasTheCause(t *testing.T) {
	t.Parallel()
	secret := errors.New("the password is wrong")
	set := newSet(t, raw("login", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return nil,
			tools.HostOnly(secret)
	}))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: "await login({})", Tools: set})
		if err != nil || out.Failure == nil || !errors.Is(out.Failure.Tool, secret) ||
			strings.Contains(out.Failure.String(), "password") {
			t.Errorf("got %s", outcomeOf(out, err))
		}
	})
}

// A handler that calls runtime.Goexit ends the run.
func TestHandlerGoexit(t *testing.T) {
	t.Parallel()
	set := newSet(t, raw("leave", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		runtime.Goexit()
		return nil, nil
	}))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		_, err := box.Run(t.Context(), sandbox.Program{Source: "await leave({})", Tools: set})
		if want := "sandbox: the handler of leave ended with runtime.Goexit instead of returning"; err == nil ||
			err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}
