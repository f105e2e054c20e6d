package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
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
	l, p, err := a.enter(ctx, in)
	if err != nil {
		return p, false, err
	}
	if l == nil {
		return p, false, nil
	}
	defer a.leave(in.Run, l)
	l.deliver(in.Results)
	busy, err := l.rest(ctx, in.Running)
	if err != nil {
		return p, false, err
	}
	l.mu.Lock()
	ended, log, again := l.ended, l.log, l.again
	p = progress{State: agent.Running, Recorded: l.needless(in.Results), Jobs: l.jobs(in.Running, in.Room),
		Queue: a.own, Busy: busy, Poll: a.options.CacheFor / 2}
	l.mu.Unlock()
	if !ended {
		return p, false, log.Sync()
	}
	if !again {
		if p, err = a.ended(ctx, in, l); errors.Is(err, errNotStored) {
			return p, false, err // the next attempt finds the run in memory
		}
	}
	a.mu.Lock()
	a.drop(in.Run, l)
	a.mu.Unlock()
	return p, again, err
}

// beat reports that an activity is alive until stop is called.
func (a *Agent) beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for tick := time.Tick(a.options.Heartbeat / 3); ; {
			select {
			case <-tick:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return cancel
}

// enter returns the run from memory, or makes it go on from its journal. If the run waits for decisions, enter returns
// how it is paused instead.
func (a *Agent) enter(ctx context.Context, in advance) (*live, progress, error) {
	a.mu.Lock()
	l, known := a.lives[in.Run]
	if !known {
		l = newLive(a)
		a.lives[in.Run] = l
	}
	l.users++
	l.idle.Stop()
	a.mu.Unlock()
	if known {
		return l, progress{}, nil
	}
	run, p, err := a.prepare(ctx, in, l)
	if run != nil {
		l.start(run)
		return l, progress{}, nil
	}
	l.change(func() { l.ended, l.err = true, errors.Join(errNotOwned, err) })
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drop(in.Run, l)
	return nil, p, err
}

// prepare returns a function that runs the module. It returns nil if the run waits for decisions.
func (a *Agent) prepare(
	ctx context.Context, in advance, l *live,
) (run func(context.Context) (returned, error), p progress, err error) {
	var predictors []byte
	if in.Module != nil {
		if predictors, err = load(ctx, a.options.Objects, *in.Module); err != nil {
			return nil, p, err
		}
	}
	at, err := a.runs.Checkpoint(ctx, in.Run)
	if errors.Is(err, agent.ErrNoRun) && in.Input != nil {
		input, err := load(ctx, a.options.Objects, *in.Input)
		if err != nil {
			return nil, p, err
		}
		run = func(ctx context.Context) (returned, error) { return a.begin(ctx, predictors, in.Run, input) }
		return run, p, nil
	}
	if err != nil {
		return nil, progress{}, err
	}
	decisions, err := a.decisions(ctx, in, at.Waiting)
	if err != nil {
		return nil, progress{}, err
	}
	open := undecided(in, at.Waiting, decisions)
	unknown := slices.ContainsFunc(open, func(w agent.Waiting) bool { return w.Unknown }) // the run would stop there
	if unknown || len(open) > 0 && len(open) == len(at.Waiting) {
		p, err = a.pause(ctx, undecided(in, at.Waiting, nil))
		for id := range decisions {
			p.Unused = append(p.Unused, id)
		}
		return nil, p, err
	}
	if err := a.lose(ctx, in, l, decisions); err != nil {
		return nil, progress{}, err
	}
	run = func(ctx context.Context) (returned, error) { return a.resume(ctx, predictors, at, decisions) }
	return run, p, nil
}

// undecided returns the calls that wait for decisions. A call whose outcome the journal does not know does not wait if
// it is in progress, or has a result.
func undecided(in advance, waiting []agent.Waiting, decisions map[string]agent.Decision) (open []agent.Waiting) {
	for _, w := range waiting {
		_, decided := decisions[w.ID]
		known := slices.Contains(in.Running, w.ID) ||
			slices.ContainsFunc(in.Results, func(r result) bool { return r.ID == w.ID && r.Lost == "" })
		if !decided && !(w.Unknown && known) {
			open = append(open, w)
		}
	}
	return open
}

// lose tells a run which calls were lost, and which results do not count because their calls are decided: if such a
// call was not made, it is made now, and has another result.
func (a *Agent) lose(ctx context.Context, in advance, l *live, decisions map[string]agent.Decision) error {
	if !slices.ContainsFunc(in.Results, func(r result) bool { return r.Lost != "" }) {
		return nil
	}
	l.lost, l.stale = map[string]bool{}, map[int]bool{}
	all, err := a.runs.Calls(ctx, in.Run)
	for _, r := range in.Results {
		run, entry, _ := strings.Cut(r.ID, ":")
		for _, e := range all[run] {
			if b := a.tools[e.Tool]; e.ID == entry && r.Lost != "" && b != nil && once(b) {
				l.lost[r.ID] = decisions[r.ID].Outcome == nil &&
					(e.State == dispatch.StateDispatched || e.State == journal.StateUnknown)
				l.stale[r.Number] = !l.lost[r.ID]
			}
		}
	}
	return err
}

// decisions returns the valid answers to waiting calls. If the outcome of a call is unknown, but has come meanwhile, it
// is the answer.
func (a *Agent) decisions(ctx context.Context, in advance, waiting []agent.Waiting) (map[string]agent.Decision, error) {
	all := map[string]agent.Decision{}
	for _, w := range waiting {
		for _, answer := range in.Answers {
			if answer.Call != w.ID || answer.Decision.Round != w.Round {
				continue
			}
			if d, err := a.whole(ctx, answer); err != nil {
				return nil, err
			} else if d.Check(w) == nil {
				all[w.ID] = d
			}
		}
		for _, r := range in.Results {
			if !w.Unknown || r.ID != w.ID || r.Digest != digestOf(w.Args) {
				continue
			}
			o, err := a.outcomeOf(ctx, r)
			if err != nil && r.Lost == "" && !errors.Is(err, errDamaged) {
				return nil, err // it can be read later
			}
			if err == nil && o.Error == nil && o.Fatal == "" {
				all[w.ID] = agent.Decision{Outcome: &journal.Reconciled{State: journal.StateOK, Result: o.Result}}
			}
		}
	}
	return all, nil
}

// pause describes the calls that wait for decisions.
func (a *Agent) pause(ctx context.Context, waiting []agent.Waiting) (progress, error) {
	p := progress{State: agent.Paused}
	limit := min(4<<10, 512<<10/max(1, len(waiting)))
	for _, w := range waiting {
		text, err := json.Marshal(w)
		if err != nil {
			return p, err
		}
		v, err := keep(ctx, a.options.Objects, text, limit)
		if err != nil {
			return p, err
		}
		w.Args, w.Source, w.Resembles = nil, "", append([]journal.Entry(nil), w.Resembles...)
		for i, e := range w.Resembles {
			w.Resembles[i] = journal.Entry{ID: e.ID, Tool: e.Tool, State: e.State}
		}
		p.Waiting = append(p.Waiting, waitingCall{w, v})
	}
	return p, nil
}

// paused describes the calls for which a run has stopped. If all have results, the run goes on with those that it can
// take; for others, such as errors that came when the program had ended, somebody decides.
func (a *Agent) paused(ctx context.Context, in advance, waiting []agent.Waiting) (progress, error) {
	running := func(w agent.Waiting) bool { return slices.Contains(in.Running, w.ID) }
	open := undecided(in, waiting, nil)
	if len(open) > 0 || slices.ContainsFunc(waiting, running) {
		return a.pause(ctx, open)
	}
	if late, err := a.decisions(ctx, advance{Results: in.Results}, waiting); err != nil || len(late) > 0 {
		return progress{State: agent.Paused, Busy: true}, err
	}
	return a.pause(ctx, waiting)
}

// ended returns how a run has ended. An error means that it can go on.
func (a *Agent) ended(ctx context.Context, in advance, l *live) (p progress, err error) {
	paused, ok := errors.AsType[*agent.PausedError](l.err)
	switch {
	case ok && len(paused.Checkpoint.Waiting) > 0:
		return a.paused(ctx, in, paused.Checkpoint.Waiting)
	case ok, errors.Is(l.err, errNotOwned), l.log != nil && l.log.broken.Load(),
		l.err != nil && l.log != nil && !l.log.used.Load(): // another worker had the run meanwhile
		return p, l.err
	case errors.Is(l.err, module.ErrNoAnswer), errors.Is(l.err, module.ErrMaxIters), errors.Is(l.err, budget.ErrSpent):
		p = progress{State: agent.Failed, Error: fmt.Sprintf("%.10000v", l.err), Kind: noAnswer}
	case l.err != nil:
		p = progress{State: agent.Failed, Error: fmt.Sprintf("%.10000v", l.err), Kind: "RunFailed"}
	default:
		p.State = agent.Done
		if p.Output, err = keep(ctx, a.options.Objects, l.returned.output, maxInline); err != nil {
			return p, err
		}
	}
	text, err := json.Marshal(l.returned.trajectory)
	if err == nil {
		p.Trajectory, err = keep(ctx, a.options.Objects, text, 0)
	}
	return p, err
}

// leave ends the use of a run. It stays in memory for some time.
func (a *Agent) leave(run string, l *live) {
	works := l.works() // then dropping it would interrupt calls that are made within the run
	a.mu.Lock()
	defer a.mu.Unlock()
	switch l.users--; {
	case l.users > 0 || a.lives[run] != l:
	case len(a.lives) > a.options.Cached && !works:
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
	defer l.mu.Unlock()
	l.dropped = true
	if l.log != nil {
		_ = l.log.Close() // what matters was synced
	}
	l.end()
}
