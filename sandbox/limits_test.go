package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// A program may have limits of its own, which may be larger than the sandbox's. A session
// whose programs had such limits is rebuilt with them.
func TestProgramLimits(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{Output: 1000}, func(t *testing.T, box *sandbox.Sandbox) {
		length := func(_ context.Context, in struct{ Text string }) (int, error) { return len(in.Text), nil }
		set := newSet(t, tools.Func("length", "", length, nil))
		const source = `const n = await length({Text: "x".repeat(5000)}); "y".repeat(3000).length + n`
		run := func(source string, l sandbox.Limits) string {
			return outcomeOf(box.Run(t.Context(), sandbox.Program{Source: source, Tools: set, Limits: l}))
		}
		for _, c := range []struct {
			source string
			limits sandbox.Limits
			want   string
		}{
			{source, sandbox.Limits{}, "the argument of length: the value is too large: as JSON it has more than 1000 bytes"},
			{source, sandbox.Limits{Argument: 10_000}, "value: 8000"},
			{`await length({Text: "x".repeat(17 << 20)})`, sandbox.Limits{Argument: 20 << 20}, "value: 17825792"},
			{`"y".repeat(3000)`, sandbox.Limits{Argument: 10_000}, "as JSON it has more than 1000 bytes"},
			{`"y".repeat(3000).length; "y".repeat(3000)`, sandbox.Limits{Output: 10_000}, "yyyyy"},
			{`for (const i of [1, 2]) await length({Text: ""})`, sandbox.Limits{Calls: 1},
				"a program may make 1 tool calls; this call was not made"},
			{`1`, sandbox.Limits{Time: -1}, "sandbox: a limit is negative"},
			{`1`, sandbox.Limits{Time: 10_000 * time.Hour}, "sandbox: a time limit is longer than the maximum of"},
			{`1`, sandbox.Limits{Memory: 1}, "sandbox: Program.Limits.Memory must be zero; set it in Options.Limits"},
		} {
			if got := run(c.source, c.limits); !strings.Contains(got, c.want) {
				t.Errorf("%s with %+v\ngave %s\nwant %s", c.source, c.limits, got, c.want)
			}
		}
		session := box.NewSession(nil)
		out, err := session.Run(t.Context(), sandbox.Program{
			Source: source + `; submit("y".repeat(3000))`, Tools: set, Submit: true, Limits: sandbox.Limits{Output: 10_000,
				Argument: 10_000},
		})
		if err != nil || !out.Submitted {
			t.Fatal(outcomeOf(out, err))
		}
		step{`n`, "value: 5000"}.in(t, session, nil) // the VM is gone
	})
}

// Total time, computing time and waiting time have separate limits.
func TestBudgets(t *testing.T) {
	t.Parallel()
	const short = 150 * time.Millisecond
	for name, test := range map[string]struct {
		limits sandbox.Limits
		source string
		want   string
	}{
		"computing": {sandbox.Limits{Compute: short}, `for (;;);`,
			"compute_limit: the program computed for more than 150ms"},
		"computing after waiting": {sandbox.Limits{Compute: short}, `await sleep(20); for (;;);`, "compute_limit"},
		"computing in turns": {sandbox.Limits{Compute: short},
			`const f = () => { for (let i = 0; i < 1e5; i++); setTimeout(f, 1) }; f(); await sleep(1e6)`, "compute_limit"},
		"waiting for a timer":      {sandbox.Limits{Time: short}, `await sleep(1e6)`, "timeout: the program ran longer than 150ms"},
		"waiting for a tool":       {sandbox.Limits{Time: short}, `await stay({})`, "timeout"},
		"both":                     {sandbox.Limits{Time: short}, `for (;;) await sleep(1)`, "timeout"},
		"waiting does not compute": {sandbox.Limits{}, `for (let i = 0; i < 5; i++) await sleep(10); "done"`, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, test.limits, func(t *testing.T, box *sandbox.Sandbox) {
				out, err := box.Run(t.Context(), sandbox.Program{Source: test.source,
					Tools: newSet(t, tools.Func("stay", "", stay, nil))})
				got := ""
				switch {
				case err != nil:
					t.Fatal(err)
				case out.Failure != nil:
					got = string(out.Failure.Kind) + ": " + interrupted(out.Failure.Message)
				default:
					got = string(out.Value)
				}
				if !strings.Contains(got, test.want) {
					t.Errorf("got %s, want %s", got, test.want)
				}
				if name == "waiting does not compute" && out.Waiting < 50*time.Millisecond {
					t.Errorf("the program waited for %v", out.Waiting)
				}
				if sum := out.Computing + out.Waiting; sum > out.Duration+guard || out.Waiting < 0 || out.Computing < 0 {
					t.Errorf("%v of computing and %v of waiting in %v", out.Computing, out.Waiting, out.Duration)
				}
			})
		})
	}
}

// A program that computes in a native function, which cannot be interrupted, ends with its
// worker, and the failure names the limit.
func TestBudgetOfNatives(t *testing.T) {
	t.Parallel()
	box := openTiers(t, sandbox.Limits{})["isolated"]
	const indexOf, match = `Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)`,
		`/^(?=(a+)+$)\1b/.test("a".repeat(40) + "!")`
	for _, test := range []struct {
		source string
		limits sandbox.Limits
		want   sandbox.Kind
	}{
		{indexOf, sandbox.Limits{Compute: 100 * time.Millisecond}, sandbox.KindComputeLimit},
		{match, sandbox.Limits{Compute: 100 * time.Millisecond}, sandbox.KindComputeLimit},
		{indexOf, sandbox.Limits{Time: 100 * time.Millisecond}, sandbox.KindTimeout},
	} {
		out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Limits: test.limits})
		if err != nil || out.Failure == nil || out.Failure.Kind != test.want {
			t.Errorf("%s: got %s, want %s", test.source, outcomeOf(out, err), test.want)
		}
	}
}

// stay returns when it is canceled.
func stay(ctx context.Context, _ struct{}) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// A handler that ignores cancellation is abandoned and counted.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		release := make(chan struct{})
		defer close(release)
		deaf := func(context.Context, struct{}) (int, error) { <-release; return 1, nil }
		set := newSet(t, tools.Func("deaf", "", deaf, nil), tools.Func("stay", "", stay, nil))
		out, err := untilAbandoned(3, 2, func(limit time.Duration) (*sandbox.Outcome, error) {
			return box.Run(t.Context(), sandbox.Program{Source: `await Promise.all([deaf({}), stay({}), deaf({})])`,
				Tools: set, Limits: sandbox.Limits{Time: limit}})
		})
		if err != nil || out.Failure == nil || out.Failure.Kind != sandbox.KindTimeout || out.Abandoned != 2 {
			t.Fatalf("got %+v, %v", out, err)
		}
		for i, pending := range []bool{true, false, true} {
			if out.Calls[i].Pending != pending {
				t.Errorf("call %d: %+v", i, out.Calls[i])
			}
		}
	})
}

// untilAbandoned runs a program that makes some calls and is ended by its deadline, which
// abandons some of them. On a busy machine the program may not get that far; then it runs
// again with more time.
func untilAbandoned(calls, abandoned int, run func(limit time.Duration) (*sandbox.Outcome, error)) (*sandbox.Outcome,
	error) {
	for limit := 100 * time.Millisecond; ; limit *= 4 {
		out, err := run(limit)
		if err != nil || len(out.Calls) == calls && out.Abandoned == abandoned || limit > time.Minute {
			return out, err
		}
	}
}

// Calls that Program.Uncounted covers do not count towards the limit; further calls of the
// same tools do.
func TestUncounted(t *testing.T) {
	t.Parallel()
	const calls = `const make = async (f, n) => { for (let i = 0; i < n; i++) await f({}) }; `
	over := func(tool, uncounted string) string {
		return tool + ": a program may make 3 tool calls" + uncounted +
			"; this call was not made; look for an endless loop, or print what you have"
	}
	eachTier(t, sandbox.Limits{Calls: 3}, func(t *testing.T, box *sandbox.Sandbox) {
		for program, want := range map[string]string{
			`await make(text, 2); await make(nothing, 3)`:    "",
			`await make(nothing, 3); await make(text, 2)`:    "",
			`await make(text, 5)`:                            "",
			`await make(text, 2); await make(files.list, 4)`: "",
			`await make(nothing, 4)`:                         over("nothing", ""),
			`await make(text, 6)`:                            over("text", " (not counting 2 of text)"),
			`await make(files.list, 1); await make(text, 6)`: over("text",
				" (not counting 1 of files.list and 2 of text)"),
			`await Promise.all(Array(7).fill({}).map(x => text(x)))`: over("text", " (not counting 2 of text)"),
		} {
			uncounted := map[string]int{"text": 2, "files.list": 1, "nothing": -1, "none": 5}
			out, err := box.Run(t.Context(), sandbox.Program{Source: calls + program, Tools: testTools(t), Uncounted: uncounted})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if out.Failure != nil {
				_, got, _ = strings.Cut(strings.SplitN(out.Failure.Error(), "\n", 2)[0], "ToolError: ")
			}
			if got != want || uncounted["text"] != 2 {
				t.Errorf("%s: got %q, want %q", program, got, want)
			}
		}
	})
}

// sized returns a tool whose result or error has the requested number of bytes.
func sized(name string, fail bool) *tools.Tool {
	type args struct{ Bytes int }
	return tools.Func(name, "", func(_ context.Context, a args) (string, error) {
		text := strings.Repeat("x", a.Bytes-2)
		if fail {
			return "", errors.New(text + "xx")
		}
		return text, nil
	}, nil)
}

// A result that exceeds the limit is replaced by an error which says that the call was
// made. Later calls work.
func TestResultLimits(t *testing.T) {
	t.Parallel()
	set := newSet(t, sized("get", false), sized("fail", true))
	for _, c := range []struct {
		limits       sandbox.Limits
		source, want string
	}{
		{sandbox.Limits{Result: 100},
			`[(await get({Bytes: 100})).length, await get({Bytes: 101}).catch(e => [e.kind, e.message])]`,
			`[98,["too_large","the call was made, but its result has 101 bytes; 100 are allowed; request less at a time"]]`},
		{sandbox.Limits{Results: 150},
			`const got = []; for (const Bytes of [100, 51, 50, 1e6]) got.push(await get({Bytes}).then(s => s.length, e ` +
				`=> e.message)); got`,
			`[98,"the call was made, but its result has 51 bytes; all results of a program together may have 150, ` +
				`and 50 are left; request less, or continue in another program",48,` +
				`"the call was made, but its result has 1000000 bytes; all results of a program together may have 150, ` +
				`and 0 are left; request less, or continue in another program"]`},
		{sandbox.Limits{Result: 100}, `await fail({Bytes: 101}).catch(e => [e.kind, e.message, e.tool])`,
			`["failed","the call failed, and its error has 101 bytes; 100 are allowed; request less at a time","fail"]`},
		{sandbox.Limits{}, `[(await get({Bytes: 4 << 20})).length, await get({Bytes: (4 << 20) + 1}).catch(e => e.kind)]`,
			`[4194302,"too_large"]`},
	} {
		eachTier(t, c.limits, func(t *testing.T, box *sandbox.Sandbox) {
			for range 2 { // each run has limits of its own
				out, err := box.Run(t.Context(), sandbox.Program{Source: c.source, Tools: set})
				if got := outcomeOf(out, err); !strings.HasPrefix(got, "value: "+c.want+"\n") {
					t.Errorf("%s\ngot  %.1000s\nwant %s", c.source, got, c.want)
				}
			}
		})
	}
}

// An effect whose result is too large is recorded as made, and a second attempt is
// answered from the record.
func TestLargeResultOfEffect(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.NewInProcess)
	calls := 0
	set := newSet(t, &tools.Tool{Name: "send", Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		calls++
		return json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`), nil
	}})
	record := journal.New(nil)
	for range 2 {
		out, err := box.Run(t.Context(), sandbox.Program{
			Source: `await send({}).catch(e => e.kind)`, Tools: set, Attempt: record.Attempt(),
		})
		if err != nil || string(out.Value) != `"too_large"` {
			t.Fatal(outcomeOf(out, err))
		}
	}
	entries := record.Entries()
	if calls != 1 || len(entries) != 1 || entries[0].State != journal.StateOK {
		t.Errorf("%d calls; %v", calls, entries)
	}
}

// Results that are too large do not accumulate in the host.
func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.New)
	set := newSet(t, &tools.Tool{Name: "dump", Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`), nil
	}})
	const source = `let failed = 0; for (let i = 0; i < 100; i++) await dump({}).catch(() => failed++); failed`
	out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
	if err != nil || string(out.Value) != "100" {
		t.Fatal(outcomeOf(out, err))
	}
	kept := 0
	for _, c := range out.Calls {
		kept += len(c.Result)
	}
	if kept > 0 {
		t.Errorf("%d bytes are kept", kept)
	}
}
