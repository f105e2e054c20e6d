package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools/journal"
)

// moduleFunc is a module that is a function.
type moduleFunc func(ctx context.Context, in string) any

// Run implements [module.Module].
func (f moduleFunc) Run(ctx context.Context, in string) (*module.Prediction[any], error) {
	return &module.Prediction[any]{Output: f(ctx, in)}, nil
}

// secretive panics when it is encoded.
type secretive struct{}

// MarshalJSON implements [json.Marshaler].
func (secretive) MarshalJSON() ([]byte, error) { panic("secret") }

// A run that always fails outside of its module's work fails once, instead of again and again.
func TestRunFailsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int64
		m := moduleFunc(func(_ context.Context, in string) any {
			return map[string]any{"func": func() {}, "panic": secretive{}}[in]
		})
		r, err := agent.NewRunner(agent.NewRuns(journal.NewMemory()), m, &agent.RunnerOptions{
			Context: func(ctx context.Context, info agent.RunInfo) context.Context {
				if begun.Add(1); info.ID == "context" {
					panic("no rights")
				}
				return ctx
			}})
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]string{"func": "unsupported type", "panic": "secret", "context": "no rights"} {
			if _, err := r.Start(t.Context(), agent.RunRequest{ID: id, Input: fmt.Appendf(nil, "%q", id)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			info, err := r.Get(t.Context(), id)
			if err != nil || info.State != agent.Failed || !strings.Contains(info.Error, want) {
				t.Errorf("%s: %v, %v", id, info, err)
			}
		}
		if begun.Load() != 3 {
			t.Errorf("the runs began %d times", begun.Load())
		}
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A queued run that another process cancels and removes is forgotten.
func TestQueuedRunIsRemoved(t *testing.T) {
	t.Parallel()
	b := newBureau(t, open(t), journal.NewMemory())
	b.do(t.Context(), "start x ann hold x")
	b.do(t.Context(), "start y ann hold y")
	b.do(t.Context(), "start r-1 ann note a")
	b.do(t.Context(), "holding 2")
	if err := b.make().Cancel(t.Context(), "r-1"); err != nil { // b.runs are those of the other process now
		t.Fatal(err)
	}
	removed, err := b.runs.Prune(t.Context(), agent.Retention{Runs: 1})
	if err != nil || !slices.Equal(removed.Removed, []string{"r-1"}) {
		t.Fatalf("got %v, %v", removed, err)
	}
	close(b.release["x"])
	close(b.release["y"])
	if got := b.do(t.Context(), "wait r-1"); !strings.Contains(got, agent.ErrNoRun.Error()) {
		t.Errorf("got %s", got)
	}
	if got := b.do(t.Context(), "shutdown"); got != "ok" {
		t.Errorf("got %s", got)
	}
}

// lateStore delays a decision so that it finds a run whose turn has just ended.
type lateStore struct {
	journal.Store
	turn             int64 // the number of the Open that begins the turn; the decision's is the next one
	opened           atomic.Int64
	begun            chan struct{}
	decided, givenUp chan struct{}
}

// Open implements [journal.Store].
func (s *lateStore) Open(ctx context.Context, run string) (journal.Log, error) {
	n := s.opened.Add(1)
	switch n {
	case s.turn:
		close(s.begun)
		time.Sleep(50 * time.Millisecond) // until the decision waits for the turn to have opened the log
	case s.turn + 1:
		select {
		case <-s.givenUp:
		case <-time.After(500 * time.Millisecond):
		}
	}
	l, err := s.Store.Open(ctx, run)
	if n == s.turn {
		l = &lateLog{l, s}
	}
	return l, err
}

type lateLog struct {
	journal.Log
	store *lateStore
}

// Close implements [journal.Log].
func (l *lateLog) Close() error {
	err := l.Log.Close()
	close(l.store.givenUp)
	select {
	case <-l.store.decided:
	case <-time.After(500 * time.Millisecond):
	}
	return err
}

// A decision that is recorded between the end of a turn and the moment at which the Runner notices it is not lost.
func TestDecideAsTheTurnEnds(t *testing.T) {
	t.Parallel()
	s := &lateStore{Store: journal.NewMemory(), begun: make(chan struct{}), decided: make(chan struct{}),
		givenUp: make(chan struct{})}
	b := newBureau(t, open(t), s)
	b.queue = queue.New(&queue.Options{Running: 1})
	b.runner = b.make()
	b.do(t.Context(), "start r-1 ann send bob eve")
	b.do(t.Context(), "wait r-1")
	b.do(t.Context(), "start x ann hold x")
	<-b.holding
	b.do(t.Context(), "decide r-1 bob yes") // it is queued
	s.turn = s.opened.Load() + 1
	close(b.release["x"])
	<-s.begun
	if got := b.do(t.Context(), "decide r-1 eve yes"); got != "ok" {
		t.Errorf("got %s", got)
	}
	close(s.decided)
	if got := b.do(t.Context(), "wait r-1"); got != "r-1 ann done, answer bob,eve" {
		t.Errorf("got %s", got)
	}
}
