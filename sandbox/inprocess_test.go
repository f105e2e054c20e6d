package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// slowly is a ledger that blocks in the second call of a program. The program does not
// react meanwhile, as in a native function.
type slowly struct {
	ledger
	wait func()
}

func (l *slowly) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	if c.ID == 2 {
		l.wait()
	}
	return l.ledger.Issue(c, all)
}

// If a program does not react to being stopped, the run returns the calls that were made.
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

// A program that reacts late, as on a busy machine, is not stuck.
func TestSlowToStop(t *testing.T) {
	t.Parallel()
	out, err := stopped(t, func() { <-time.After(500 * time.Millisecond) })
	if !errors.Is(err, context.Canceled) || out.Failure == nil || out.Failure.Kind != sandbox.KindStopped {
		t.Errorf("got %s", outcomeOf(out, err))
	}
}

// stopped runs an endless program in this process and cancels the run when the program
// blocks.
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
