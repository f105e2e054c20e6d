package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// decisions parks the calls of send until a decision arrives or the run is paused.
type decisions struct {
	decided chan bool  // receives decisions; never, if it is nil
	causes  chan error // receives the causes with which the contexts of parked calls were canceled
}

func (d *decisions) policy(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		unpark, ok := place.Park(ctx)
		if !ok {
			return nil, errors.New("the call cannot be parked")
		}
		select {
		case <-d.decided:
			unpark()
			return next.Call(ctx, c)
		case <-ctx.Done():
			d.causes <- context.Cause(ctx)
			return nil, tools.Fatal(place.ErrPaused)
		}
	})
}

// parking returns a set with the tools send, which needs a decision, slow, and those of more.
func parking(t *testing.T, d *decisions, more ...tools.Source) *tools.Set {
	t.Helper()
	d.causes = make(chan error, 100)
	send := tools.Func("send", "", func(context.Context, struct{}) (bool, error) { return true, nil }, nil)
	set := newSet(t, append(more, send, tools.Func("slow", "", slow, nil))...)
	return set.With(policy.If(policy.Tools("send"), d.policy))
}

// nesting is a tool that runs programs in a sandbox, all at the same time.
func nesting(box *sandbox.Sandbox, set func() *tools.Set) tools.Source {
	type args struct {
		Programs []string `json:"programs"`
	}
	return tools.Func("nest", "", func(ctx context.Context, in args) ([]string, error) {
		errs := make(chan error)
		for _, source := range in.Programs {
			go func() {
				out, err := box.Run(ctx, sandbox.Program{
					Source: source, Tools: set(), Limits: sandbox.Limits{Time: 200 * time.Millisecond},
				})
				if err == nil && out.Failure != nil {
					err = out.Failure
				}
				errs <- err
			}()
		}
		var err error
		for range in.Programs {
			err = errors.Join(err, <-errs)
		}
		return in.Programs, err
	}, nil)
}

// A run is paused as soon as all of its calls, and those of the runs that they started, wait only for
// decisions. Nothing is lost: what is still in progress ends before that.
func TestPaused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ source, want string }{
		"one":        {`await send({})`, "send"},
		"two":        {`await slow({ms: 1}); await Promise.all([send({}), send({})])`, "slow=1 send send"},
		"a sibling":  {`await Promise.all([send({}), slow({ms: 100})])`, "send slow=100"},
		"a sequence": {`const first = send({}); for (let i = 0; i < 3; i++) await slow({ms: 20}); await first`, "send slow=20 slow=20 slow=20"},
		"a timer":    {`await Promise.all([send({}), sleep(100).then(() => slow({ms: 1}))])`, "send slow=1"},
		"computing":  {`const first = send({}); for (let i = 0; i < 1e6; i++); await slow({ms: 1}); await first`, "send slow=1"},
		"a limit":    {`await Promise.all([send({}), ...Array.from({length: 60}, (_, i) => slow({ms: 1}).catch(() => 1))])`, "send" + strings.Repeat(" slow=1", 49)},
		"nested":     {`await nest({programs: ["await send({})"]})`, "nest"},
		"nested, and a sibling": {
			`await Promise.all([nest({programs: ["await send({})"]}), slow({ms: 500})])`, "nest slow=500"},
		"nested twice": {
			`await nest({programs: ["await nest({programs: ['await send({})']})", "await send({})"]})`, "nest"},
		"nested, and another run": {
			`await nest({programs: ["await send({})", "await slow({ms: 100})"]})`, "nest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, sandbox.Limits{Calls: 50}, func(t *testing.T, box *sandbox.Sandbox) {
				var set *tools.Set
				d := &decisions{}
				set = parking(t, d, nesting(box, func() *tools.Set { return set }))
				ctx, cancel := context.WithTimeout(t.Context(), guard)
				defer cancel()
				out, err := box.Run(ctx, sandbox.Program{Source: test.source, Tools: set})
				if !errors.Is(err, place.ErrPaused) || ctx.Err() != nil || out == nil {
					t.Fatalf("got %s", outcomeOf(out, err))
				}
				var got []string
				for _, c := range out.Calls {
					text := c.Tool
					if !c.Pending {
						text += fmt.Sprintf("=%s", c.Result)
					}
					got = append(got, text)
				}
				if got := strings.Join(got, " "); got != test.want || out.Abandoned > 0 {
					t.Errorf("got %s, not %s; %d calls were abandoned", got, test.want, out.Abandoned)
				}
				for range strings.Count(test.source, "send(") {
					if cause := <-d.causes; !errors.Is(cause, place.ErrPaused) {
						t.Errorf("canceled because of %v", cause)
					}
				}
			})
		})
	}
}

// A decision that arrives while something else is in progress lets the program go on. While a run
// waits only for decisions, its clocks stand still.
func TestUnpark(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"one":    `await Promise.all([slow({ms: 300}), send({}).then(() => slow({ms: 1}))])`,
		"many":   `await Promise.all([slow({ms: 300}), ...Array.from({length: 20}, () => send({}))])`,
		"nested": `await Promise.all([slow({ms: 300}), nest({programs: ["await send({}); await slow({ms: 1})"]})])`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
				var set *tools.Set
				d := &decisions{decided: make(chan bool)}
				time.AfterFunc(250*time.Millisecond, func() { close(d.decided) })
				set = parking(t, d, nesting(box, func() *tools.Set { return set }))
				out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
				if err != nil || out.Failure != nil {
					t.Errorf("got %s", outcomeOf(out, err))
				}
			})
		})
	}
}

// A run is idle while its program only waits for calls that have left their places, also calls of nested runs.
func TestIdle(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"one":       `await leave({})`,
		"busy":      `const call = leave({}); for (let i = 0; i < 1e6; i++); await call`,
		"two":       `await Promise.all([leave({}), work({})])`,
		"nested":    `await nest({programs: ["await leave({})"]})`,
		"two again": `await Promise.all([work({}), nest({programs: ["await leave({})"]})])`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
				var set *tools.Set
				working := make(chan struct{})
				leave := tools.Func("leave", "", func(ctx context.Context, _ struct{}) (bool, error) {
					if place.Idle(ctx) {
						t.Error("the run is idle while a call works")
					}
					defer tools.Pause(ctx)()
					if strings.Contains(source, "work(") {
						for range 20 {
							if place.Idle(ctx) {
								t.Error("the run is idle while another call works")
							}
							time.Sleep(time.Millisecond)
						}
						close(working)
					}
					for !place.Idle(ctx) && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					return true, ctx.Err()
				}, nil)
				work := tools.Func("work", "", func(context.Context, struct{}) (bool, error) {
					<-working
					return true, nil
				}, nil)
				set = newSet(t, leave, work, nesting(box, func() *tools.Set { return set }))
				out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
				if err != nil || out.Failure != nil {
					t.Errorf("got %s", outcomeOf(out, err))
				}
			})
		})
	}
}
