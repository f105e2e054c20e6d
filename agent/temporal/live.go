package temporal

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
)

// live is a run in the memory of a worker. Its calls wait for results that the workflow delivers. It implements
// [dispatch.Performer].
type live struct {
	agent *Agent
	ctx   context.Context // of the module
	end   context.CancelFunc
	users int         // activities that use the run; guarded by agent.mu
	idle  *time.Timer // drops the run; guarded by agent.mu

	mu       sync.Mutex
	log      *ownedLog                 // nil until the run has opened it
	dropped  bool                      // the run must not open its log
	changed  chan struct{}             // closed with every change
	last     time.Time                 // when it was closed last
	inside   int                       // the calls of await in progress, including those whose result has come
	waiting  []*waiter                 // in the order in which they began to wait
	seen     map[int]bool              // the numbers of the results that came
	early    []result                  // results that nobody wants yet
	replies  int                       // the requests to models that have ended
	recorded map[string]dispatch.State // of the calls whose outcomes the journal has
	lost     map[string]bool           // calls without outcomes, because their workers have ended
	stale    map[int]bool              // the numbers of results that do not count any more
	again    bool                      // a call was lost, so the run is to go on from its journal
	ended    bool
	returned returned
	err      error
}

// waiter is a job whose result has not come. While a request is made to a model, it is not one of live.waiting.
type waiter struct {
	job
	ctx   context.Context
	reply chan result
	ask   func(activity context.Context) error // makes the request; nil for a call
}

type liveKey struct{}

func newLive(a *Agent) *live {
	l := &live{agent: a, changed: make(chan struct{}), last: time.Now(), seen: map[int]bool{},
		recorded: map[string]dispatch.State{}, idle: time.NewTimer(0)}
	ctx := context.WithValue(context.Background(), liveKey{}, l)
	l.ctx, l.end = context.WithCancel(durable.WithAsker(dispatch.WithPerformer(ctx, l), l.inTurn))
	return l
}

// start runs a module until it ends.
func (l *live) start(run func(ctx context.Context) (returned, error)) {
	go func() {
		returned, err := run(l.ctx)
		l.change(func() { l.ended, l.returned, l.err = true, returned, err })
	}()
}

func (l *live) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed, l.last = make(chan struct{}), time.Now()
}

// Performs implements [dispatch.Performer].
func (l *live) Performs(b *tools.Binding) bool { return l.agent.tools[b.Path()] != nil }

// Knows implements [dispatch.Performer].
func (l *live) Knows(id string) bool { return !l.lost[id] }

// Settled implements [dispatch.Performer].
func (l *live) Settled(id string, s dispatch.State) { l.change(func() { l.recorded[id] = s }) }

// Perform implements [dispatch.Performer].
func (l *live) Perform(ctx context.Context, b *tools.Binding, args json.RawMessage) (json.RawMessage, error) {
	j, err := l.agent.callJob(l.ctx, b, effect.Of(ctx), args)
	if err != nil { // if the run is repeated, the call may have been made
		return nil, l.giveUp(err)
	}
	r, err := l.await(ctx, &waiter{job: j})
	if err != nil {
		return nil, err
	}
	if r.Lost != "" && once(b) {
		l.lose()
		return nil, tools.Fatal(errNotOwned)
	}
	o, err := l.agent.outcomeOf(l.ctx, r)
	if err != nil && r.Lost == "" && !errors.Is(err, errDamaged) {
		return nil, l.giveUp(err)
	}
	if err == nil && r.Digest != j.Digest {
		err = errors.New("the call was made with other arguments")
	}
	switch {
	case err != nil:
		te := &tools.ToolError{Kind: tools.KindUnknown, Message: "no answer; whether it took effect is unknown"}
		return nil, te.WithCause(err)
	case o.Fatal != "":
		return nil, tools.Fatal(errors.New(o.Fatal))
	case o.Error != nil:
		return nil, o.Error
	}
	return o.Result, nil
}

// lose ends the run as if its process had ended with that of the call, so that the call waits for a decision.
func (l *live) lose() {
	l.change(func() { l.again = true })
	_ = l.log.Close() // what matters was synced
	l.end()
}

// giveUp ends the run in this process, without a record: it goes on from its journal when the objects can be reached.
func (l *live) giveUp(err error) error {
	l.mu.Lock()
	log := l.log
	l.mu.Unlock()
	log.broken.Store(true)
	return tools.Fatal(errors.Join(err, log.Close()))
}

// inTurn is a [durable.Asker]. An activity makes each attempt.
func (l *live) inTurn(ctx context.Context, ask func(ctx context.Context) error) (err error) {
	o := l.agent.options
	w := &waiter{job: job{ID: "ask:" + rand.Text(), Ask: true, Queue: l.agent.own, Timeout: o.AskTimeout,
		Attempts: int32(o.Attempts)}}
	attempts := 0
	w.ask = func(activity context.Context) error {
		request, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(activity, cancel)()
		attempts++
		err = ask(request)
		e, ok := errors.AsType[*models.Error](err)
		if ok && (e.Temporary() || activity.Err() != nil) && ctx.Err() == nil && attempts < o.Attempts {
			return err
		}
		l.change(func() { l.replies++ })
		w.reply <- result{}
		return nil
	}
	if _, ended := l.await(ctx, w); ended != nil {
		return ended
	}
	return err
}

// await waits for the result of a job.
func (l *live) await(ctx context.Context, w *waiter) (result, error) {
	back := tools.Pause(ctx)
	w.ctx, w.reply = ctx, make(chan result, 1)
	l.change(func() {
		l.waiting = append(l.waiting, w)
		l.inside++
		l.match()
	})
	defer l.change(func() { l.inside-- })
	defer back()
	select {
	case r := <-w.reply:
		return r, nil
	case <-ctx.Done():
	}
	at := -1
	l.change(func() {
		if at = slices.Index(l.waiting, w); at >= 0 {
			l.waiting = slices.Delete(l.waiting, at, at+1)
		}
	})
	if at < 0 { // the result is here, or the request to the model is about to end
		return <-w.reply, nil
	}
	return result{}, context.Cause(ctx)
}

// match gives results to the waiters that want them.
func (l *live) match() {
	l.early = slices.DeleteFunc(l.early, func(r result) bool {
		i := slices.IndexFunc(l.waiting, func(w *waiter) bool { return w.ID == r.ID })
		if i >= 0 {
			l.waiting[i].reply <- r
			l.waiting = slices.Delete(l.waiting, i, i+1)
		}
		return i >= 0
	})
}

// deliver takes results. If nobody wants one yet, it is kept until somebody does.
func (l *live) deliver(results []result) {
	l.change(func() {
		for _, r := range results {
			if !l.seen[r.Number] && !l.stale[r.Number] {
				l.seen[r.Number] = true
				l.early = append(l.early, r)
			}
		}
		l.match()
	})
}

// ask makes an attempt of a request. If the run went on from its journal, requests have other IDs, and any will do.
func (l *live) ask(ctx context.Context, id string) error {
	var w *waiter
	err := l.until(ctx, func(quiet time.Duration) time.Duration {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, o := range l.waiting {
			if o.Ask && (w == nil || o.ID == id) {
				w = o
			}
		}
		if w == nil {
			return time.Second - quiet // then nobody wants it any more
		}
		l.waiting = slices.DeleteFunc(l.waiting, func(o *waiter) bool { return o == w })
		return 0
	})
	if err != nil || w == nil {
		return err
	}
	if err := w.ask(ctx); err != nil {
		l.change(func() {
			if w.ctx.Err() != nil { // await may wait only for the reply by now
				w.reply <- result{}
				return
			}
			l.waiting = append(l.waiting, w)
		})
		return err
	}
	return l.until(ctx, func(quiet time.Duration) time.Duration { // so that the reply is not paid for again
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.log.replies >= l.replies {
			return 0
		}
		return time.Second - quiet // it is not recorded: the run was canceled
	})
}

// until waits until the run has ended, or until done returns no positive duration. Done gets the time since the last
// change. It is called again after each change, and after the duration that it returns.
func (l *live) until(ctx context.Context, done func(quiet time.Duration) time.Duration) error {
	for {
		l.mu.Lock()
		changed, ended, quiet := l.changed, l.ended, time.Since(l.last)
		l.mu.Unlock()
		if ended {
			return nil
		}
		wait := done(quiet)
		if wait <= 0 {
			return nil
		}
		select {
		case <-changed:
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rest waits until the run has ended, or until it only waits for jobs. If something else seems to take long, or if that
// is not known, because the module runs others concurrently, rest returns busy. Then there may be more jobs soon.
func (l *live) rest(ctx context.Context, running []string) (busy bool, err error) {
	err = l.until(ctx, func(quiet time.Duration) time.Duration {
		l.mu.Lock()
		waiting, inside, fresh, again := slices.Clone(l.waiting), l.inside, len(l.jobs(running, 1)) > 0, l.again
		l.mu.Unlock()
		concurrent := slices.ContainsFunc(waiting, func(w *waiter) bool { return durable.BranchOf(w.ctx) != "" })
		works := func(w *waiter) bool { return !place.Idle(w.ctx) }
		busy = concurrent || inside > len(waiting) || slices.ContainsFunc(waiting, works)
		switch {
		case inside == 0 || again:
			return time.Minute
		case !busy:
			return 0
		case concurrent && fresh:
			return 10*time.Millisecond - quiet
		}
		return min(100*time.Millisecond-quiet, 2*time.Millisecond)
	})
	return busy, err
}

// works reports whether the run does something else than wait for jobs, as far as that is known.
func (l *live) works() bool {
	l.mu.Lock()
	waiting, inside, ended := slices.Clone(l.waiting), l.inside, l.ended
	l.mu.Unlock()
	return !ended && (inside == 0 || inside != len(waiting) ||
		slices.ContainsFunc(waiting, func(w *waiter) bool { return !place.Idle(w.ctx) }))
}

// jobs returns the jobs that are not in progress, at most room. If a policy makes a call twice at the same time, the
// second job begins when the first has ended.
func (l *live) jobs(running []string, room int) (list []job) {
	for _, w := range l.waiting {
		same := func(j job) bool { return j.ID == w.ID }
		if len(list) < room && !slices.Contains(running, w.ID) && !slices.ContainsFunc(list, same) {
			list = append(list, w.job)
		}
	}
	return list
}

// needless returns the numbers of the results that the workflow can forget, because the journal has them. It does not
// return the last ones of calls whose outcome the journal calls unknown: they answer for a person.
func (l *live) needless(results []result) (numbers []int) {
	late := 0
	for _, r := range slices.Backward(results) {
		s := l.recorded[r.ID]
		if s == dispatch.StateUnknown && r.Lost == "" {
			late++
		}
		if l.stale[r.Number] || s != "" && (s != dispatch.StateUnknown || r.Lost != "" || late > maxLate) {
			numbers = append(numbers, r.Number)
		}
	}
	l.early = slices.DeleteFunc(l.early, func(r result) bool { return slices.Contains(numbers, r.Number) })
	return numbers
}
