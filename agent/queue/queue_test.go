package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/internal/metertest"
	"github.com/writ-go/writ/tools"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m.Run)) }

// TestFair has one client with a thousand waiting calls, and another one with three: they take
// turns.
func TestFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(&queue.Options{Running: 1, Waiting: 2000, Wait: time.Hour})
		var order []string // only one runs at once
		var all sync.WaitGroup
		do := func(who string, n int) {
			for range n {
				all.Go(func() {
					if err := q.Do(t.Context(), who, func(context.Context) error {
						order = append(order, who)
						time.Sleep(time.Second)
						return nil
					}); err != nil {
						t.Errorf("%s: %v", who, err)
					}
				})
			}
			synctest.Wait()
		}
		do("greedy", 1001) // the first of them runs
		do("modest", 3)
		do("late", 1)
		all.Wait()
		if got, want := order[:8], []string{"greedy", "greedy", "modest", "late", "greedy", "modest", "greedy",
			"modest"}; !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		if len(order) != 1005 {
			t.Errorf("%d calls ran, want 1005", len(order))
		}
	})
}

// TestFullQueue refuses the newest call of the principal with the most waiting calls.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(&queue.Options{Running: 1, Waiting: 4, Wait: time.Hour})
		var mu sync.Mutex
		var ended []string
		var all sync.WaitGroup
		do := func(name string) {
			who, _, _ := strings.Cut(name, " ")
			all.Go(func() {
				err := q.Do(t.Context(), who, func(context.Context) error { time.Sleep(10 * time.Second); return nil })
				mu.Lock()
				defer mu.Unlock()
				ended = append(ended, fmt.Sprint(name, ": ", err))
			})
			synctest.Wait()
		}
		for _, name := range []string{"greedy 0", "greedy 1", "greedy 2", "greedy 3", "greedy 4", "greedy 5", "modest 1",
			"modest 2", "modest 3", "late 1"} {
			do(name)
		}
		all.Wait()
		busy := queue.ErrBusy.Error()
		if got, want := ended, []string{
			"greedy 5: " + busy, "greedy 4: " + busy, "greedy 3: " + busy, "modest 3: " + busy, "greedy 2: " + busy,
			"greedy 0: <nil>", "greedy 1: <nil>", "modest 1: <nil>", "late 1: <nil>", "modest 2: <nil>",
		}; !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// TestEach bounds the running calls of one client, while another does not wait.
func TestEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(&queue.Options{Running: 3, PerPrincipal: 2, Wait: time.Hour})
		var all sync.WaitGroup
		begin := time.Now()
		for range 4 {
			all.Go(func() {
				if err := q.Do(t.Context(), "greedy",
					func(context.Context) error { time.Sleep(time.Second); return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := q.Do(t.Context(), "modest", func(context.Context) error { return nil }); err != nil ||
			time.Since(begin) != 0 {
			t.Errorf("%v after %v, want it to run at once", err, time.Since(begin))
		}
		all.Wait()
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("4 calls of 1 s, 2 at once, took %v", took)
		}
	})
}

// TestWaiting ends the waiting of a call in all possible ways.
func TestWaiting(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		meanwhile func(q *queue.Queue, cancel context.CancelCauseFunc)
		want      string
		after     time.Duration
	}{
		"too long": {func(*queue.Queue, context.CancelCauseFunc) {}, queue.ErrBusy.Error(),
			30 * time.Second},
		"cancelled": {func(_ *queue.Queue, cancel context.CancelCauseFunc) { cancel(mine) }, "mine", 0},
		"stopped": {func(q *queue.Queue, _ context.CancelCauseFunc) { q.Stop() },
			"the server is shutting down; nothing was done", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(&queue.Options{Running: 1})
			release := make(chan struct{})
			var all sync.WaitGroup
			all.Go(func() {
				_ = q.Do(t.Context(), "other", func(context.Context) error { <-release; return nil })
			})
			synctest.Wait()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			begin := time.Now()
			all.Go(func() {
				ran := false
				err := q.Do(ctx, "this", func(context.Context) error { ran = true; return nil })
				if err == nil || err.Error() != c.want || ran || time.Since(begin) != c.after {
					t.Errorf("%s: %v after %v, ran %v; want %q after %v", name, err, time.Since(begin), ran, c.want, c.after)
				}
			})
			synctest.Wait()
			c.meanwhile(q, cancel)
			if c.after > 0 {
				time.Sleep(c.after)
				synctest.Wait()
			}
			close(release)
			all.Wait()
			if name != "stopped" {
				if err := q.Do(t.Context(), "next", func(context.Context) error { return mine }); !errors.Is(err, mine) {
					t.Errorf("%s: the next call: %v", name, err)
				}
			}
		})
	}
}

// TestStop cancels running calls, and checks that a panic frees its place.
func TestStop(t *testing.T) {
	t.Parallel()
	meters := metertest.New()
	q := queue.New(&queue.Options{Running: 1, MeterProvider: meters})
	func() {
		defer func() { _ = recover() }()
		_ = q.Do(t.Context(), "a", func(context.Context) error { panic("oops") })
	}()
	err := q.Do(t.Context(), "a", func(ctx context.Context) error {
		q.Stop()
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, queue.ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	const want = `writ.queue.call.duration{writ.queue.name=executions,writ.queue.outcome=cancelled} 1
writ.queue.call.duration{writ.queue.name=executions,writ.queue.outcome=failed} 1
writ.queue.running{writ.queue.name=executions} 0
writ.queue.wait.duration{writ.queue.name=executions,writ.queue.outcome=cancelled} 1
writ.queue.wait.duration{writ.queue.name=executions,writ.queue.outcome=failed} 1
writ.queue.waiting{writ.queue.name=executions} 0
`
	if got := meters.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSecondQueue checks that a second queue stops with the first, and runs calls while the first is
// full.
func TestSecondQueue(t *testing.T) {
	t.Parallel()
	q := queue.New(&queue.Options{Running: 1})
	tasks := q.AddQueue("tasks", nil)
	err := q.Do(t.Context(), "a", func(ctx context.Context) error {
		return tasks.Do(ctx, "a", func(ctx context.Context) error {
			q.Stop()
			<-ctx.Done()
			return context.Cause(ctx)
		})
	})
	if !errors.Is(err, queue.ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	if err := tasks.Do(t.Context(), "a", nil); err == nil ||
		err.Error() != "the server is shutting down; nothing was done" {
		t.Errorf("afterwards: %v", err)
	}
}

// TestQueueStorm has many principals wait, give up and run concurrently; no call is lost, and
// all places are free at the end.
func TestQueueStorm(t *testing.T) {
	t.Parallel()
	meters := metertest.New()
	q := queue.New(&queue.Options{
		Running: 4, PerPrincipal: 2, Waiting: 50, Wait: 5 * time.Millisecond, MeterProvider: meters,
	})
	var all sync.WaitGroup
	var mu sync.Mutex
	running, most := 0, 0
	for i := range 2000 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*time.Millisecond)
			defer cancel()
			_ = q.Do(ctx, fmt.Sprint("p", i%13), func(context.Context) error {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(100 * time.Microsecond)
				mu.Lock()
				running--
				mu.Unlock()
				return nil
			})
		})
	}
	all.Wait()
	if text := meters.Text(); most > 4 || !strings.Contains(text, "writ.queue.running{writ.queue.name=executions} 0\n") ||
		!strings.Contains(text, "writ.queue.waiting{writ.queue.name=executions} 0\n") {
		t.Errorf("%d ran at once, want 4 at most\n%s", most, text)
	}
}

// A call that waits lets others run, and need not wait for them when it goes on.
func TestQueuePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(&queue.Options{Running: 1, Wait: time.Hour})
		var mu sync.Mutex
		var order []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		var all sync.WaitGroup
		do := func(name string, f func(context.Context)) {
			all.Go(func() {
				if err := q.Do(t.Context(), "ann", func(ctx context.Context) error {
					note(name + " begins")
					f(ctx)
					note(name + " ends")
					return nil
				}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
			synctest.Wait()
		}
		do("waiting", func(ctx context.Context) {
			resume := tools.Pause(ctx)
			time.Sleep(time.Second)
			resume()
		})
		do("long", func(ctx context.Context) {
			for _, resume := range []func(){tools.Pause(ctx), tools.Pause(ctx)} { // two programs at once
				resume()
			}
			time.Sleep(2 * time.Second)
		})
		do("new", func(context.Context) {})
		do("over", func(ctx context.Context) { // it never goes on
			tools.Pause(ctx)
		})
		all.Wait()
		if got, want := strings.Join(order, ", "), "waiting begins, long begins, waiting ends, long ends, "+
			"new begins, new ends, over begins, over ends"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		do("last", func(context.Context) {})
		all.Wait()
		if len(order) != 10 {
			t.Error("a place was lost")
		}
	})
}

// Shutdown waits for the running calls as long as its context allows. Waiting calls do not begin.
func TestQueueShutdown(t *testing.T) {
	t.Parallel()
	for patience, want := range map[time.Duration]error{time.Minute: nil, time.Second: queue.ErrStopped} {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(&queue.Options{Running: 1})
			var all sync.WaitGroup
			do := func(want error) {
				all.Go(func() {
					err := q.Do(t.Context(), "ann", func(ctx context.Context) error {
						select {
						case <-time.After(10 * time.Second):
							return nil
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					})
					if !errors.Is(err, want) {
						t.Errorf("got %v, not %v", err, want)
					}
				})
				synctest.Wait()
			}
			do(want)
			do(queue.ErrStopped)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			q.Shutdown(ctx)
			do(queue.ErrStopped)
			all.Wait()
		})
	}
}

// While a queue shuts down, a running call may make calls of another queue. Shutdown returns when
// its context ends, even if a call ignores that.
func TestQueueShutdownAmidCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		programs := queue.New(nil)
		tasks := programs.AddQueue("tasks", nil)
		var all sync.WaitGroup
		all.Go(func() {
			if err := tasks.Do(t.Context(), "ann", func(ctx context.Context) error {
				time.Sleep(time.Second)
				return programs.Do(ctx, "ann", func(context.Context) error { time.Sleep(time.Hour); return nil })
			}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if programs.Shutdown(ctx); time.Since(began) != time.Minute {
			t.Errorf("returned after %v", time.Since(began))
		}
		all.Wait()
	})
}

// A call with a context from WithStop does not begin once the stop is done, and a running one is canceled.
func TestWithStop(t *testing.T) {
	t.Parallel()
	q := queue.New(nil)
	stop, end := context.WithCancel(t.Context())
	ctx, release := queue.WithStop(t.Context(), stop)
	defer release()
	if err := q.Do(ctx, "ann", func(ctx context.Context) error {
		end()
		<-ctx.Done()
		return context.Cause(ctx)
	}); !errors.Is(err, queue.ErrStopped) {
		t.Errorf("the running call: %v", err)
	}
	err := q.Do(ctx, "ann", func(context.Context) error { return nil })
	if !errors.Is(err, queue.ErrStopped) || !strings.Contains(err.Error(), "nothing was done") {
		t.Errorf("a later call: %v", err)
	}
}

// BenchmarkQueue measures a queue without waiting calls.
func BenchmarkQueue(b *testing.B) {
	q := queue.New(nil)
	for b.Loop() {
		if err := q.Do(b.Context(), "ada", func(context.Context) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// Calls from Go wait without a limit, take turns with the calls of others, and can leave.
func TestGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(&queue.Options{Running: 1, Waiting: 1, Wait: time.Second})
		var order []string // only one runs at once
		add := func(who, name string) (leave func() bool) {
			leave, err := q.Go(who, func(context.Context) error {
				order = append(order, name)
				time.Sleep(time.Minute)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		first := add("ann", "ann 0")
		var left func() bool
		for i := range 1000 {
			left = add("ann", fmt.Sprint("ann ", i+1))
		}
		add("bob", "bob 1")
		synctest.Wait()
		if first() || !left() || !left() {
			t.Error("a call that runs has left, or one that waits has not")
		}
		var busy sync.WaitGroup
		for range 2 { // one may wait, but not for long
			busy.Go(func() {
				err := q.Do(t.Context(), "ann", func(context.Context) error { return nil })
				if !errors.Is(err, queue.ErrBusy) {
					t.Errorf("got %v", err)
				}
			})
		}
		busy.Wait()
		time.Sleep(1010 * time.Minute)
		synctest.Wait()
		if len(order) != 1001 || strings.Join(order[:4], ", ") != "ann 0, ann 1, bob 1, ann 2" {
			t.Errorf("%d calls ran: %v", len(order), order[:4])
		}
	})
}

// When a queue stops, calls from Go that wait never begin.
func TestGoStops(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*queue.Queue){
		"stop":     (*queue.Queue).Stop,
		"shutdown": func(q *queue.Queue) { q.Shutdown(context.Background()) },
	} {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(&queue.Options{Running: 1})
			ended := make(chan error, 1)
			_, err := q.Go("ann", func(ctx context.Context) error {
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
				}
				ended <- context.Cause(ctx)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			leave, err := q.Go("ann", func(context.Context) error { t.Errorf("%s: it began", name); return nil })
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			end(q)
			if err := <-ended; errors.Is(err, queue.ErrStopped) != (name == "stop") {
				t.Errorf("%s: the running call: %v", name, err)
			}
			synctest.Wait()
			if !leave() {
				t.Errorf("%s: it cannot leave", name)
			}
			if _, err := q.Go("ann", nil); !errors.Is(err, queue.ErrStopped) {
				t.Errorf("%s: a later call: %v", name, err)
			}
		})
	}
}
