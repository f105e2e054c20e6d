package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
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

// step makes a run go on. It returns true if a call was lost, so that the run is to go on from its journal.
func (a *Agent) step(ctx context.Context, in advance) (p progress, again bool, err error) {
	l, waiting, err := a.enter(ctx, in)
	if err != nil {
		return p, false, err
	}
	if l == nil {
		p, err = a.pause(ctx, waiting)
		return p, false, err
	}
	defer a.leave(in.Run, l)
	l.deliver(in.Results)
	if err := l.rest(ctx, in.Running); err != nil {
		return p, false, err
	}
	l.mu.Lock()
	ended, log, again := l.ended, l.log, l.again
	p = progress{State: agent.Running, Recorded: l.needless(in.Results), Jobs: l.jobs(in.Running, in.Room), Queue: a.own}
	l.mu.Unlock()
	if !ended {
		return p, false, log.Sync()
	}
	a.mu.Lock()
	a.drop(in.Run, l)
	a.mu.Unlock()
	if !again {
		p, err = a.ended(ctx, in, l)
	}
	return p, again, err
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

// enter returns the run from memory, or makes it go on from its journal. If the run waits for decisions, enter returns
// the calls instead.
func (a *Agent) enter(ctx context.Context, in advance) (*live, []agent.Waiting, error) {
	a.mu.Lock()
	l := a.lives[in.Run]
	if l != nil {
		l.users++
		l.idle.Stop()
	}
	a.mu.Unlock()
	if l != nil {
		return l, nil, nil
	}
	at, err := a.runs.Checkpoint(ctx, in.Run)
	switch {
	case errors.Is(err, agent.ErrNoRun) && in.Input != nil:
		input, err := load(ctx, a.options.Objects, *in.Input)
		if err != nil {
			return nil, nil, err
		}
		l = newLive(a, nil, nil, func(ctx context.Context) (json.RawMessage, error) { return a.begin(ctx, in.Run, input) })
	case err != nil:
		return nil, nil, err
	default:
		decisions := a.decisions(ctx, in, at.Waiting)
		if open := undecided(in, at.Waiting, decisions); len(open) > 0 &&
			(len(open) == len(at.Waiting) || slices.ContainsFunc(open, isUnknown)) {
			return nil, open, nil // with an unknown outcome, the run would stop again
		}
		lost, stale, err := a.losses(ctx, in, decisions)
		if err != nil {
			return nil, nil, err
		}
		l = newLive(a, lost, stale, func(ctx context.Context) (json.RawMessage, error) {
			return a.resume(ctx, at, decisions)
		})
	}
	l.users, l.idle = 1, time.AfterFunc(time.Hour, func() {})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lives[in.Run] = l
	return l, nil, nil
}

// losses returns the calls that were lost, and the results that do not count because their calls are decided: if such a
// call was not made, it is made now, and has another result.
func (a *Agent) losses(ctx context.Context, in advance, decisions map[string]agent.Decision) (
	lost map[string]bool, stale map[int]bool, err error) {
	lost, stale = map[string]bool{}, map[int]bool{}
	var all map[string][]journal.Entry
	for _, r := range in.Results {
		if r.Lost == "" {
			continue
		}
		if all == nil {
			if all, err = a.runs.Calls(ctx, in.Run); err != nil {
				return nil, nil, err
			}
		}
		id := callOf(r.ID)
		run, entry, _ := strings.Cut(id, ":")
		for _, e := range all[run] {
			open := decisions[id].Outcome == nil && (e.State == dispatch.StateDispatched || e.State == journal.StateUnknown)
			if b := a.tools[e.Tool]; e.ID == entry && b != nil && once(b) {
				lost[id], stale[r.Number] = open, !open
			}
		}
	}
	return lost, stale, nil
}

func isUnknown(w agent.Waiting) bool { return w.Unknown }

// undecided returns the calls that wait for decisions. A call whose outcome the journal does not know does not wait if
// it is in progress, or has a result.
func undecided(in advance, waiting []agent.Waiting, decisions map[string]agent.Decision) (open []agent.Waiting) {
	for _, w := range waiting {
		_, decided := decisions[w.ID]
		of := func(id string) bool { return callOf(id) == w.ID }
		known := slices.ContainsFunc(in.Running, of) ||
			slices.ContainsFunc(in.Results, func(r result) bool { return of(r.ID) && r.Lost == "" })
		if !decided && !(w.Unknown && known) {
			open = append(open, w)
		}
	}
	return open
}

// decisions returns the valid answers to waiting calls. If the outcome of a call is unknown, but has come meanwhile, it
// is the answer.
func (a *Agent) decisions(ctx context.Context, in advance, waiting []agent.Waiting) map[string]agent.Decision {
	all := map[string]agent.Decision{}
	for _, w := range waiting {
		for _, answer := range in.Answers {
			if answer.Call == w.ID && answer.Decision.Check(w) == nil {
				all[w.ID] = answer.Decision
			}
		}
		for _, r := range in.Results {
			if !w.Unknown || r.ID != w.ID || r.Digest != digestOf(w.Args) {
				continue
			}
			if o, err := a.outcomeOf(ctx, r); err == nil && o.Error == nil && o.Fatal == "" {
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
		p.Waiting = append(p.Waiting, waitingCall{w, v})
	}
	return p, nil
}

// ended returns how a run has ended. An error means that it can go on.
func (a *Agent) ended(ctx context.Context, in advance, l *live) (p progress, err error) {
	paused, ok := errors.AsType[*agent.PausedError](l.err)
	switch {
	case ok && len(paused.Checkpoint.Waiting) > 0:
		return a.pause(ctx, undecided(in, paused.Checkpoint.Waiting, nil))
	case ok, errors.Is(l.err, journal.ErrInUse), l.log == nil && l.err != nil, l.log != nil && l.log.broken.Load():
		return p, l.err
	case l.err != nil:
		return progress{State: agent.Failed, Error: l.err.Error()}, nil
	}
	p = progress{State: agent.Done}
	p.Output, err = keep(ctx, a.options.Objects, l.output, maxInline)
	return p, err
}

// leave ends the use of a run. It stays in memory for some time.
func (a *Agent) leave(run string, l *live) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch l.users--; {
	case l.users > 0 || a.lives[run] != l:
	case len(a.lives) > a.options.Cached:
		a.drop(run, l)
	default:
		l.idle = time.AfterFunc(a.options.CacheFor, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			if l.users == 0 {
				a.drop(run, l)
			}
		})
	}
}

// drop removes a run from memory, as if its process had ended: nothing more is recorded. The caller holds a.mu.
func (a *Agent) drop(run string, l *live) {
	if a.lives[run] == l {
		delete(a.lives, run)
	}
	l.mu.Lock()
	log := l.log
	l.mu.Unlock()
	if log != nil {
		_ = log.Close() // what matters was synced
	}
	l.end()
}
