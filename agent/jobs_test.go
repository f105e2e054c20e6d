package agent_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/tools/journal"
)

// A principal with one run does not wait for all runs of another one, also in the next process.
func TestRunnerIsFair(t *testing.T) {
	t.Parallel()
	store := journal.NewMemory()
	first := newBureau(t, open(t), store)
	first.do(t.Context(), "start x ann hold x")
	first.do(t.Context(), "start y ann hold y") // the queue is full
	<-first.holding
	<-first.holding
	for i := range 30 {
		first.do(t.Context(), fmt.Sprintf("start ann-%d ann note ann%d", i, i))
	}
	first.do(t.Context(), "start bob-1 bob note bob")
	for id := range first.release {
		if id != "z" {
			first.do(t.Context(), "cancel "+id)
		}
	}
	first.do(t.Context(), "wait bob-1")
	after := len(strings.Fields(first.String()))
	if after > 10 {
		t.Errorf("bob's run ended after %d of ann's", after)
	}
}

// Two processes that share a store and recover the same runs run each of them once.
func TestTwoRunners(t *testing.T) {
	t.Parallel()
	dir, err := journal.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := newBureau(t, open(t), dir)
	b.do(t.Context(), "start x ann hold x")
	b.do(t.Context(), "start y ann hold y")
	<-b.holding
	<-b.holding
	var want []string
	for i := range 10 {
		b.do(t.Context(), fmt.Sprintf("start r-%d ann note a%d", i, i))
		want = append(want, fmt.Sprintf("note:a%d", i))
	}
	b.queue = queue.New(nil)
	other := b.make()
	if err := other.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(b.release["x"])
	close(b.release["y"])
	for i := range 10 {
		for _, r := range []*agent.Runner{b.runner, other} {
			if info, err := r.Wait(t.Context(), fmt.Sprintf("r-%d", i)); err != nil || info.State != agent.Done {
				t.Errorf("%v, %v", info, err)
			}
		}
	}
	if got := strings.ReplaceAll(b.String(), "hold:x hold:y ", ""); got != strings.Join(want, " ") {
		t.Errorf("the tools did %s", got)
	}
	if err := other.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// A shutdown lets runs end, then pauses the rest before the deadline, so that no call is cut off.
func TestShutdownPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBureau(t, open(t), journal.NewMemory())
		b.do(t.Context(), "start r-1 ann hold x, note a")
		b.do(t.Context(), "start r-2 ann hold y, note b")
		<-b.holding
		<-b.holding
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var ended sync.WaitGroup
		ended.Go(func() {
			if err := b.runner.Shutdown(ctx); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Second)
		close(b.release["x"]) // soon enough to end
		time.Sleep(10 * time.Second)
		close(b.release["y"])
		ended.Wait()
		if got := b.do(t.Context(), "list"); got != "r-1 ann done, answer x,a\nr-2 ann queued\nok" {
			t.Errorf("got %s", got)
		}
		if got := b.String(); got != "hold:x hold:y note:a" {
			t.Errorf("the tools did %s", got)
		}
		b.queue = queue.New(nil)
		b.do(t.Context(), "restart")
		b.do(t.Context(), "recover")
		if got := b.do(t.Context(), "wait r-2"); got != "r-2 ann done, answer y,b" {
			t.Errorf("got %s", got)
		}
	})
}

// faulty is a store whose logs cannot be opened, or not be written, for a while.
type faulty struct {
	journal.Store
	mu   sync.Mutex
	down bool
}

var errDown = errors.New("the database is away")

func (f *faulty) set(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

func (f *faulty) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return errDown
	}
	return nil
}

// Open implements [journal.Store].
func (f *faulty) Open(ctx context.Context, run string) (journal.Log, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	l, err := f.Store.Open(ctx, run)
	return &faultyLog{Log: l, store: f}, err
}

type faultyLog struct {
	journal.Log
	store  *faulty
	mu     sync.Mutex
	failed error
}

// Append implements [journal.Log].
func (l *faultyLog) Append(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed = cmp.Or(l.failed, l.store.err()); l.failed != nil {
		return l.failed
	}
	return l.Log.Append(record)
}

// Runs go on after the store was away for ten seconds, whether they were queued or in progress.
func TestStoreIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Store: journal.NewMemory()}
		b := newBureau(t, open(t), store)
		b.do(t.Context(), "start r-1 ann hold x, note a")
		b.do(t.Context(), "start r-2 ann hold y")
		b.do(t.Context(), "start r-3 ann note c")
		<-b.holding
		<-b.holding
		store.set(true)
		if got := b.do(t.Context(), "start r-4 ann note d"); !strings.Contains(got, errDown.Error()) {
			t.Errorf("got %s", got)
		}
		close(b.release["x"])
		close(b.release["y"])
		time.Sleep(10 * time.Second)
		store.set(false)
		time.Sleep(10 * time.Second)
		got := b.do(t.Context(), "list")
		want := "r-1 ann paused, waits for hold:x (unknown)\nr-2 ann paused, waits for hold:y (unknown)\n" +
			"r-3 ann done, answer c\nok"
		if got != want {
			t.Errorf("got\n%s", got)
		}
	})
}

// Many clients start, look at, decide and cancel runs at the same time.
func TestRunnerStorm(t *testing.T) {
	t.Parallel()
	b := newBureau(t, open(t), journal.NewMemory())
	var all sync.WaitGroup
	for i := range 20 {
		id := fmt.Sprintf("r-%d", i)
		for n := range 4 {
			all.Go(func() {
				request := agent.RunRequest{ID: id, Principal: "ann", Input: input("send bob eve")}
				info, err := b.runner.Start(t.Context(), request)
				for err == nil && info.State != agent.Done && info.State != agent.Cancelled {
					if info, err = b.runner.Wait(t.Context(), id); err != nil {
						break
					}
					for _, w := range info.Waiting {
						err = errors.Join(err, b.runner.Decide(t.Context(), id, w.ID, approved()))
					}
					if i%5 == 4 && n == 0 {
						err = errors.Join(err, b.runner.Cancel(t.Context(), id))
					}
					for _, err := range b.runner.Events(t.Context(), id, "") {
						if err != nil {
							t.Error(err)
						}
					}
				}
				if err != nil && i%5 != 4 {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for i := range 20 {
		info, err := b.runner.Get(t.Context(), fmt.Sprintf("r-%d", i))
		if err != nil || info.State != agent.Done && i%5 != 4 {
			t.Errorf("%v, %v", info, err)
		}
	}
	if n := strings.Count(b.String(), "send:"); n < 32 || n > 40 {
		t.Errorf("%d letters were sent: %s", n, b)
	}
}
