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

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// guard is how soon after its deadline a run must be back, whatever happens: less than
// what the tests' programs would take, and more than a busy machine makes them wait.
const guard = 2 * time.Minute

// eachTier runs a test in both tiers.
func eachTier(t *testing.T, limits sandbox.Limits, test func(t *testing.T, box *sandbox.Sandbox)) {
	for name, box := range openTiers(t, limits) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, box)
		})
	}
}

func newSet(t *testing.T, sources ...tools.Source) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestCheckOfManyProperties judges arguments whose names are all a little wrong.
func TestCheckOfManyProperties(t *testing.T) {
	t.Parallel()
	var known, given strings.Builder
	for i := range 800 {
		fmt.Fprintf(&known, `, "some_rather_long_property_%d": {"type": "string"}`, i)
		fmt.Fprintf(&given, `, some_rather_lung_property_%dx: 1`, i)
	}
	set := newSet(t, &tools.Tool{Name: "save", Handler: answers(`1`), InputSchema: json.RawMessage(
		`{"type": "object", "properties": {"a": {}` + known.String() + `}, "additionalProperties": false}`)})
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		start := time.Now()
		review, err := box.Check(t.Context(), sandbox.Program{Source: "await save({a: 1" + given.String() + "})", Tools: set})
		if err != nil || len(review.Findings) != 1 || !strings.HasSuffix(review.Findings[0].Message, "; and 790 more") {
			t.Errorf("got %v, %v", review, err)
		}
		if took := time.Since(start); took > guard {
			t.Errorf("took %v", took)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	set := testTools(t)
	eachTier(t, sandbox.Limits{Source: 1000}, func(t *testing.T, box *sandbox.Sandbox) {
		for _, test := range []struct {
			name, source string
			want         []string // kind line:column
		}{
			{"valid", `console.log("not run"); while (true) {}`, nil},
			{"empty", ``, nil},
			{"fails when it runs", `await fatal({}); throw new Error("x")`, nil},
			{"all findings", "foo();\nfiles.lst({}); refund({});\n/\\p{L}/u", []string{
				"undeclared 1:1", "unknown_tool 2:7", "invalid_argument 2:16", "unsupported 3:1",
			}},
			{"syntax", "let a = ;", []string{"syntax 1:9"}},
			{"what only the compiler refuses", "with (Math) { max(1) }", []string{"syntax 1:1"}},
			{"source", strings.Repeat(" ", 1001), []string{"source_limit 0:0"}},
		} {
			review, err := box.Check(t.Context(), sandbox.Program{Source: test.source, Tools: set})
			var got []string
			for _, f := range review.Findings {
				got = append(got, fmt.Sprintf("%s %d:%d", f.Kind, f.Line, f.Column))
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: got %q, %v; want %q", test.name, got, err, test.want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := box.Check(ctx, sandbox.Program{Source: "1"}); !errors.Is(err, context.Canceled) {
			t.Errorf("a check in a cancelled context: %v", err)
		}
	})
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var list []int
	if err := (&sandbox.Outcome{Value: json.RawMessage(`[1,2]`)}).Decode(&list); err != nil || !slices.Equal(list, []int{1, 2}) {
		t.Errorf("got %v, %v", list, err)
	}
	var exact any
	if err := (&sandbox.Outcome{Value: json.RawMessage(`9007199254740993`)}).Decode(&exact); err != nil || fmt.Sprint(exact) != "9007199254740993" {
		t.Errorf("got %v, %v", exact, err)
	}
	failure := &sandbox.Failure{Finding: sandbox.Finding{Kind: sandbox.KindThrown, Message: "Error: x"}}
	for _, test := range []struct {
		out  sandbox.Outcome
		want string
	}{
		{sandbox.Outcome{}, "sandbox: the program gave no value; return one, or end with an expression"},
		{sandbox.Outcome{Value: json.RawMessage(`"x"`)}, "sandbox: the program's value: json: cannot unmarshal string into Go value of type []int"},
		{sandbox.Outcome{Failure: failure, Value: json.RawMessage(`[]`)}, "Error: x"},
	} {
		if err := test.out.Decode(&list); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	var got *sandbox.Failure
	if err := (&sandbox.Outcome{Failure: failure}).Decode(&list); !errors.As(err, &got) || got != failure {
		t.Errorf("got %v, want the failure itself", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, open := range []func(*sandbox.Options) (*sandbox.Sandbox, error){sandbox.New, sandbox.NewInProcess} {
		for _, limits := range []sandbox.Limits{{Time: -1}, {Compute: -1}, {Wait: -1}, {Memory: -1}, {Source: -1}, {Output: -1}, {Argument: -1}, {Calls: -1}, {Concurrency: -1}, {Result: -1}, {Results: -1}} {
			box, err := open(&sandbox.Options{Limits: limits})
			want := fmt.Sprintf("sandbox: a limit is negative: %+v; leave it zero for the default", limits)
			if box != nil || err == nil || err.Error() != want {
				t.Errorf("got %v, %v; want %s", box, err, want)
			}
		}
		box, err := open(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := sandbox.Limits{Time: 30 * time.Second, Compute: 10 * time.Second, Wait: 30 * time.Second, Memory: 256 << 20, Source: 64 << 10, Output: 64 << 10, Argument: 64 << 10, Calls: 1000, Concurrency: 16,
			Result: 4 << 20, Results: 64 << 20}
		if got := box.Limits(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCloseTwiceAndRunAfter(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		if err := errors.Join(box.Close(), box.Close()); err != nil {
			t.Error(err)
		}
		if out, err := box.Run(t.Context(), sandbox.Program{Source: "1"}); out != nil || !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("a run after Close: %v, %v", out, err)
		}
	})
}

func TestInputsRefused(t *testing.T) {
	t.Parallel()
	set := testTools(t)
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		for _, test := range []struct {
			name  string
			value any
			want  string
		}{
			{"not ok", 1, `sandbox: input "not ok": the name is reserved or not a JavaScript identifier`},
			{"", 1, `sandbox: input "": the name is reserved or not a JavaScript identifier`},
			{"class", 1, `sandbox: input "class": the name is reserved or not a JavaScript identifier`},
			{"console", 1, `sandbox: input "console": the name is reserved or not a JavaScript identifier`},
			{"__proto__", 1, `sandbox: input "__proto__": the name is reserved or not a JavaScript identifier`},
			{"refund", 1, `sandbox: input "refund": a tool has that name`},
			{"files", 1, `sandbox: input "files": a tool has that name`},
			{"f", func() {}, `sandbox: input "f": json: unsupported type: func()`},
			{"raw", json.RawMessage(`{`), `sandbox: input "raw": json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input`},
			{"nest", json.RawMessage(nested(501)), `sandbox: input "nest": the value is nested deeper than 500 levels`},
		} {
			out, err := box.Run(t.Context(), sandbox.Program{Source: "1", Tools: set, Inputs: map[string]any{test.name: test.value}})
			if out != nil || err == nil || err.Error() != test.want {
				t.Errorf("%s: got %v, %v; want %s", test.name, out, err, test.want)
			}
		}
		_, err := box.Run(t.Context(), sandbox.Program{Source: "1", Inputs: map[string]any{"b c": 1, "a": func() {}}})
		want := "sandbox: input \"a\": json: unsupported type: func()\nsandbox: input \"b c\": the name is reserved or not a JavaScript identifier"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := box.Run(t.Context(), sandbox.Program{Source: "1", Timeout: -1}); err == nil {
			t.Error("a negative timeout was taken")
		}
	})
}

func TestNilSet(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		got := outcomeOf(box.Run(t.Context(), sandbox.Program{Source: "x + 1", Inputs: map[string]any{"x": 1}}))
		if want := "value: 2\n"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestCancelledBefore(t *testing.T) {
	t.Parallel()
	why := errors.New("the user left")
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		out, err := box.Run(ctx, sandbox.Program{Source: "1"})
		if out != nil || !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", out, err)
		}
	})
}

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
				soon := func() { time.AfterFunc(20*time.Millisecond, cancel) } // it is called when there is something to cancel
				begun := func(ctx context.Context, in slowArgs) (int, error) { soon(); return slow(ctx, in) }
				set := newSet(t, raw("text", answers(`"007"`)), tools.Func("slow", "", begun, nil), raw("started", func(context.Context, json.RawMessage) (json.RawMessage, error) {
					soon()
					return nil, nil
				}))
				record := journal.New(nil)
				start := time.Now()
				out, err := box.Run(ctx, sandbox.Program{Source: source, Tools: set, Attempt: record.Attempt()})
				if !errors.Is(err, context.Canceled) || out == nil || out.Failure == nil || out.Failure.Kind != sandbox.KindStopped {
					t.Errorf("got %s", outcomeOf(out, err))
				}
				if late := time.Since(start); late > guard {
					t.Errorf("it took %v", late)
				}
				for _, e := range record.Entries() {
					if want := map[string]journal.State{"started": journal.OK, "text": journal.OK, "slow": journal.Unknown}[e.Tool]; e.State != want {
						t.Errorf("the journal says of %s: %s, want %s", e.Tool, e.State, want)
					}
				}
			})
		})
	}
}

// A handler that does not listen is not waited for, and the outcome says so.
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
				Source: "await deaf({})", Tools: set, Timeout: limit, Attempt: record.Attempt(), OnCall: func(sandbox.Call) { told.Add(1) },
			})
		})))
		want := fmt.Sprintf("call 1 at 1:7: deaf({}) is pending\nfailure: timeout\nthe program ran longer than %v\n", last)
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if told.Load() != 0 {
			t.Error("OnCall was told of a call that has not ended")
		}
		record.Attempt() // the next attempt finds what is not known
		if entries := record.Entries(); len(entries) != 1 || entries[0].State != journal.Unknown {
			t.Errorf("the journal says %+v", entries)
		}
	})
}

func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	set := testTools(t)
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		var wg sync.WaitGroup
		for n := range 64 {
			wg.Go(func() {
				var told atomic.Int32
				out, err := box.Run(t.Context(), sandbox.Program{
					Source: `const r = await Promise.all([1, 2].map(i => echo({n: n * i}))); await slow({ms: 1}); r.map(x => x.n)`,
					Inputs: map[string]any{"n": n}, Tools: set, OnCall: func(sandbox.Call) { told.Add(1) },
				})
				var got []int
				if err == nil {
					err = out.Decode(&got)
				}
				if err != nil || !slices.Equal(got, []int{n, 2 * n}) || told.Load() != 3 || len(out.Calls) != 3 {
					t.Errorf("run %d gave %v, %v, and told of %d calls", n, got, err, told.Load())
				}
			})
		}
		wg.Wait()
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

// A fatal error ends the run, also if a hold within what the tool ran is behind it.
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

// ledger is a fake that holds calls and answers from a record.
type ledger struct {
	mu     sync.Mutex
	issued []string
	hold   string          // the arguments that it holds
	known  json.RawMessage // what it answers for a recorded call
}

func (l *ledger) Issue(c tools.Call) (tools.Entry, error) {
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
func (e entry) Dispatched(json.RawMessage) error         { return nil }
func (e entry) Settled(json.RawMessage, error, bool)     {}

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

// A program whose call was held has not submitted, however fast it was: it is asked
// often, as it may be slow.
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

// slowly is a ledger in which the second call of a program waits, and the program with
// it, as it does in a native function.
type slowly struct {
	ledger
	wait func()
}

func (l *slowly) Issue(c tools.Call) (tools.Entry, error) {
	if c.ID == 2 {
		l.wait()
	}
	return l.ledger.Issue(c)
}

// A program that does not listen to the interrupt: the run comes back with what was
// done, and the function's own end releases it.
func TestStuck(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	defer close(released)
	got := outcomeOf(stopped(t, func() { <-released }))
	want := "error: sandbox: " + sandbox.ErrStuck.Error() + "\ncall 1 at 1:7: text({}) → \"007\"\n" +
		"call 2 at 1:23: text({}) is pending\nfailure: stopped\nthe program could not be stopped\n"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// One that only has to wait for a processor, as on a busy machine, is not stuck.
func TestSlowToStop(t *testing.T) {
	t.Parallel()
	out, err := stopped(t, func() { <-time.After(500 * time.Millisecond) })
	if !errors.Is(err, context.Canceled) || out.Failure == nil || out.Failure.Kind != sandbox.KindStopped {
		t.Errorf("got %s", outcomeOf(out, err))
	}
}

// stopped runs a program in this process that is cancelled as soon as it waits, and
// that never ends by itself.
func stopped(t *testing.T, wait func()) (*sandbox.Outcome, error) {
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	ctx, cancel := context.WithCancel(t.Context())
	start := time.Now()
	out, err := box.Run(ctx, sandbox.Program{
		Source: `await text({}); await text({}); for (;;);`, Tools: testTools(t),
		Attempt: &slowly{wait: func() { cancel(); wait() }},
	})
	if took := time.Since(start); took > guard {
		t.Errorf("it took %v", took)
	}
	return out, err
}

// A program decides how much there is to judge, and it happens in this process.
func TestJudgingIsBounded(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for i := range 300 {
		list = append(list, raw(fmt.Sprintf("list_repository_items_%d", i), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }))
	}
	set := newSet(t, list...)
	var source strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&source, "unknown%d();", i)
	}
	fmt.Fprintf(&source, "list_repository_items_0([%s])", strings.Repeat("1,", 2000))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: source.String(), Tools: set})
		if err != nil || out.Failure == nil || len(out.Failure.Findings) != 20 || len(out.Failure.String()) > 20_000 {
			t.Errorf("got %.500s", outcomeOf(out, err))
		}
	})
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	for _, box := range []*sandbox.Sandbox{nil, {}} {
		_, err := box.Run(t.Context(), sandbox.Program{Source: "1"})
		want := "sandbox: the sandbox is nil or empty; create it with New, and check the error of New"
		if err == nil || err.Error() != want || box.Close() != nil {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A panic of the caller's own OnCall ends that run, not the process.
func TestOnCallPanics(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{
			Source: "await text({}); await text({})", Tools: testTools(t),
			OnCall: func(sandbox.Call) { panic("oops") },
		})
		if err == nil || !strings.HasPrefix(err.Error(), "sandbox: Program.OnCall panicked: oops\n") || out == nil || len(out.Calls) == 0 {
			t.Errorf("got %s", outcomeOf(out, err))
		}
	})
}

// The error of a failed tool is the host's own, with what is behind it.
func TestFailureHasTheCause(t *testing.T) {
	t.Parallel()
	secret := errors.New("the password is wrong")
	set := newSet(t, raw("login", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, tools.HostOnly(secret) }))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		out, err := box.Run(t.Context(), sandbox.Program{Source: "await login({})", Tools: set})
		if err != nil || out.Failure == nil || !errors.Is(out.Failure.Tool, secret) || strings.Contains(out.Failure.String(), "password") {
			t.Errorf("got %s", outcomeOf(out, err))
		}
	})
}

// A handler that leaves by runtime.Goexit does not leave the program waiting.
func TestHandlerGoexit(t *testing.T) {
	t.Parallel()
	set := newSet(t, raw("leave", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		runtime.Goexit()
		return nil, nil
	}))
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		_, err := box.Run(t.Context(), sandbox.Program{Source: "await leave({})", Tools: set})
		if want := "sandbox: the handler of leave ended its goroutine instead of returning"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}
