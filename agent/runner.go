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
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/tools/journal"
)

// Runner runs many durable runs of one module in one process. A run waits for its turn in a fair [queue.Queue]. When it
// waits for people, it is paused: it then has no goroutine, no process and no place in the queue, and [Runner.Decide]
// lets it go on. A Runner knows the runs that its [Runs] has of modules of the same type; for all others, its methods
// return [ErrNoRun]. Several processes may share the store.
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
	closed bool
}

// RunnerOptions configures a [Runner].
type RunnerOptions struct {
	// Queue bounds how many runs are in progress at once. A run keeps its place while it waits for a model. Other work may
	// use the same Queue. Nil means a queue for 32 runs. The limits on waiting do not apply to runs: a run is durable
	// when it begins to wait.
	Queue *queue.Queue

	// Context returns the context of a run each time it begins or goes on, from one that is canceled when the run must
	// end. It can add values, such as the rights of info.Principal or what [module.Observe] adds. Nil adds nothing.
	Context func(ctx context.Context, info RunInfo) context.Context

	// Logger gets the errors that no caller can see: those of runs that cannot begin or cannot be recorded. Nil means
	// [slog.Default].
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
	r := &Runner{runs: runs, module: fmt.Sprintf("%T", m), jobs: map[string]*job{}}
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
			return nil, err
		}
		return json.Marshal(in)
	}
	r.run = func(ctx context.Context, owned *run, info RunInfo, tell func(event.Event)) error {
		stream := module.Start(ctx, attempt[In, Out]{r, owned, info, m}, struct{}{})
		for e, err := range stream.Events() {
			if err == nil {
				tell(e)
			}
		}
		_, err := stream.Result()
		return err
	}
	return r, nil
}

// attempt is a durable run as a module, so that [module.Start] streams its text.
type attempt[In, Out any] struct {
	runner *Runner
	owned  *run
	info   RunInfo
	module module.Module[In, Out]
}

// Run implements [module.Module].
func (a attempt[In, Out]) Run(ctx context.Context, _ struct{}) (*module.Prediction[Out], error) {
	var in In
	if err := json.Unmarshal(a.info.Input, &in); err != nil {
		return nil, a.owned.ended(ctx, fmt.Errorf("agent: the input of run %s: %w", a.info.ID, err))
	}
	return execute(a.runner.context(ctx, a.info), a.owned, a.module, in)
}

// context returns the context of an attempt at a run. This is the place for limits on what a run may spend.
func (r *Runner) context(ctx context.Context, info RunInfo) context.Context {
	if r.options.Context != nil {
		ctx = r.options.Context(ctx, info)
	}
	return ctx
}

// runID is the form of IDs that each [journal.Store] accepts.
var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Start begins a run, and returns once it is recorded and waits for its turn. If the run exists already, with the same
// principal and input, Start returns it; with others, the error wraps [ErrConflict]. For an input that does not fit the
// module, the error wraps [ErrInput]. After [Runner.Shutdown], the error wraps [queue.ErrStopped].
func (r *Runner) Start(ctx context.Context, q RunRequest) (info RunInfo, err error) {
	q.ID = cmp.Or(q.ID, "r-"+strings.ToLower(rand.Text()[:16]))
	if !runID.MatchString(q.ID) {
		return info, fmt.Errorf("agent: %w: the ID %.200q; use at most 128 letters, digits, periods, hyphens and "+
			"underscores, and begin with a letter or digit", ErrInput, q.ID)
	}
	input, err := r.check(q.Input)
	if err != nil {
		return info, fmt.Errorf("agent: %w: %w", ErrInput, err)
	}
	if err := r.stopped(); err != nil {
		return info, err
	}
	err = r.visit(ctx, q.ID, func(owned *run) error {
		owned.mu.Lock()
		defer owned.mu.Unlock()
		if len(owned.milestones) == 0 {
			err = owned.record(milestone{Format: logFormat, Module: r.module, Principal: q.Principal, State: Queued,
				Input: input})
			if err != nil {
				return err
			}
		}
		info, err = owned.describe()
		if err == nil && (owned.milestones[0].Module != r.module || info.Principal != q.Principal ||
			!canonical.Equal(info.Input, input)) {
			info, err = RunInfo{}, fmt.Errorf("agent: %w: run %s exists, with another principal or input; "+
				"choose another ID", ErrConflict, q.ID)
		}
		return err
	})
	if err == nil && info.State == Queued {
		r.enqueue(info)
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
func (r *Runner) Get(ctx context.Context, id string) (info RunInfo, err error) {
	err = r.visit(ctx, id, func(owned *run) error {
		owned.mu.Lock()
		defer owned.mu.Unlock()
		info, err = r.describe(owned)
		return err
	})
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
		j := r.jobs[id]
		r.mu.Unlock()
		again := time.After(200 * time.Millisecond) // for a run in another process
		if j != nil {
			again = nil
		} else if info, err := r.Get(ctx, id); err != nil || info.State != Queued && info.State != Running {
			return info, err
		}
		select {
		case <-j.ending():
		case <-again:
		case <-ctx.Done():
			return RunInfo{}, context.Cause(ctx)
		}
	}
}

// describe returns the RunInfo of a run of the Runner's module. The caller holds the run's lock.
func (r *Runner) describe(owned *run) (RunInfo, error) {
	info, err := owned.describe()
	if err == nil && owned.milestones[0].Module != r.module {
		err = fmt.Errorf("%w of %s: %s is one of %s", ErrNoRun, r.module, owned.id, owned.milestones[0].Module)
	}
	return info, err
}

// change calls f with the run and its description, and with the run locked. f may record that the run is queued.
func (r *Runner) change(ctx context.Context, id string, f func(*run, RunInfo) error) error {
	var info RunInfo
	err := r.visit(ctx, id, func(owned *run) error {
		owned.mu.Lock()
		defer owned.mu.Unlock()
		if owned.going && owned.over {
			return errEnded
		}
		was, err := r.describe(owned)
		if err == nil {
			err = f(owned, was)
		}
		if err == nil {
			info, err = owned.describe()
		}
		return err
	})
	if err == nil && info.State == Queued {
		r.enqueue(info)
	}
	return err
}

// visit calls do with a run, which is either in progress in this process, or opened for a moment. If do returns
// errEnded, visit calls it again after the run has ended.
func (r *Runner) visit(ctx context.Context, id string, do func(*run) error) error {
	if !runID.MatchString(id) {
		return fmt.Errorf("%w: %.200q", ErrNoRun, id)
	}
	for try := 0; ; try++ {
		r.mu.Lock()
		j := r.jobs[id]
		owned, ended := j.current()
		r.mu.Unlock()
		again := time.After(20 * time.Millisecond)
		if owned == nil {
			err := r.alone(ctx, id, do)
			if !errors.Is(err, journal.ErrInUse) || j == nil && try == 10 {
				return err
			}
		} else if err := do(owned); !errors.Is(err, errEnded) {
			return err
		} else {
			again = nil
		}
		select {
		case <-ended:
		case <-again:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var seed = maphash.MakeSeed()

// lock locks what only one part of this process may do with a run at a time.
func (r *Runner) lock(id string) *sync.Mutex {
	lock := &r.locks[maphash.String(seed, id)%uint64(len(r.locks))]
	lock.Lock()
	return lock
}

// alone opens the log of a run, calls do, and closes the log.
func (r *Runner) alone(ctx context.Context, id string, do func(*run) error) error {
	defer r.lock(id).Unlock()
	owned, err := r.runs.open(ctx, id)
	if err != nil {
		return err
	}
	defer owned.close()
	return do(owned)
}
