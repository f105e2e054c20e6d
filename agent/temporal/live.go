package temporal

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// live is a run in the memory of a worker. Its calls wait for results that the workflow delivers. It implements
// [dispatch.Performer].
type live struct {
	agent *Agent
	end   context.CancelFunc
	idle  *time.Timer // drops the run; guarded by agent.mu, as users is
	users int         // activities that use the run

	mu       sync.Mutex
	log      *ownedLog     // nil until the run has opened it
	changed  chan struct{} // closed with every change
	waiting  []*waiter     // in the order in which they were wanted
	seen     map[int]bool  // the numbers of the results that were delivered or are early
	early    []result      // results that nobody wants yet
	recorded map[string]bool
	stale    map[int]bool    // the numbers of the results that the journal does not need
	lost     map[string]bool // calls whose outcome is unknown, because their worker has ended
	again    bool            // the run has ended because of a lost call, and is to go on from its journal
	ended    bool
	output   json.RawMessage
	err      error
}

// waiter is a job whose result has not come.
type waiter struct {
	job
	reply chan result // of a call

	turn   chan turn     // of a request to a model
	gone   chan struct{} // closed when nobody waits for the turn
	asking bool          // guarded by live.mu
}

type liveKey struct{}

func newLive(a *Agent) *live {
	return &live{agent: a, changed: make(chan struct{}), seen: map[int]bool{}, recorded: map[string]bool{},
		lost: map[string]bool{}, stale: map[int]bool{}}
}

// start runs a module until it ends.
func (l *live) start(run func(ctx context.Context) (json.RawMessage, error)) {
	ctx, end := context.WithCancel(context.WithValue(context.Background(), liveKey{}, l))
	l.end = end
	go func() {
		output, err := run(durable.WithAsker(dispatch.WithPerformer(ctx, l), l.inTurn))
		l.change(func() { l.ended, l.output, l.err = true, output, err })
	}()
}

func (l *live) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Performs implements [dispatch.Performer].
func (l *live) Performs(b *tools.Binding) bool { return l.agent.tools[b.Path()] != nil }

// Knows implements [dispatch.Performer].
func (l *live) Knows(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.lost[id]
}

// Settled implements [dispatch.Performer].
func (l *live) Settled(id effect.ID) { l.change(func() { l.recorded[entryID(id)] = true }) }

// entryID identifies a journal's entry. It differs from the ID of the effect if the call is made again.
func entryID(id effect.ID) string { return id.Run + ":" + id.Entry }

// Perform implements [dispatch.Performer].
func (l *live) Perform(ctx context.Context, b *tools.Binding, args json.RawMessage) (json.RawMessage, error) {
	id := effect.Of(ctx)
	r, err := l.want(ctx, l.agent.callJob(b, id), args)
	if err != nil {
		return nil, err
	}
	var o outcome
	if r.Lost == "" {
		text, err := load(ctx, l.agent.options.Objects, r.Data)
		if err == nil {
			err = json.Unmarshal(text, &o)
		}
		if err != nil {
			o = outcome{Error: &tools.ToolError{Kind: tools.KindInvalidResult, Message: err.Error()}}
		}
	}
	switch {
	case r.lost() && l.lose(b):
		return nil, tools.Fatal(errDropped)
	case r.Late:
		o.Error = &tools.ToolError{Kind: tools.KindTimeout, Message: "no answer in time; whether it took effect is unknown"}
	case r.Lost != "":
		o.Error = &tools.ToolError{Kind: tools.KindUnknown,
			Message: "the worker that made the call has not answered; whether it took effect is unknown"}
		o.Error = o.Error.WithCause(errors.New(r.Lost))
	case r.Digest != digestOf(args):
		o = outcome{Error: &tools.ToolError{Kind: tools.KindUnknown,
			Message: "the call was made with other arguments; whether it took effect is unknown"}}
	case o.Fatal != "":
		return nil, tools.Fatal(errors.New(o.Fatal))
	}
	if o.Error != nil {
		return nil, o.Error
	}
	return o.Result, nil
}

// lose ends the run as if its process had ended with that of the call: it goes on from its journal, and waits for a
// decision. It returns false if the program learns of the loss.
func (l *live) lose(b *tools.Binding) bool {
	if b.ReplayClass() == tools.Read || b.ReplayClass() == tools.Idempotent || b.Hints.Repeatable {
		return false
	}
	l.change(func() { l.again = true })
	_ = l.log.Close() // what matters was synced
	l.end()
	return true
}

// want waits for the result of a call.
func (l *live) want(ctx context.Context, j job, args json.RawMessage) (r result, err error) {
	if j.Data, err = keep(ctx, l.agent.options.Objects, args, maxInline); err != nil {
		return r, (&tools.ToolError{Kind: tools.KindUnavailable, Message: "the call was not made"}).WithCause(err)
	}
	j.Digest = digestOf(args)
	defer tools.Pause(ctx)()
	w := &waiter{job: j, reply: make(chan result, 1)}
	l.change(func() { l.add(w) })
	select {
	case r = <-w.reply:
		return r, nil
	case <-ctx.Done():
	}
	l.change(func() { l.remove(w) })
	select {
	case r = <-w.reply:
		return r, nil
	default:
		return r, context.Cause(ctx)
	}
}

// inTurn is a [durable.Asker]. Each attempt of an activity makes the request once.
func (l *live) inTurn(ctx context.Context, ask func(ctx context.Context) error) (err error) {
	o := l.agent.options
	w := &waiter{turn: make(chan turn, 1), gone: make(chan struct{}), job: job{ID: "ask:" + rand.Text(), Ask: true, Queue: l.agent.own,
		Timeout: o.AskTimeout, Attempts: int32(o.Attempts)}}
	defer tools.Pause(ctx)()
	defer close(w.gone)
	defer l.change(func() { l.remove(w) })
	l.change(func() { l.waiting = append(l.waiting, w) })
	for attempt := 1; ; attempt++ {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case t := <-w.turn:
			request, cancel := context.WithCancel(ctx)
			stop := context.AfterFunc(t.ctx, cancel)
			err = ask(request)
			stop()
			cancel()
			e, ok := errors.AsType[*models.Error](err)
			again := ok && (e.Temporary() || t.ctx.Err() != nil) && ctx.Err() == nil && attempt < o.Attempts
			if !again {
				t.done <- nil
				return err
			}
			t.done <- err
		}
	}
}

// turn is an attempt of a request to a model.
type turn struct {
	ctx  context.Context // of the activity
	done chan<- error    // an error if there is to be another attempt
}

// ask makes an attempt of a request. If the run went on from its journal, requests have other IDs, and any will do.
func (l *live) ask(ctx context.Context, id string) error {
	for {
		l.mu.Lock()
		changed, w := l.changed, (*waiter)(nil)
		for _, o := range l.waiting {
			if o.Ask && !o.asking && (w == nil || o.ID == id) {
				w = o
			}
		}
		if w != nil {
			w.asking = true
		}
		ended := l.ended
		l.mu.Unlock()
		switch {
		case w != nil:
			defer l.change(func() { w.asking = false })
			done := make(chan error, 1)
			w.turn <- turn{ctx, done}
			select {
			case err := <-done:
				return err
			case <-w.gone:
				return nil
			}
		case ended:
			return nil
		}
		select {
		case <-changed:
		case <-time.After(time.Second): // nobody wants it any more
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// add adds a waiter, or gives it the result that is already there. If a policy makes a call twice at the same time, the
// second one has a number.
func (l *live) add(w *waiter) {
	id := w.ID
	for n := 2; slices.ContainsFunc(l.waiting, func(o *waiter) bool { return o.ID == w.ID }); n++ {
		w.ID = fmt.Sprintf("%s#%d", id, n)
	}
	if i := slices.IndexFunc(l.early, func(r result) bool { return r.ID == w.ID }); i >= 0 {
		w.reply <- l.early[i]
		l.early = slices.Delete(l.early, i, i+1)
		return
	}
	l.waiting = append(l.waiting, w)
}

func (l *live) remove(w *waiter) {
	l.waiting = slices.DeleteFunc(l.waiting, func(o *waiter) bool { return o == w })
}

// deliver gives results to the waiters that want them. The others are kept until somebody does.
func (l *live) deliver(results []result) {
	l.change(func() {
		for _, r := range results {
			if l.seen[r.Number] {
				continue
			}
			l.seen[r.Number] = true
			i := slices.IndexFunc(l.waiting, func(w *waiter) bool { return w.ID == r.ID })
			if i < 0 {
				l.early = append(l.early, r)
				continue
			}
			l.waiting[i].reply <- r
			l.waiting = slices.Delete(l.waiting, i, i+1)
		}
	})
}

// settleTime is how long a run may compute before an Advance returns, while some of its jobs are in progress. It only
// decides when the workflow learns of further jobs.
const settleTime, moreTime = 100 * time.Millisecond, 10 * time.Millisecond

// rest waits until the run has ended, or until it only waits for jobs. The jobs in progress are not new.
func (l *live) rest(ctx context.Context, running []string) (err error) {
	for {
		l.mu.Lock()
		changed, ended, again, open := l.changed, l.ended, l.again, len(l.waiting)
		fresh := slices.ContainsFunc(l.waiting, func(w *waiter) bool { return !slices.Contains(running, w.ID) })
		l.mu.Unlock()
		if ended {
			return nil
		}
		var settled <-chan time.Time
		if again { // until it has ended
		} else if fresh {
			settled = time.After(moreTime)
		} else if open > 0 {
			settled = time.After(settleTime)
		}
		select {
		case <-changed:
		case <-settled:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// jobs returns the jobs that are not in progress, at most room.
func (l *live) jobs(running []string, room int) (list []job) {
	size := 0
	for _, w := range l.waiting {
		if slices.Contains(running, w.ID) {
			continue
		}
		if size += len(w.Data.JSON); len(list) >= room || size > maxDelivered && len(list) > 0 {
			break
		}
		list = append(list, w.job)
	}
	return list
}

// needless returns the numbers of the results that the workflow need not keep any more.
func (l *live) needless(results []result) (numbers []int) {
	recorded := func(r result) bool { return l.recorded[callOf(r.ID)] || l.stale[r.Number] }
	for _, r := range results {
		if recorded(r) {
			numbers = append(numbers, r.Number)
		}
	}
	l.early = slices.DeleteFunc(l.early, recorded)
	return numbers
}

// discard ignores a result.
func (l *live) discard(r result) { l.seen[r.Number], l.stale[r.Number] = true, true }

// callOf returns the ID of a job's call: see [live.add].
func callOf(job string) string {
	id, _, _ := strings.Cut(job, "#")
	return id
}

// ownedLog is the log of a run. When the worker drops the run, nothing more is recorded.
type ownedLog struct {
	journal.Log
	mu     sync.RWMutex
	closed bool
	broken atomic.Bool // an error of the log has occurred
}

var errDropped = errors.New("the worker has dropped the run")

func (o *ownedLog) do(f func() error) error {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.closed {
		return errDropped
	}
	err := f()
	if err != nil {
		o.broken.Store(true)
	}
	return err
}

// Append implements [journal.Log].
func (o *ownedLog) Append(record []byte) error {
	return o.do(func() error { return o.Log.Append(record) })
}

// Sync implements [journal.Log].
func (o *ownedLog) Sync() error { return o.do(o.Log.Sync) }

// Close implements [journal.Log].
func (o *ownedLog) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	return o.Log.Close()
}

// store is the Store of an agent. A run that opens its log in it can be dropped.
type store struct{ journal.Store }

// Open implements [journal.Store].
func (s store) Open(ctx context.Context, run string) (journal.Log, error) {
	log, err := s.Store.Open(ctx, run)
	l, ok := ctx.Value(liveKey{}).(*live)
	if err != nil || !ok {
		return log, err
	}
	owned := &ownedLog{Log: log}
	l.change(func() { l.log = owned })
	return owned, nil
}
