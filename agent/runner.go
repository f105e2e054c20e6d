package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"

	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/module"
)

// Runner runs many durable runs of one module in one process. A run waits for its turn in a fair [queue.Queue]. When it
// waits for people, it is paused: it then has no goroutine, no process and no place in the queue, and [Runner.Decide]
// lets it go on. A Runner knows the runs that its [Runs] has of modules of the same type; for all others, its methods
// return [ErrNoRun]. Several processes may share the store.
//
// A Runner is safe for concurrent use. Before the process ends, call [Runner.Shutdown].
type Runner struct{}

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

// RunEvent is an event of a run in progress. Its Type is either the name of an [event.Event], with its JSON (see
// [event.JSON]; long values are cut) as Data; or a [RunState], with a [RunInfo] without Input as Data; or "gap" if the
// reader was too slow or came too late, with {"missing": the number of missing events} as Data.
//
// A run that goes on runs its module again, so its events begin again. A reader therefore discards the earlier ones when
// it gets an event of the type [Running].
type RunEvent struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Errors of a [Runner]. They may be wrapped.
var (
	// ErrInput is returned for an input that the module cannot have.
	ErrInput = errors.New("agent: the input is invalid")

	// ErrConflict is returned if the state of a run does not allow the request, or if the ID of a new run is in use.
	ErrConflict = errors.New("agent: the run does not allow this")

	// ErrNotWaiting is returned for a decision on a call that does not wait for one.
	ErrNotWaiting = errors.New("agent: the run has no such call that waits for a decision")

	// ErrDecided is returned for a decision that differs from one that was recorded.
	ErrDecided = errors.New("agent: there is another decision on the call already")
)

var errUnbuilt = errors.New("agent: not built yet")

// NewRunner returns a Runner of a module. It begins nothing: call [Runner.Recover] to continue the runs of an earlier
// process. Nil options are the defaults.
func NewRunner[In, Out any](runs *Runs, m module.Module[In, Out], o *RunnerOptions) (*Runner, error) {
	return nil, errUnbuilt
}

// Start begins a run, and returns once it is recorded and waits for its turn. If the run exists already, with the same
// principal and input, Start returns it; with others, the error wraps [ErrConflict]. For an input that does not fit the
// module, the error wraps [ErrInput]. After [Runner.Shutdown], the error wraps [queue.ErrStopped].
func (r *Runner) Start(ctx context.Context, q RunRequest) (RunInfo, error) {
	return RunInfo{}, errUnbuilt
}

// Get describes a run, also while it is in progress. The error wraps [ErrNoRun] if there is no such run.
func (r *Runner) Get(ctx context.Context, id string) (RunInfo, error) {
	return RunInfo{}, errUnbuilt
}

// List describes all runs, the oldest first, like [Runs.List].
func (r *Runner) List(ctx context.Context) ([]RunInfo, error) { return nil, errUnbuilt }

// Wait waits until a run is neither queued nor running, and describes it.
func (r *Runner) Wait(ctx context.Context, id string) (RunInfo, error) {
	return RunInfo{}, errUnbuilt
}

// Decide answers one of the calls for which a run waits, by the call's [Waiting].ID, and lets the run go on. When Decide
// returns nil, the decision is recorded. The run may be in progress, because another call was decided on: it then goes
// on with the decision when it pauses.
//
// The same decision again is no error, whoever makes it; a different one is [ErrDecided]. Decision.Round must be
// that of the [Waiting], so that an old decision, sent again, does not count for a new question about the same call. If
// the call does not wait, the error is [ErrNotWaiting].
func (r *Runner) Decide(ctx context.Context, id, call string, d Decision) error { return errUnbuilt }

// Resume lets a run go on that was interrupted, has failed, or was stopped by [Runs.Pause]. It does nothing if the run is
// queued or in progress. If the run waits for decisions or has ended, the error wraps [ErrConflict].
func (r *Runner) Resume(ctx context.Context, id string) error { return errUnbuilt }

// Cancel ends a run for good: its state is then [Cancelled]. Cancel waits until the run is no longer in progress. It
// does nothing if the run is cancelled already. If the run has an answer or was rolled back, the error wraps
// [ErrConflict]. Effects are not undone; see [Runs.Rollback].
func (r *Runner) Cancel(ctx context.Context, id string) error { return errUnbuilt }

// Recover queues the runs that are queued or interrupted, according to the store, because their process has ended. Call
// it when the process starts. It leaves out runs that another process has in progress, and those that are paused,
// have failed or have ended. The error joins those of runs that cannot be read; the others are queued all the same.
func (r *Runner) Recover(ctx context.Context) error { return errUnbuilt }

// Events yields the events of a run after the one with an ID that an earlier call has yielded; if it is empty, as many
// as are kept. It ends after an event whose Type is the state in which the run ended or paused. If the run is not in
// progress, that is the only event. If the run is in progress in another process, there are no events before it.
//
// Readers never delay the run. At most 4,096 events and 1 MiB are kept of each run in progress; a reader that needs
// older ones gets an event "gap".
func (r *Runner) Events(ctx context.Context, id, after string) iter.Seq2[RunEvent, error] {
	return func(yield func(RunEvent, error) bool) { yield(RunEvent{}, errUnbuilt) }
}

// Shutdown takes no new runs, and lets the runs in progress end. When half of the time until the deadline of ctx is over
// it pauses the rest, and when ctx is done it cancels them. Runs that have not ended, and those that were queued, remain
// queued in the store, for [Runner.Recover]. The error names runs that did not stop; they are interrupted when the
// process ends.
func (r *Runner) Shutdown(ctx context.Context) error { return errUnbuilt }
