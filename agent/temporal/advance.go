package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/sdk/activity"
)

// advance is the activity that makes a run go on, until it has ended or only waits for jobs. The workflow keeps what it
// knows about the jobs until this activity has recorded it: that is why a call without an outcome in the journal was
// not made, unless the workflow says that it is in progress, or has its result.
func (a *Agent) advance(ctx context.Context, in advance) (p progress, err error) {
	defer a.beat(ctx)()
	for again := true; again; {
		p, again, err = a.step(ctx, in)
	}
	return p, err
}

// step makes a run go on. It returns true if the run has ended and is to go on from its journal.
func (a *Agent) step(ctx context.Context, in advance) (p progress, again bool, err error) {
	l, p, err := a.enter(ctx, in)
	if l == nil || err != nil {
		return p, false, err
	}
	defer a.leave(in.Run, l)
	l.deliver(in.Results)
	if err := l.rest(ctx, in.Running); err != nil {
		return p, false, err
	}
	l.mu.Lock()
	ended, log := l.ended, l.log
	again = ended && l.again
	if !ended { // before the log is synced
		p = progress{State: agent.Running, Recorded: l.needless(in.Results), Jobs: l.jobs(in.Running, in.Room),
			Queue: a.own, Busy: true}
	}
	l.mu.Unlock()
	if ended {
		a.mu.Lock()
		a.drop(in.Run, l)
		a.mu.Unlock()
		if !again {
			p, err = a.ended(ctx, in, l)
		}
		return p, again, err
	}
	return p, false, log.Sync()
}

// beat reports that an activity is alive until stop is called.
func (a *Agent) beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for tick := time.Tick(a.options.Heartbeat / 3); ctx.Err() == nil; {
			activity.RecordHeartbeat(ctx)
			select {
			case <-tick:
			case <-ctx.Done():
			}
		}
	}()
	return cancel
}

// enter returns the run from memory, or makes it go on from its journal. It returns no run if it waits for decisions.
func (a *Agent) enter(ctx context.Context, in advance) (*live, progress, error) {
	a.mu.Lock()
	l := a.lives[in.Run]
	if l != nil {
		a.use(l)
	}
	a.mu.Unlock()
	if l != nil {
		return l, progress{}, nil
	}
	l = newLive(a)
	l.users = 1
	l.idle = time.AfterFunc(time.Hour, func() { a.expire(in.Run, l) })
	l.idle.Stop()
	at, err := a.runs.Checkpoint(ctx, in.Run)
	switch {
	case errors.Is(err, agent.ErrNoRun):
		if err = a.first(ctx, in, l); err != nil {
			return nil, progress{}, err
		}
	case err != nil:
		return nil, progress{}, err
	default:
		if err := a.known(ctx, in, l); err != nil {
			return nil, progress{}, err
		}
		decisions := a.decisions(ctx, in, l, at.Waiting)
		open := slices.DeleteFunc(unsettled(in, at.Waiting), func(w agent.Waiting) bool {
			_, ok := decisions[w.ID]
			return ok
		})
		unknown := slices.ContainsFunc(open, func(w agent.Waiting) bool { return w.Unknown })
		if unknown || len(open) > 0 && len(open) == len(at.Waiting) {
			p, err := a.pause(ctx, open)
			p.Recorded = l.needless(in.Results)
			return nil, p, err
		}
		for _, r := range in.Results {
			if id := callOf(r.ID); decisions[id].Outcome != nil { // if the call was not made, it has another result later
				l.discard(r)
				delete(l.lost, id)
			}
		}
		l.start(func(ctx context.Context) (json.RawMessage, error) { return a.resume(ctx, at, decisions) })
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lives[in.Run] = l
	return l, progress{}, nil
}

// first begins the run.
func (a *Agent) first(ctx context.Context, in advance, l *live) error {
	if in.Input == nil {
		return fmt.Errorf("temporal: the journal of %s is not in the store; give all workers the same one", in.Run)
	}
	input, err := load(ctx, a.options.Objects, *in.Input)
	if err != nil {
		return err
	}
	l.start(func(ctx context.Context) (json.RawMessage, error) { return a.begin(ctx, in.Run, input) })
	return nil
}

// known notes the results that the journal has, and the calls that are lost.
func (a *Agent) known(ctx context.Context, in advance, l *live) error {
	if len(in.Results) == 0 {
		return nil
	}
	all, err := a.runs.Calls(ctx, in.Run)
	ended := map[string]bool{}
	for run, entries := range all {
		for _, e := range entries {
			ended[run+":"+e.ID] = e.State != dispatch.StateIntended && e.State != dispatch.StateDispatched &&
				e.State != dispatch.StateUnknown
		}
	}
	for _, r := range in.Results {
		id := callOf(r.ID)
		if l.lost[id] = r.lost() && !ended[id]; ended[id] {
			l.discard(r)
		}
	}
	return err
}

// unsettled returns the calls that wait for decisions, without those whose outcomes are unknown to the journal, but not
// to the workflow.
func unsettled(in advance, waiting []agent.Waiting) (open []agent.Waiting) {
	for _, w := range waiting {
		known := slices.ContainsFunc(in.Running, func(id string) bool { return callOf(id) == w.ID }) ||
			slices.ContainsFunc(in.Results, func(r result) bool { return callOf(r.ID) == w.ID && r.Lost == "" })
		if !w.Unknown || !known {
			open = append(open, w)
		}
	}
	return open
}

// decisions returns the valid answers to waiting calls. If the outcome of a call is unknown, but has come meanwhile, it
// is the answer.
func (a *Agent) decisions(ctx context.Context, in advance, l *live, waiting []agent.Waiting) map[string]agent.Decision {
	all := map[string]agent.Decision{}
	for _, w := range waiting {
		for _, answer := range in.Answers {
			if answer.Call == w.ID && answer.Decision.Check(w) == nil {
				all[w.ID] = answer.Decision
			}
		}
		for _, r := range in.Results {
			if !w.Unknown || r.ID != w.ID || r.Lost != "" || r.Digest != digestOf(w.Args) {
				continue
			}
			var o outcome
			text, err := load(ctx, a.options.Objects, r.Data)
			if err == nil && json.Unmarshal(text, &o) == nil && o.Error == nil && o.Fatal == "" {
				all[w.ID] = agent.Decision{Outcome: &journal.Reconciled{State: journal.StateOK, Result: o.Result}}
			}
		}
	}
	return all
}

// pause describes the calls that wait for decisions.
func (a *Agent) pause(ctx context.Context, waiting []agent.Waiting) (progress, error) {
	p := progress{State: agent.Paused}
	for _, w := range waiting {
		text, err := json.Marshal(w)
		if err != nil {
			return p, err
		}
		v, err := keep(ctx, a.options.Objects, text, 4<<10) // many may wait
		if err != nil {
			return p, err
		}
		w.Args, w.Resembles = nil, append([]journal.Entry(nil), w.Resembles...)
		for i, e := range w.Resembles {
			w.Resembles[i] = journal.Entry{ID: e.ID, Tool: e.Tool, State: e.State}
		}
		p.Waiting = append(p.Waiting, Waiting{w, v})
	}
	return p, nil
}

// ended returns how a run has ended. An error means that it can go on.
func (a *Agent) ended(ctx context.Context, in advance, l *live) (p progress, err error) {
	paused, ok := errors.AsType[*agent.PausedError](l.err)
	switch {
	case ok && len(paused.Checkpoint.Waiting) > 0:
		return a.pause(ctx, unsettled(in, paused.Checkpoint.Waiting))
	case ok, errors.Is(l.err, journal.ErrInUse), l.log == nil && l.err != nil, l.log != nil && l.log.broken.Load():
		return p, l.err
	case l.err != nil:
		return progress{State: agent.Failed, Error: l.err.Error()}, nil
	}
	v, err := keep(ctx, a.options.Objects, l.output, maxInline)
	return progress{State: agent.Done, Output: &v}, err
}

// use keeps a run in memory until leave is called. The caller holds a.mu.
func (a *Agent) use(l *live) {
	l.users++
	l.idle.Stop()
}

// leave ends the use of a run. It stays in memory for some time.
func (a *Agent) leave(run string, l *live) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.users--; l.users > 0 || a.lives[run] != l {
		return
	}
	l.idle.Reset(a.options.CacheFor)
	for other, o := range a.lives {
		if len(a.lives) <= a.options.Cached {
			return
		}
		if o.users == 0 && o != l {
			a.drop(other, o)
		}
	}
}

// expire drops a run that nobody has used for some time.
func (a *Agent) expire(run string, l *live) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.users == 0 {
		a.drop(run, l)
	}
}

// drop removes a run from memory, as if its process had ended: nothing more is recorded. The caller holds a.mu.
func (a *Agent) drop(run string, l *live) {
	if a.lives[run] == l {
		delete(a.lives, run)
	}
	l.idle.Stop()
	l.mu.Lock()
	log := l.log
	l.mu.Unlock()
	if log != nil {
		_ = log.Close() // what matters was synced
	}
	l.end()
}
