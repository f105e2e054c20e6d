package sandbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Wall time, computing and waiting are limits of their own, and are told apart.
func TestBudgets(t *testing.T) {
	t.Parallel()
	const short = 150 * time.Millisecond
	for name, test := range map[string]struct {
		limits sandbox.Limits
		source string
		want   string
	}{
		"computing":                {sandbox.Limits{Compute: short}, `for (;;);`, "compute_limit: the program computed for more than 150ms"},
		"computing after waiting":  {sandbox.Limits{Compute: short}, `await sleep(20); for (;;);`, "compute_limit"},
		"computing in turns":       {sandbox.Limits{Compute: short}, `const f = () => { for (let i = 0; i < 1e5; i++); setTimeout(f, 1) }; f(); await sleep(1e6)`, "compute_limit"},
		"waiting for a timer":      {sandbox.Limits{Wait: short}, `await sleep(1e6)`, "wait_limit: the program waited for tools and timers for more than 150ms"},
		"waiting for a tool":       {sandbox.Limits{Wait: short}, `await stay({})`, "wait_limit"},
		"waiting in turns":         {sandbox.Limits{Wait: short}, `for (;;) await sleep(5)`, "wait_limit"},
		"computing does not wait":  {sandbox.Limits{Wait: short, Compute: time.Minute, Time: 2 * short}, `for (;;);`, "timeout: the program ran longer than 300ms"},
		"both":                     {sandbox.Limits{Time: short}, `for (;;) await sleep(1)`, "timeout"},
		"waiting does not compute": {sandbox.Limits{}, `for (let i = 0; i < 5; i++) await sleep(10); "done"`, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			eachTier(t, test.limits, func(t *testing.T, box *sandbox.Sandbox) {
				out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Tools: newSet(t, tools.Func("stay", "", stay, nil))})
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

// A program that computes in a native function, which nothing can interrupt, ends
// with its worker, and says why.
func TestBudgetOfNatives(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(&sandbox.Options{Limits: sandbox.Limits{Compute: 100 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, source := range []string{`Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)`, `/^(?=(a+)+$)\1b/.test("a".repeat(40) + "!")`} {
		out, err := box.Run(t.Context(), sandbox.Program{Source: source})
		if err != nil || out.Failure == nil || out.Failure.Kind != sandbox.KindComputeLimit || out.Duration > guard {
			t.Errorf("%s: %v, %v", source, out, err)
		}
	}
}

// stay returns when it is told to.
func stay(ctx context.Context, _ struct{}) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// A handler that does not do what it is told is not waited for. It is counted.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		release := make(chan struct{})
		defer close(release)
		deaf := func(context.Context, struct{}) (int, error) { <-release; return 1, nil }
		set := newSet(t, tools.Func("deaf", "", deaf, nil), tools.Func("stay", "", stay, nil))
		out, err := untilAbandoned(3, 2, func(limit time.Duration) (*sandbox.Outcome, error) {
			return box.Run(t.Context(), sandbox.Program{Source: `await Promise.all([deaf({}), stay({}), deaf({})])`, Tools: set, Timeout: limit})
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

// untilAbandoned runs a program that ends by its deadline in so many calls, of which some
// are abandoned. If it did not get that far, as on a busy machine, it has more time: it may
// have made a call whose handler had yet to be called.
func untilAbandoned(calls, abandoned int, run func(limit time.Duration) (*sandbox.Outcome, error)) (*sandbox.Outcome, error) {
	for limit := 100 * time.Millisecond; ; limit *= 4 {
		out, err := run(limit)
		if err != nil || len(out.Calls) == calls && out.Abandoned == abandoned || limit > time.Minute {
			return out, err
		}
	}
}

// Calls of a tool that has a bound of its own do not count, as many as that is; the
// others do, and so do those beyond.
func TestUncounted(t *testing.T) {
	t.Parallel()
	const calls = `const make = async (f, n) => { for (let i = 0; i < n; i++) await f({}) }; `
	over := func(tool, besides string) string {
		return tool + ": this program has made the 3 tool calls that it may make" + besides + "; the call was not made; look for a loop that does not end, or print what you have"
	}
	eachTier(t, sandbox.Limits{Calls: 3}, func(t *testing.T, box *sandbox.Sandbox) {
		for program, want := range map[string]string{
			`await make(text, 2); await make(nothing, 3)`:            "",
			`await make(nothing, 3); await make(text, 2)`:            "",
			`await make(text, 5)`:                                    "",
			`await make(text, 2); await make(files.list, 4)`:         "",
			`await make(nothing, 4)`:                                 over("nothing", ""),
			`await make(text, 6)`:                                    over("text", ", besides 2 of text that do not count"),
			`await make(files.list, 1); await make(text, 6)`:         over("text", ", besides 1 of files.list and 2 of text that do not count"),
			`await Promise.all(Array(7).fill({}).map(x => text(x)))`: over("text", ", besides 2 of text that do not count"),
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
