package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// Runs makes durable runs of modules: everything that a run gets from models and tools is recorded in a
// [journal.Store], so that the run can go on after it was paused, or after its process has ended. A run that goes on
// runs its module again from the start, with the recorded replies and results, so nothing is paid for or done twice.
// See the package journal for what is promised.
//
// A Runs is safe for concurrent use. A run has at most one owner, in all processes that use the store.
type Runs struct {
	// AskHolds makes a run pause when a call resembles an earlier one, so that a person decides whether it is the same:
	// see [Waiting].Resembles. By default, the model decides. Set it before the first run.
	AskHolds bool

	store journal.Store

	mu     sync.Mutex
	active map[string]*run
}

// NewRuns returns a Runs that keeps its runs in a store, such as [journal.OpenDir] or [journal.NewMemory].
func NewRuns(s journal.Store) *Runs { return &Runs{store: s, active: map[string]*run{}} }

// RunState says how a run ended.
type RunState string

// The states of a run.
const (
	Queued      RunState = "queued"      // it waits for its turn in a [Runner]
	Running     RunState = "running"     // somebody owns it
	Interrupted RunState = "interrupted" // its process has ended
	Paused      RunState = "paused"      // it waits for decisions
	Done        RunState = "done"        // it has an answer
	Failed      RunState = "failed"      // it has ended with an error
	Cancelled   RunState = "cancelled"   // a Runner has ended it for good
	RolledBack  RunState = "rolled back" // its effects were undone, as far as possible
)

// RunInfo describes a run.
type RunInfo struct {
	ID      string          `json:"id"`
	State   RunState        `json:"state"`
	Began   time.Time       `json:"began"`
	Input   json.RawMessage `json:"input,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`  // if it is done
	Error   string          `json:"error,omitempty"`   // if it has failed
	Waiting []Waiting       `json:"waiting,omitempty"` // the calls that wait for decisions

	// Cause is why the run has failed, in a word that clients may see, unlike Error: "budget", "deadline", "canceled",
	// "model" if a model has failed, "no answer" if a reply could not be used, "steps" if the module has used up its
	// steps, or "" for everything else.
	Cause string        `json:"cause,omitempty"`
	Spent *budget.Spent `json:"spent,omitempty"` // in all processes, until it last paused or ended; nil if nothing

	Principal string    `json:"principal,omitempty"` // for whom a [Runner] runs it
	Ended     time.Time `json:"ended,omitzero"`      // if it is done, failed, cancelled or rolled back
	attempts  int       // how often it has begun or gone on
}

// milestone is a record of the part "run" of a log: the run has begun, goes on, or has ended.
type milestone struct {
	Format  string          `json:"format,omitempty"` // in the first record only
	Module  string          `json:"module,omitempty"` // the module's type, in the first record only
	State   RunState        `json:"state"`
	At      time.Time       `json:"at"`
	Input   json.RawMessage `json:"input,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
	Error   string          `json:"error,omitempty"`
	Cause   string          `json:"cause,omitempty"`
	Spent   *budget.Spent   `json:"spent,omitempty"` // since the run began, if the milestone ends an attempt
	Waiting []Waiting       `json:"waiting,omitempty"`

	Principal string `json:"principal,omitempty"` // in the first record only
}

// logFormat is the version of the format of logs.
const logFormat = "writ run 1"

var errNoStore = errors.New("agent: the Runs has no store; create it with NewRuns and a store")

// ErrNoRun is returned for a run that the store does not have.
var ErrNoRun = errors.New("agent: there is no such run")

// Start begins a durable run of a module. The ID names the run in the store; it must be new. The input must be
// representable as JSON.
//
// Besides the errors of the module, Start returns a *[PausedError] if the run waits for decisions, or if [Runs.Pause]
// stopped it. After any error, and after a crash, [Resume] continues the run.
func Start[In, Out any](
	ctx context.Context, r *Runs, id string, m module.Module[In, Out], in In,
) (*module.Prediction[Out], error) {
	input, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("agent: the input of run %s: %w", id, err)
	}
	var same In // Resume decodes the input, so the run must not depend on what JSON does not contain
	if err := json.Unmarshal(input, &same); err != nil {
		return nil, fmt.Errorf("agent: the input of run %s cannot be decoded: %w", id, err)
	}
	owned, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer owned.close()
	if len(owned.milestones) > 0 {
		return nil, fmt.Errorf("agent: the run %s exists already; resume it, or choose another ID", id)
	}
	first := milestone{Format: logFormat, Module: durable.TypeOf(m), State: Interrupted, Input: input}
	if err := owned.reach(first); err != nil {
		return nil, err
	}
	return execute(ctx, owned, m, same)
}

// Resume continues a run at a checkpoint, with decisions on its waiting calls by their IDs. It needs the module that
// [Start] ran, of the same type and with the same tools. The checkpoint is in the [PausedError], or comes from
// [Runs.Checkpoint]; if anything has happened to the run since, Resume returns an error. Calls without a decision keep
// waiting. The run of a module that has answered returns the answer again, with an empty Trajectory.
func Resume[In, Out any](
	ctx context.Context, r *Runs, m module.Module[In, Out], c Checkpoint, decisions map[string]Decision,
) (*module.Prediction[Out], error) {
	owned, err := r.open(ctx, c.Run)
	if err != nil {
		return nil, err
	}
	defer owned.close()
	info, err := owned.info()
	if err != nil {
		return nil, err
	}
	// The names of journals depend on the module: another one would not find what is recorded, and would do it again.
	if was, now := owned.milestones[0].Module, durable.TypeOf(m); was != now {
		return nil, fmt.Errorf("agent: run %s is one of a %s, not of a %s; resume it with the module that began it",
			c.Run, was, now)
	}
	if info.State == Done {
		pred := &module.Prediction[Out]{}
		if err := json.Unmarshal(info.Output, &pred.Output); err != nil {
			return nil, fmt.Errorf("agent: the answer of run %s: %w", c.Run, err)
		}
		return pred, nil
	}
	var in In
	if err := json.Unmarshal(info.Input, &in); err != nil {
		return nil, fmt.Errorf("agent: the input of run %s: %w", c.Run, err)
	}
	if err := owned.resume(c, info, decisions); err != nil {
		return nil, err
	}
	return execute(ctx, owned, m, in)
}

// execute runs the module of a run.
func execute[In, Out any](
	ctx context.Context, r *run, m module.Module[In, Out], in In,
) (*module.Prediction[Out], error) {
	ctx = effect.With(ctx, effect.ID{}) // the run is the same if another run's call starts or resumes it
	ctx = durable.With(policy.WithDesk(ctx, r), r)
	ctx = budget.With(tools.WithPolicies(module.Observe(ctx, r.observe), r.gate), budget.Limits{})
	r.mu.Lock()
	r.budget = budget.Of(ctx)
	r.mu.Unlock()
	var pred *module.Prediction[Out]
	err := safely(fmt.Sprintf("agent: Run of %T", m), func() (err error) {
		if r.prepare != nil {
			ctx = r.prepare(ctx)
		}
		if pred, err = m.Run(ctx, in); err == nil && pred == nil {
			err = fmt.Errorf("agent: %T returned neither a prediction nor an error", m)
		}
		return err
	})
	if err == nil {
		err = r.sync(ctx)
	}
	if err == nil && r.paused.Load() { // the module has answered without the part that paused
		err = place.ErrPaused
	}
	var output json.RawMessage
	if err == nil {
		err = safely(fmt.Sprintf("agent: the answer of run %s", r.id), func() (err error) {
			if output, err = json.Marshal(pred.Output); err != nil {
				err = fmt.Errorf("agent: the answer of run %s cannot be recorded: %w", r.id, err)
			}
			return err
		})
	}
	if err != nil {
		return nil, r.ended(ctx, err)
	}
	if err := r.finish(milestone{State: Done, Output: output}); err != nil {
		return nil, err
	}
	return pred, nil
}

// causeOf returns the RunInfo.Cause of a run that has failed.
func causeOf(ctx context.Context, err error) string {
	failed, ok := errors.AsType[*models.Error](err)
	switch {
	case errors.Is(err, budget.ErrSpent):
		return "budget"
	case ok && failed.Kind != models.KindUnknown && ctx.Err() == nil: // not because of the run's own end
		return "model"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, module.ErrNoAnswer):
		return "no answer"
	case errors.Is(err, module.ErrMaxIters):
		return "steps"
	}
	return ""
}

// safely returns the error of f, even if f panics.
func safely(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &models.PanicError{In: what, Value: p, Stack: debug.Stack()}
		}
	}()
	return f()
}

// Pause makes a run in progress pause: it asks no model and makes no call any more. Once the calls in progress have
// ended, the run returns a *[PausedError]. Pause returns false if this Runs has no such run in progress.
func (r *Runs) Pause(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if active := r.active[id]; active != nil {
		active.pausing.Store(true)
		return true
	}
	return false
}

// Checkpoint returns the last state of a run that nobody owns.
func (r *Runs) Checkpoint(ctx context.Context, id string) (Checkpoint, error) {
	owned, err := r.open(ctx, id)
	if err != nil {
		return Checkpoint{}, err
	}
	defer owned.close()
	info, err := owned.info()
	if err != nil {
		return Checkpoint{}, err
	}
	return owned.checkpoint(info.Waiting), nil
}

// List describes the runs in the store, the oldest first. A run that cannot be read is described as failed.
func (r *Runs) List(ctx context.Context) ([]RunInfo, error) {
	if r == nil || r.store == nil {
		return nil, errNoStore
	}
	ids, err := r.store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var list []RunInfo
	for _, id := range ids {
		var info RunInfo
		owned, err := r.open(ctx, id)
		if err == nil {
			info, err = owned.info()
			owned.close()
		}
		switch {
		case errors.Is(err, ErrNoRun): // it was only asked for, or never began
			continue
		case errors.Is(err, journal.ErrInUse):
			info = RunInfo{ID: id, State: Running}
		case err != nil:
			info = RunInfo{ID: id, State: Failed, Error: err.Error()}
		}
		list = append(list, info)
	}
	return list, nil
}

// Calls returns the calls that a run has made so far, for a person who has to decide about one of them. It returns an
// error while a process owns the run. The calls are grouped by journal. The key of a journal is the text before the
// colon in the IDs of its effects.
func (r *Runs) Calls(ctx context.Context, id string) (map[string][]journal.Entry, error) {
	owned, err := r.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer owned.close()
	all := map[string][]journal.Entry{}
	for _, name := range owned.log.journals {
		if all[name], err = journal.Read(owned.log.part(callsOf + name)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Rollback undoes the effects of a run that nobody owns, the last one first, with the tools in set: see
// [journal.Journal.Rollback]. The run cannot be resumed after that. If the error is not nil, call Rollback again.
func (r *Runs) Rollback(ctx context.Context, id string, set *tools.Set) (all journal.Rollback, err error) {
	owned, err := r.open(ctx, id)
	if err != nil {
		return all, err
	}
	defer owned.close()
	if _, err := owned.info(); err != nil {
		return all, err
	}
	if err := owned.reach(milestone{State: RolledBack}); err != nil {
		return all, err
	}
	for _, name := range slices.Backward(owned.log.journals) {
		j, err := journal.Open(owned.log.part(callsOf+name), nil)
		if err != nil {
			return all, err
		}
		one, err := j.Rollback(ctx, set)
		all.Undone = append(all.Undone, one.Undone...)
		all.Left = append(all.Left, one.Left...)
		if err != nil {
			return all, err
		}
	}
	runsModule := func(l journal.Left) bool { // its calls have a journal of their own
		return slices.ContainsFunc(set.Bindings(), func(b *tools.Binding) bool {
			return b.Path() == l.Entry.Tool && b.Module != nil
		})
	}
	all.Left = slices.DeleteFunc(all.Left, runsModule)
	return all, nil
}

// open opens the log of a run and becomes its owner.
func (r *Runs) open(ctx context.Context, id string) (*run, error) {
	if r == nil || r.store == nil {
		return nil, errNoStore
	}
	log, err := r.store.Open(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("agent: run %s: %w", id, err)
	}
	owned, err := newRun(id, log)
	if err != nil {
		return nil, fmt.Errorf("agent: run %s: %w", id, errors.Join(err, log.Close()))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active[id], owned.asks = owned, r.AskHolds
	owned.close = func() {
		r.mu.Lock()
		delete(r.active, id)
		r.mu.Unlock()
		owned.log.end()
		_ = log.Close() // everything that matters has been synced
		if count, _ := owned.log.head(); count == 0 {
			_ = r.store.Remove(context.WithoutCancel(ctx), id) // there is no such run
		}
	}
	return owned, nil
}
