package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// guard is an upper bound on any run of the tests, including on a busy machine. It is
// shorter than what the programs would take without limits.
const guard = 2 * time.Minute

// eachTier runs a test isolated and in process.
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

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, open := range []func(*sandbox.Options) (*sandbox.Sandbox, error){sandbox.New, sandbox.NewInProcess} {
		for _, limits := range []sandbox.Limits{{Time: -1}, {Compute: -1}, {Memory: -1}, {Source: -1},
			{Output: -1}, {Argument: -1}, {Calls: -1}, {Concurrency: -1}, {Result: -1}, {Results: -1}} {
			box, err := open(&sandbox.Options{Limits: limits})
			want := fmt.Sprintf("sandbox: a limit is negative: %+v; use zero for the default", limits)
			if box != nil || err == nil || err.Error() != want {
				t.Errorf("got %v, %v; want %s", box, err, want)
			}
		}
		box, err := open(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := sandbox.Limits{Time: 30 * time.Second, Compute: 10 * time.Second, Memory: 256 << 20,
			Source: 64 << 10, Output: 64 << 10, Argument: 64 << 10, Calls: 1000, Concurrency: 16,
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
			{"refund", 1, `sandbox: input "refund": a tool has this name`},
			{"files", 1, `sandbox: input "files": a tool has this name`},
			{"f", func() {}, `sandbox: input "f": json: unsupported type: func()`},
			{"raw", json.RawMessage(`{`),
				`sandbox: input "raw": json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input`},
			{"nest", json.RawMessage(nested(501)), `sandbox: input "nest": the value is nested deeper than 500 levels`},
		} {
			out, err := box.Run(t.Context(), sandbox.Program{Source: "1", Tools: set,
				Inputs: map[string]any{test.name: test.value}})
			if out != nil || err == nil || err.Error() != test.want {
				t.Errorf("%s: got %v, %v; want %s", test.name, out, err, test.want)
			}
		}
		_, err := box.Run(t.Context(), sandbox.Program{Source: "1", Inputs: map[string]any{"b c": 1, "a": func() {}}})
		want := "sandbox: input \"a\": json: unsupported type: func()\nsandbox: input \"b c\": the name is reserved " +
			"or not a JavaScript identifier"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if _, err := box.Run(t.Context(), sandbox.Program{Source: "1", Limits: sandbox.Limits{Time: -1}}); err == nil {
			t.Error("a negative timeout was accepted")
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
					t.Errorf("run %d returned %v, %v, and OnCall observed %d calls", n, got, err, told.Load())
				}
			})
		}
		wg.Wait()
	})
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	for _, box := range []*sandbox.Sandbox{nil, {}} {
		_, err := box.Run(t.Context(), sandbox.Program{Source: "1"})
		want := "sandbox: the sandbox is nil or empty; create it with New, and check New's error"
		if err == nil || err.Error() != want || box.Close() != nil {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
