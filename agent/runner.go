package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/tools/journal"
)

// Runner runs many durable runs of one module in one process. A run waits for its turn in a fair [queue.Queue]. When it
// waits for people, it is paused: it then has no goroutine, no process and no place in the queue, and [Runner.Decide]
// lets it go on. A Runner knows the runs that its [Runs] has of modules of the same type; for all others, its methods
// return [ErrNoRun].
//
// Several processes may share the store. If a run is in progress in another one, Decide, Resume and Cancel return an
// error that wraps [journal.ErrInUse].
//
// A Runner is safe for concurrent use. Before the process ends, call [Runner.Shutdown].
type Runner struct {
	options RunnerOptions
	runs    *Runs
	module  string // its type
	check   func(input json.RawMessage) (json.RawMessage, error)
	run     func(ctx context.Context, owned *run, info RunInfo, tell func(event.Event)) error
	locks   [64]sync.Mutex // by the hash of a run's ID: held while its log is open for a moment

	mu     sync.Mutex
	jobs   map[string]*job // by the ID of the run
	closed bool            // after Shutdown
	none   chan struct{}   // closed when closed is set and there are no jobs
}

// RunnerOptions configures a [Runner].
type RunnerOptions struct {
	// Queue bounds how many runs are in progress at once. A run keeps its place while it waits for a model. Other work
	// may use the same Queue. Nil means a queue for 32 runs. The limits on waiting do not apply to runs: a run is
	// durable when it begins to wait.
	Queue *queue.Queue

	// Context returns the context of a run each time it begins or goes on, from one that is canceled when the run must
	// end. It can add values, such as the rights of info.Principal, what [module.Observe] adds, or a budget of package
	// module/budget; except for its Time, such a budget holds for the run in all its processes. Nil adds nothing.
	Context func(ctx context.Context, info RunInfo) context.Context

	// Logger gets the errors of runs that fail, as warnings, and of those that cannot begin or cannot be recorded. Nil
	// means [slog.Default].
	Logger *slog.Logger
}

// RunRequest asks for a run.
type RunRequest struct {
	ID        string          // must be valid for the store; if empty, a random ID
	Principal string          // for whom the run is; the queue is fair between principals
	Input     json.RawMessage // the module's input
}

// NewRunner returns a Runner of a module. It begins nothing: call [Runner.Recover] to continue the runs of an earlier
// process. Nil options are the defaults.
func NewRunner[In, Out any](runs *Runs, m module.Module[In, Out], o *RunnerOptions) (*Runner, error) {
	if runs == nil || runs.store == nil {
		return nil, errNoStore
	}
	if m == nil {
		return nil, errors.New("agent: the Runner has no module")
	}
	r := &Runner{runs: runs, module: durable.TypeOf(m), jobs: map[string]*job{}, none: make(chan struct{})}
	if o != nil {
		r.options = *o
	}
	r.options.Logger = cmp.Or(r.options.Logger, slog.Default())
	if r.options.Queue == nil {
		r.options.Queue = queue.New(&queue.Options{Running: 32})
	}
	r.check = func(input json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := jsonvalue.Strictly(input, &in); err != nil {
			return nil, fmt.Errorf("agent: %w: %w", ErrInput, err)
		}
		return json.Marshal(in)
	}
	r.run = func(ctx context.Context, owned *run, info RunInfo, tell func(event.Event)) error {
		stream := module.Start(ctx, runFunc[Out](func(ctx context.Context) (*module.Prediction[Out], error) {
			var in In
			if err := json.Unmarshal(info.Input, &in); err != nil {
				return nil, owned.ended(ctx, fmt.Errorf("agent: the input of run %s: %w", info.ID, err))
			}
			if r.options.Context != nil {
				owned.prepare = func(ctx context.Context) context.Context { return r.options.Context(ctx, info) }
			}
			return execute(ctx, owned, m, in)
		}), struct{}{})
		for e := range stream.Events() { //nolint:errcheck // Result returns the error
			if e != nil { // the last one has the error instead
				tell(e)
			}
		}
		_, err := stream.Result()
		return err
	}
	return r, nil
}

// runFunc is a durable run as a module, so that [module.Start] streams its text.
type runFunc[Out any] func(ctx context.Context) (*module.Prediction[Out], error)

// Run implements [module.Module].
func (f runFunc[Out]) Run(ctx context.Context, _ struct{}) (*module.Prediction[Out], error) {
	return f(ctx)
}

// Start begins a run, and returns once it is recorded and waits for its turn. If the run exists already, with the same
// principal and input, Start returns it; with others, the error wraps [ErrConflict]. For an input that does not fit the
// module, the error wraps [ErrInput]. After [Runner.Shutdown], the error wraps [queue.ErrStopped].
func (r *Runner) Start(ctx context.Context, q RunRequest) (RunInfo, error) {
	q.ID = cmp.Or(q.ID, "r-"+strings.ToLower(rand.Text()[:16]))
	input, err := r.check(q.Input)
	if err == nil && !runID.MatchString(q.ID) {
		err = fmt.Errorf("agent: %w: the ID %.200q; use at most 128 letters, digits, periods, hyphens and "+
			"underscores, and begin with a letter or digit", ErrInput, q.ID)
	}
	if err = cmp.Or(err, r.stopped()); err != nil {
		return RunInfo{}, err
	}
	first := &milestone{Format: logFormat, Module: r.module, Principal: q.Principal, State: Queued, Input: input}
	info, err := r.visit(ctx, q.ID, first, func(_ *run, info RunInfo) error {
		if info.Principal != q.Principal || !canonical.Equal(info.Input, input) {
			return ErrConflict
		}
		return nil
	})
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrNoRun) { // it is of another module
		err = fmt.Errorf("agent: %w: run %s exists, with another principal or input; choose another ID",
			ErrConflict, q.ID)
	}
	return info, err
}

// stopped returns an error after [Runner.Shutdown].
func (r *Runner) stopped() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("agent: %w; nothing was done", queue.ErrStopped)
	}
	return nil
}

// Get describes a run, also while it is in progress. The error wraps [ErrNoRun] if there is no such run.
func (r *Runner) Get(ctx context.Context, id string) (RunInfo, error) {
	info, err := r.visit(ctx, id, nil, nil)
	if errors.Is(err, journal.ErrInUse) {
		return RunInfo{ID: id, State: Running}, nil
	}
	return info, err
}

// List describes all runs, the oldest first, like [Runs.List].
func (r *Runner) List(ctx context.Context) (list []RunInfo, err error) {
	ids, err := r.runs.store.Runs(ctx)
	for _, id := range ids {
		info, err := r.Get(ctx, id)
		if err != nil {
			info = RunInfo{ID: id, State: Failed, Error: err.Error()}
		}
		if !errors.Is(err, ErrNoRun) {
			list = append(list, info)
		}
	}
	return list, err
}

// Wait waits until a run is neither queued nor running, and describes it.
func (r *Runner) Wait(ctx context.Context, id string) (RunInfo, error) {
	for {
		r.mu.Lock()
		var done chan struct{}
		if j := r.jobs[id]; j != nil {
			done = j.done
		}
		r.mu.Unlock()
		if done == nil {
			if info, err := r.Get(ctx, id); err != nil || info.State != Queued && info.State != Running {
				return info, err
			}
		}
		select {
		case <-done:
		case <-time.After(200 * time.Millisecond): // another process has it
		case <-ctx.Done():
			return RunInfo{}, context.Cause(ctx)
		}
	}
}

// runID is the form of IDs that each [journal.Store] accepts.
var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// visit calls do with a run and its description, and with the run locked, and returns the description after that. If do
// is not nil and the run is queued then, it waits for its turn. The run is either in progress in this process, or its
// log is opened for a moment. If the run does not exist and first is not nil, it begins with that milestone.
func (r *Runner) visit(
	ctx context.Context, id string, first *milestone, do func(*run, RunInfo) error,
) (info RunInfo, err error) {
	if !runID.MatchString(id) {
		return info, fmt.Errorf("%w: %.200q", ErrNoRun, id)
	}
	for try := 0; ; try++ {
		r.mu.Lock()
		j, owned := r.jobs[id], (*run)(nil)
		if j != nil {
			owned = j.run
		}
		r.mu.Unlock()
		if owned != nil {
			info, err = r.look(owned, first, do)
		} else {
			info, err = r.alone(ctx, id, first, do)
		}
		switch {
		case errors.Is(err, errEnded), errors.Is(err, journal.ErrInUse) && (j != nil || try < 5):
			select {
			case <-time.After(20 * time.Millisecond):
				continue
			case <-ctx.Done():
				return info, context.Cause(ctx)
			}
		case err == nil && do != nil && info.State == Queued:
			r.enqueue(info)
		}
		return info, err
	}
}

// look does what visit does with a run. If the run was in progress and has just ended, the error is errEnded.
func (r *Runner) look(owned *run, first *milestone, do func(*run, RunInfo) error) (info RunInfo, err error) {
	owned.mu.Lock()
	defer owned.mu.Unlock()
	if owned.going && owned.over {
		return info, errEnded
	}
	if first != nil && len(owned.milestones) == 0 {
		if err := owned.record(*first); err != nil {
			return info, err
		}
	}
	info, err = owned.describe()
	if err == nil && owned.milestones[0].Module != r.module {
		err = fmt.Errorf("%w of %s: %s", ErrNoRun, r.module, owned.id)
	}
	if err == nil && do != nil {
		if err = do(owned, info); err == nil {
			info, err = owned.describe()
		}
	}
	return info, err
}

// alone does what visit does with a run that is not in progress in this process.
func (r *Runner) alone(
	ctx context.Context, id string, first *milestone, do func(*run, RunInfo) error,
) (RunInfo, error) {
	defer r.lock(id).Unlock()
	owned, err := r.runs.open(ctx, id)
	if err != nil {
		return RunInfo{}, err
	}
	defer owned.close()
	return r.look(owned, first, do)
}

var seed = maphash.MakeSeed()

// lock locks what only one part of this process may do with a run at a time.
func (r *Runner) lock(id string) *sync.Mutex {
	lock := &r.locks[maphash.String(seed, id)%uint64(len(r.locks))]
	lock.Lock()
	return lock
}
