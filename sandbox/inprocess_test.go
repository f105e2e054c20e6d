package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

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
