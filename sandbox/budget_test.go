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
		"computing in turns":       {sandbox.Limits{Compute: short}, `const f = () => { for (let i = 0; i < 1e4; i++); setTimeout(f, 1) }; f(); await sleep(1e6)`, "compute_limit"},
		"waiting for a timer":      {sandbox.Limits{Wait: short}, `await sleep(1e6)`, "wait_limit: the program waited for tools and timers for more than 150ms"},
		"waiting for a tool":       {sandbox.Limits{Wait: short}, `await stay({})`, "wait_limit"},
		"waiting in turns":         {sandbox.Limits{Wait: short}, `for (;;) await sleep(5)`, "wait_limit"},
		"computing does not wait":  {sandbox.Limits{Wait: short, Compute: time.Minute, Time: 2 * short}, `for (;;);`, "timeout: the program ran longer than 300ms"},
		"both":                     {sandbox.Limits{Time: short}, `for (;;) await sleep(1)`, "timeout"},
		"waiting does not compute": {sandbox.Limits{Compute: short, Time: time.Minute}, `for (let i = 0; i < 4; i++) await sleep(50); "done"`, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			eachTier(t, test.limits, func(t *testing.T, box *sandbox.Sandbox) {
				out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Tools: newSet(t, tools.Func("stay", "", stay, nil))})
				got := ""
				switch {
				case err != nil:
					t.Fatal(err)
				case out.Failure != nil:
					got = string(out.Failure.Kind) + ": " + out.Failure.Message
				default:
					got = string(out.Value)
				}
				if !strings.Contains(got, test.want) {
					t.Errorf("got %s, want %s", got, test.want)
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
		if err != nil || out.Failure == nil || out.Failure.Kind != sandbox.ComputeLimit || out.Duration > guard {
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
	eachTier(t, sandbox.Limits{Time: 100 * time.Millisecond}, func(t *testing.T, box *sandbox.Sandbox) {
		release := make(chan struct{})
		defer close(release)
		deaf := func(context.Context, struct{}) (int, error) { <-release; return 1, nil }
		set := newSet(t, tools.Func("deaf", "", deaf, nil), tools.Func("stay", "", stay, nil))
		out, err := box.Run(t.Context(), sandbox.Program{Source: `await Promise.all([deaf({}), stay({}), deaf({})])`, Tools: set})
		if err != nil || out.Failure == nil || out.Failure.Kind != sandbox.Timeout || out.Abandoned != 2 {
			t.Fatalf("got %+v, %v", out, err)
		}
		for i, pending := range []bool{true, false, true} {
			if out.Calls[i].Pending != pending {
				t.Errorf("call %d: %+v", i, out.Calls[i])
			}
		}
	})
}
