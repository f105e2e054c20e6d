package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

type depth struct {
	N int `json:"n"`
}

// descending returns a set with a tool that runs a program in a box, which calls the tool again
// until n is zero.
func descending(t *testing.T, box *sandbox.Sandbox, program string) *tools.Set {
	t.Helper()
	var set *tools.Set
	set = newSet(t, tools.Func("down", "", func(ctx context.Context, in depth) (string, error) {
		if in.N == 0 {
			return "bottom", nil
		}
		out, err := box.Run(ctx, sandbox.Program{
			Source: program, Tools: set, Inputs: map[string]any{"n": in.N - 1},
		})
		switch {
		case err != nil:
			return "", err
		case out.Failure != nil:
			return "", errors.New(out.Failure.Message)
		}
		return string(out.Value), nil
	}, nil))
	return set
}

// Tools may run programs in the sandbox that called them, however few programs may compute at the
// same time, and also if the programs set timers and so never merely wait.
func TestNested(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{
		"waits":  `await down({n})`,
		"many":   `(await Promise.all([down({n}), down({n: 0}), down({n})]))[0]`,
		"timers": `(await Promise.all([down({n}), down({n}), sleep(30)]))[0]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := newBox(t, &sandbox.Options{Workers: 1})
			set := descending(t, box, program)
			var runs sync.WaitGroup
			for range 4 {
				runs.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), guard)
					defer cancel()
					out, err := box.Run(ctx, sandbox.Program{Source: program, Tools: set, Inputs: map[string]any{"n": 2}})
					if err != nil || out.Failure != nil || !strings.Contains(string(out.Value), "bottom") {
						t.Errorf("got %+v, %v", out, err)
					}
				})
			}
			runs.Wait()
		})
	}
}

// When there may be no more processes, a nested run fails instead of waiting forever.
func TestNestedTooDeep(t *testing.T) {
	t.Parallel()
	box := newBox(t, &sandbox.Options{Workers: 1, Processes: 3})
	var failed error
	var set *tools.Set
	set = newSet(t, tools.Func("down", "", func(ctx context.Context, _ struct{}) (string, error) {
		_, err := box.Run(ctx, sandbox.Program{Source: `await down({})`, Tools: set})
		if failed == nil {
			failed = err
		}
		return "", nil
	}, nil))
	out, err := box.Run(t.Context(), sandbox.Program{Source: `await down({})`, Tools: set})
	if err != nil || out.Failure != nil || !errors.Is(failed, sandbox.ErrNested) {
		t.Errorf("got %+v, %v; the innermost run: %v", out, err, failed)
	}
}

// A tool call of a program in a session cannot run another program in the session.
func TestSessionCallsItself(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		session := box.NewSession(nil)
		set := newSet(t, tools.Func("run", "", func(ctx context.Context, _ struct{}) (string, error) {
			_, err := session.Run(ctx, sandbox.Program{Source: `1`})
			return fmt.Sprint(err), nil
		}, nil))
		out, err := session.Run(t.Context(), sandbox.Program{Source: `await run({})`, Tools: set})
		if err != nil || !strings.Contains(string(out.Value), "use another session or the sandbox") {
			t.Errorf("got %+v, %v", out, err)
		}
	})
}

// Short waits for a person do not add up to the limit of time.
func TestManyShortApprovals(t *testing.T) {
	t.Parallel()
	box := newBox(t, &sandbox.Options{Limits: sandbox.Limits{Time: time.Second}})
	set := approving(t, func(context.Context) { time.Sleep(8 * time.Millisecond) })
	out, err := box.Run(t.Context(), sandbox.Program{Source: `for (let i = 0; i < 200; i++) await send({}); 1`, Tools: set})
	if err != nil || string(out.Value) != "1" {
		t.Errorf("got %+v, %v", out, err)
	}
}

// newBox returns a sandbox with workers.
func newBox(t *testing.T, o *sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

// approving returns a set whose calls of send need approval, which takes as long as wait blocks.
func approving(t *testing.T, wait func(context.Context)) *tools.Set {
	t.Helper()
	send := tools.Func("send", "", func(context.Context, struct{}) (bool, error) { return true, nil }, nil)
	stay := tools.Func("stay", "", func(ctx context.Context, _ struct{}) (bool, error) {
		<-ctx.Done()
		return false, ctx.Err()
	}, &tools.Hints{Class: tools.Read})
	return newSet(t, send, stay).With(policy.If(policy.Tools("send"), policy.Approve(
		func(ctx context.Context, _ policy.Request) (policy.Decision, error) {
			wait(ctx)
			return policy.Decision{Approved: true}, nil
		})))
}

// While a program waits for a person, its clocks stand still. They go on as soon as it waits for
// anything else or computes.
func TestClockStandsStill(t *testing.T) {
	t.Parallel()
	const limit = 200 * time.Millisecond
	think := func(context.Context) { time.Sleep(3 * limit) }
	for name, test := range map[string]struct {
		source, want string
		limits       sandbox.Limits
	}{
		"time":      {`await send({})`, "true", sandbox.Limits{Time: limit}},
		"many":      {`(await Promise.all([send({}), send({})])).length`, "2", sandbox.Limits{Time: limit, Concurrency: 1}},
		"another":   {`await Promise.all([send({}), stay({})])`, "timeout", sandbox.Limits{Time: limit}},
		"a timer":   {`await Promise.race([send({}), sleep(1e6)])`, "timeout", sandbox.Limits{Time: limit}},
		"computing": {`await send({}); for (;;);`, "timeout", sandbox.Limits{Time: limit}},
		"waiting":   {`await send({}); await stay({})`, "timeout", sandbox.Limits{Time: limit}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, test.limits, func(t *testing.T, box *sandbox.Sandbox) {
				out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Tools: approving(t, think)})
				got := fmt.Sprint(err)
				switch {
				case err == nil && out.Failure != nil:
					got = string(out.Failure.Kind)
				case err == nil:
					got = string(out.Value)
				}
				if got != test.want {
					t.Errorf("got %s, not %s", got, test.want)
				}
			})
		})
	}
}

// Programs that wait for approval do not keep others from running, and calls that wait for it are
// all asked for at once.
func TestManyApprovals(t *testing.T) {
	t.Parallel()
	const programs, calls = 20, 20
	var asked atomic.Int32
	all := make(chan struct{})
	set := approving(t, func(ctx context.Context) {
		if asked.Add(1) == programs*calls {
			close(all)
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
	})
	box := newBox(t, &sandbox.Options{Workers: 2})
	var runs sync.WaitGroup
	for range programs {
		runs.Go(func() {
			source := fmt.Sprintf(`(await Promise.all(Array.from({length: %d}, () => send({})))).length`, calls)
			out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
			if err != nil || string(out.Value) != fmt.Sprint(calls) {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
	runs.Wait()
}

// Close ends a run that waits for a person, and Shutdown does so when its context is done. The
// run says why it ended.
func TestCloseEndsRuns(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*sandbox.Sandbox) error{
		"close": (*sandbox.Sandbox).Close,
		"shutdown": func(box *sandbox.Sandbox) error {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			if err := box.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("Shutdown returned %w", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
				asked := make(chan struct{})
				set := approving(t, func(ctx context.Context) {
					close(asked)
					<-ctx.Done()
				})
				var run sync.WaitGroup
				run.Go(func() {
					out, err := box.Run(t.Context(), sandbox.Program{Source: `await send({})`, Tools: set})
					const want = "sandbox: the sandbox has been closed while the program was running"
					if !errors.Is(err, sandbox.ErrClosed) || err.Error() != want || len(out.Calls) != 1 {
						t.Errorf("got %+v, %v", out, err)
					}
				})
				<-asked
				if err := end(box); err != nil {
					t.Error(err)
				}
				run.Wait()
				if _, err := box.Run(t.Context(), sandbox.Program{Source: `1`}); !errors.Is(err, sandbox.ErrClosed) {
					t.Errorf("after that: %v", err)
				}
			})
		})
	}
}

// Runs that wait for a slot when the sandbox is closed say so.
func TestCloseWhileQueued(t *testing.T) {
	t.Parallel()
	box := newBox(t, &sandbox.Options{Workers: 1})
	var runs sync.WaitGroup
	for range 5 {
		runs.Go(func() {
			if _, err := box.Run(t.Context(), sandbox.Program{Source: `for (;;);`}); !errors.Is(err, sandbox.ErrClosed) {
				t.Error(err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond) // until they wait, or find the sandbox closed
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	runs.Wait()
}

// Shutdown lets the programs in progress end, also those that start others.
func TestShutdownWaits(t *testing.T) {
	t.Parallel()
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		asked, decide := make(chan struct{}), make(chan struct{})
		set := approving(t, func(ctx context.Context) {
			close(asked)
			<-decide
			if name := t.Name(); strings.HasSuffix(name, "isolated") {
				if _, err := box.Run(ctx, sandbox.Program{Source: `1`}); err != nil {
					t.Errorf("a nested run: %v", err)
				}
			}
		})
		var run sync.WaitGroup
		run.Go(func() {
			if out, err := box.Run(t.Context(), sandbox.Program{Source: `await send({})`, Tools: set}); err != nil ||
				string(out.Value) != "true" {
				t.Errorf("got %+v, %v", out, err)
			}
		})
		<-asked
		ended := make(chan error)
		go func() { ended <- box.Shutdown(t.Context()) }()
		for box.Ready() == nil {
			time.Sleep(time.Millisecond)
		}
		close(decide)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		run.Wait()
	})
}
