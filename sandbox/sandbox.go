package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
	"github.com/writ-go/writ/tools"
)

// Options configures a [Sandbox].
type Options struct {
	// Limits bounds every run.
	Limits Limits

	// Rules restrict the source of every program. Nil means no rules.
	Rules *Rules

	// Workers is the maximum number of programs that compute at the same time; further runs wait. A program
	// that waits for its calls does not count. Zero means twice the number of processors, at least 4.
	Workers int

	// Processes is the maximum number of worker processes, including those whose programs wait for calls. Further runs
	// wait, except for runs that another program's tool call starts: these return [ErrNested]. Zero means 256.
	Processes int

	// Resident is how many bytes of memory the workers of waiting programs may occupy together. If they occupy more,
	// programs count as running while they wait, and nested runs return [ErrNested]. Computing programs may use Workers
	// × Limits.Memory in addition. Zero means Workers × Limits.Memory, but at least 2 GiB. The memory is measured on
	// Linux only.
	Resident int64

	// Command is the command line of a dedicated worker program, which is used instead of
	// the running executable. The program must import this package and must not do anything
	// else.
	Command []string

	// FullIsolation means that each worker, before its first program, must prove that it cannot open files or sockets,
	// start or signal processes, or exceed the memory limit, even if a program takes control of it. Otherwise, New
	// fails. Full isolation is available on Linux on amd64 and arm64.
	FullIsolation bool
}

// Sandbox checks and runs programs. It keeps no state between runs and is safe for
// concurrent use.
type Sandbox struct {
	limits Limits
	rules  *Rules // nil if every program is allowed
	runner runner
	last   atomic.Pointer[boundTools]
	ending context.Context // canceled when the runs in progress must end
	end    context.CancelFunc
}

// runner runs programs, in worker processes or in this process.
type runner interface {
	Run(ctx context.Context, t *workers.Ticket, job *engine.Job, host engine.Host) (*engine.Result, error)
	Isolation() worker.Isolation
	Closed() bool
	Close() error
}

// New returns a sandbox that runs programs in child processes, which are the running
// executable started again: see the package comment. It starts one worker at once and
// returns an error if that fails. Nil options are the defaults. The caller must close the
// sandbox.
func New(o *Options) (*Sandbox, error) {
	return newSandbox(o, func(limits Limits, o *Options) (runner, error) {
		return workers.NewPool(workers.Options{
			Memory: limits.Memory, Max: o.Workers, Workers: o.Processes, Resident: o.Resident, Command: o.Command,
			MinIsolation: worker.Require(o.FullIsolation),
		})
	})
}

// NewInProcess returns a sandbox that runs programs in this process. It stops accidents,
// not attackers: a program can end the process by exhausting the stack or the memory, and can
// occupy a processor forever. Use it for trusted programs, in debuggers, and on systems
// without child processes.
//
// The protection against accidents consists of a fresh VM for each run, a limit on the
// depth of calls, no code from strings, guards on the most dangerous built-in functions, and
// a check of the process's memory every few milliseconds, which stops all programs if the
// memory has grown by more than Limits.Memory for each of them. A run that does not react to
// being stopped returns [ErrStuck] after two seconds. Close ends the goroutines that wait
// for further programs. Options.FullIsolation must not be set.
func NewInProcess(o *Options) (*Sandbox, error) {
	return newSandbox(o, func(limits Limits, o *Options) (runner, error) {
		p := newInProcess(limits.Memory)
		return p, p.Isolation().Check(worker.Require(o.FullIsolation))
	})
}

func newSandbox(o *Options, open func(Limits, *Options) (runner, error)) (*Sandbox, error) {
	if o == nil {
		o = &Options{}
	}
	limits, err := o.Limits.withDefaults()
	rules, invalid := o.Rules.validated()
	if err := errors.Join(err, invalid); err != nil {
		return nil, err
	}
	r, err := open(limits, o)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s := &Sandbox{limits: limits, rules: rules, runner: r}
	s.ending, s.end = context.WithCancel(context.Background())
	return s, nil
}

// Limits returns the sandbox's limits, with defaults filled in.
func (s *Sandbox) Limits() Limits { return s.limits }

// ErrClosed is returned by runs of a closed sandbox. If the sandbox was closed while the program was running, the error
// says so, and the outcome has the calls that were made.
var ErrClosed = errors.New("sandbox: the sandbox has been closed")

var errEnded = fmt.Errorf("%w while the program was running", ErrClosed)

// ErrNested is returned by a nested run, which another program's tool call started, if Options.Processes or
// Options.Resident does not permit another worker. Such a run does not wait for a worker, because the programs that
// have workers may themselves wait for nested runs.
var ErrNested = workers.ErrNested

var errNotNew = errors.New("sandbox: the sandbox is nil or empty; create it with New, and check New's error")

// Ready returns the reason why no program can be run, or nil: [ErrClosed] if the sandbox is
// closed, and another error if it was not created with New or NewInProcess.
func (s *Sandbox) Ready() error {
	switch {
	case s == nil || s.runner == nil:
		return errNotNew
	case s.runner.Closed():
		return ErrClosed
	}
	return nil
}

// Close ends the runs in progress and the workers. All runs return [ErrClosed]. Calls that
// have been dispatched to their tools are canceled. To let programs finish, call
// [Sandbox.Shutdown] first. Close may be called more than once.
func (s *Sandbox) Close() error {
	if s == nil || s.runner == nil {
		return nil
	}
	s.end()
	return s.runner.Close()
}

// Shutdown closes the sandbox after the runs in progress have ended. If ctx is done before that, it ends the runs as
// [Sandbox.Close] does, and returns ctx's error. Runs that have not begun, and later runs, return [ErrClosed] at once.
func (s *Sandbox) Shutdown(ctx context.Context) error {
	if s == nil || s.runner == nil {
		return nil
	}
	cancel := context.AfterFunc(ctx, s.end)
	if err := s.runner.Close(); err != nil || cancel() {
		return err
	}
	return fmt.Errorf("sandbox: shutdown: not all programs ended in time: %w", canceled(ctx))
}

// Run checks and runs one program and returns how it ended. Program errors are in the outcome: see [Failure]. The error
// is about a problem that no program can fix: a canceled ctx, an input without JSON form or with an invalid name
// ([ErrInput]), a sandbox that is closed or cannot start workers, or a tool's [tools.Fatal] error. If the error is not
// nil, the outcome is nil unless the program made calls.
func (s *Sandbox) Run(ctx context.Context, p Program) (*Outcome, error) {
	return s.run(ctx, p, false, nil)
}

// Check checks a program as Run does, without running it. It returns the same errors as
// Run.
func (s *Sandbox) Check(ctx context.Context, p Program) (CheckResult, error) {
	return checkResult(s.run(ctx, p, true, nil))
}

// run checks a program and, unless checkOnly, runs it. The step is nil outside of sessions.
func (s *Sandbox) run(ctx context.Context, p Program, checkOnly bool, step *sessionStep) (*Outcome, error) {
	if s == nil || s.runner == nil {
		return nil, errNotNew
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("sandbox: not started: %w", canceled(ctx))
	}
	defer nested(ctx)()
	bound := s.bound(p.Tools)
	limits := p.Limits.or(s.limits)
	job, err := s.job(p, limits, bound, step.sessionInputs())
	if err != nil {
		return nil, err
	}
	if failure := s.rules.tooLong(p.Source, limits.Source); failure != nil {
		return &Outcome{Failure: failure}, nil
	}
	h := newHost(ctx, limits, &p, bound)
	defer h.cancelCalls(context.Canceled)
	h.checkOnly, h.rules, h.step = checkOnly, s.rules, step
	job.RunClean = s.rules == nil && !checkOnly // then judge allows a program with a clean report
	defer context.AfterFunc(s.ending, func() { h.abort(errEnded) })()
	if p.Compiler != nil {
		if err := h.compile(job); err != nil || h.origin == nil {
			return h.notCompiled(err)
		}
	}
	if step != nil {
		step.prepare(job)
	}
	if err := s.startRecording(h, job); err != nil {
		return nil, err
	}
	result, err := s.runner.Run(h.ctx, h.ticket, job, h)
	if err == nil {
		h.recordEnd(result)
	}
	h.end(result)
	result = h.unlessAborted(result)
	h.origin.translate(result)
	switch {
	case errors.Is(err, workers.ErrClosed), err != nil && errors.Is(context.Cause(h.ctx), ErrClosed):
		return nil, ErrClosed
	case err != nil:
		return h.partial(), fmt.Errorf("sandbox: %w", err)
	case result.Failure != nil && result.Failure.Kind == engine.KindLost:
		return nil, fmt.Errorf("%w: %s", ErrSessionLost, result.Failure.Message)
	case result.Failure != nil && result.Failure.Kind == engine.KindDiverged:
		return h.outcome(result), tools.Fatal(fmt.Errorf("sandbox: the program was run again from its record, but did "+
			"not do the same; it can only go on as a new run: %s", result.Failure.Message))
	case step != nil:
		h.finishStep(result)
	}
	out := h.outcome(result)
	return out, h.fatal(ctx, out)
}

// canceled returns the reason why a context is done. It wraps the context's error even if the context was canceled with
// a cause.
func canceled(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}
