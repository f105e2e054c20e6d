package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
	"github.com/writ-go/writ/tools"
)

// Options configures a [Sandbox].
type Options struct {
	// Limits bounds every run.
	Limits Limits

	// Rules is what the source of every program must comply with; nil for nothing
	// but the language.
	Rules *Rules

	// Workers is how many processes there are at most, each running one program
	// at a time; further runs wait. A tool that runs a program in the sandbox that
	// called it takes a worker more. Zero is twice the number of processors, at
	// least 4. Together they may use Workers × Limits.Memory.
	Workers int

	// Command starts a dedicated worker program instead of the running
	// executable. It must import this package and may do nothing else.
	Command []string

	// InheritEnv names environment variables that package initialisation in the
	// worker needs. They are gone before any program runs.
	InheritEnv []string

	// MinIsolation is what every worker must be found to have, by trying, before
	// it gets a program. New fails where one hasn't. The zero value accepts
	// what there is; [FullIsolation] demands everything.
	MinIsolation Isolation
}

// bounds are the limits and rules, with defaults and without faults.
func (o *Options) bounds() (Limits, *Rules, error) {
	limits, bad := o.Limits.withDefaults()
	rules, err := o.Rules.validated()
	return limits, rules, errors.Join(bad, err)
}

// Sandbox checks and runs programs. It keeps nothing between runs and is safe
// for concurrent use.
type Sandbox struct {
	limits Limits
	rules  *Rules // nil for none
	tier   tier
	last   atomic.Pointer[boundTools]

	preludes preludes
}

// tier is where programs run: in a worker process or in this one.
type tier interface {
	Run(ctx context.Context, job *engine.Job, host engine.Host) (*engine.Result, error)
	Isolation() worker.Isolation
	Closed() bool
	Close() error
}

// New returns a sandbox that runs programs in child processes, which are the
// same executable started again: see the package comment. The caller closes it.
// Nil options are the defaults. It starts one worker at once, and returns an
// error that says why if that fails.
func New(o *Options) (*Sandbox, error) {
	if o == nil {
		o = &Options{}
	}
	limits, rules, err := o.bounds()
	if err != nil {
		return nil, err
	}
	pool, err := workers.NewPool(workers.Options{
		Memory: limits.Memory, Max: o.Workers, Command: o.Command, InheritEnv: o.InheritEnv,
		MinIsolation: worker.Isolation(o.MinIsolation),
	})
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return &Sandbox{limits: limits, rules: rules, tier: pool}, nil
}

// NewInProcess returns a sandbox that runs programs in this process. It stops
// accidents, not attackers: a program can end the process by exhausting its
// stack or memory, and can keep a processor busy for ever. It is for trusted
// programs, debuggers, and systems without child processes.
//
// What there is against accidents: a VM for each run, a bound on the depth of
// calls, no code from text, guards on the built-in functions that most easily go
// wrong, and a look at the process's memory every few milliseconds, which stops
// all programs when together they have added more than Limits.Memory each. A run
// that does not react to being stopped gives [ErrStuck] after two seconds. Close
// ends the goroutines that wait for further programs. Options.MinIsolation cannot
// be met.
func NewInProcess(o *Options) (*Sandbox, error) {
	if o == nil {
		o = &Options{}
	}
	limits, rules, err := o.bounds()
	if err != nil {
		return nil, err
	}
	p := newInProcess(limits.Memory)
	if err := p.Isolation().Check(worker.Isolation(o.MinIsolation)); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return &Sandbox{limits: limits, rules: rules, tier: p}, nil
}

// Limits returns the limits in force.
func (s *Sandbox) Limits() Limits { return s.limits }

// ErrClosed is returned by runs of a sandbox that has been closed.
var ErrClosed = errors.New("sandbox: it has been closed")

var errNotMade = errors.New("sandbox: this one is nil or empty; make one by New, and look at the error that it returned")

// Ready says why no program can be run, if so: the sandbox is closed, which is
// [ErrClosed], or was not made by New. It costs nothing.
func (s *Sandbox) Ready() error {
	switch {
	case s == nil || s.tier == nil:
		return errNotMade
	case s.tier.Closed():
		return ErrClosed
	}
	return nil
}

// Close ends the workers, after the runs in progress have ended. Runs that wait
// for a worker, and later ones, return [ErrClosed]. It may be called again.
func (s *Sandbox) Close() error {
	if s == nil || s.tier == nil {
		return nil
	}
	return s.tier.Close()
}

// Program is one program and what it may use.
type Program struct {
	// Source is JavaScript. Top-level await and return work; the program's value
	// is what it returns, or else the value of its last statement, if that is an
	// expression.
	Source string

	// Compiler makes JavaScript of a Source that is none; nil if it is.
	// sandbox/esbuild has one for TypeScript and imports from npm.
	Compiler Compiler

	// Inputs are constants of the program, by name. Values are converted as
	// encoding/json does; a json.RawMessage is taken as it is.
	Inputs map[string]any

	// Tools is what the program may call; nil for nothing.
	Tools *tools.Set

	// Ledger records the calls and answers those already made; nil for none. A
	// tools/journal attempt is one.
	Attempt tools.Attempt

	// Earlier are names that programs declared which ran before this one, and which it
	// cannot see. If it uses one, the check says so. See [Outcome.Declared].
	Earlier []string

	// Uncounted is how many calls of single tools, by their paths, do not count
	// towards Limits.Calls; those beyond do. It is for tools whose calls have a bound
	// of their own.
	Uncounted map[string]int

	// Limits are those of this run. A zero field is the sandbox's limit; another one
	// replaces it, even if it is larger. Memory cannot be changed.
	Limits Limits

	// Submit binds submit(value), which ends the program with a value.
	Submit bool

	// Timeout shortens the limit of time for this run; zero leaves it.
	Timeout time.Duration

	// Pin, if set, fixes what the program sees of time and chance. In a session
	// it is the session that says so.
	Determinism *Determinism

	// OnCalling, if set, is told of every call before its tool is, or the record
	// answers; then the call has no result, and is Pending. It is called concurrently
	// and should return soon.
	OnCalling func(Call)

	// OnCall, if set, is told of every call when it has ended. It is called
	// concurrently and should return soon.
	OnCall func(Call)
}

// Run checks and runs one program and returns how it ended. What the program
// did wrong is in the outcome: see [Failure]. An error is what no program can
// mend: a cancelled ctx, an input that has no JSON form or no valid name
// ([ErrInput]), a sandbox that is closed or cannot start workers, a tool's
// [tools.Fatal] error. The outcome may then be nil; if it is not, it holds what was
// done before.
func (s *Sandbox) Run(ctx context.Context, p Program) (*Outcome, error) {
	return s.run(ctx, p, false, nil)
}

// Check says what Run would say of a program before it runs, without running
// anything. The error is as for Run.
func (s *Sandbox) Check(ctx context.Context, p Program) (CheckResult, error) {
	return checked(s.run(ctx, p, true, nil))
}

func checked(out *Outcome, err error) (CheckResult, error) {
	if err != nil {
		return CheckResult{}, err
	}
	review := CheckResult{Warnings: out.Warnings}
	switch f := out.Failure; {
	case f == nil:
	case f.Ran(): // in fact it did not: parsing alone exceeded a limit
		review.Findings = []Finding{f.Finding}
	default:
		review.Findings = f.Findings
	}
	return review, nil
}

// run runs a program; session is nil where there is none.
func (s *Sandbox) run(ctx context.Context, p Program, checkOnly bool, session *sessionStep) (*Outcome, error) {
	if s == nil || s.tier == nil {
		return nil, errNotMade
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("sandbox: not started: %w", cancelled(ctx))
	}
	bound := s.bound(p.Tools)
	limits := p.Limits.or(s.limits)
	job, err := s.job(p, limits, bound, session.given())
	if err != nil {
		return nil, err
	}
	if failure := s.tooLong(p.Source, limits.Source); failure != nil {
		return &Outcome{Failure: failure}, nil
	}
	h := newHost(ctx, limits, &p, bound)
	h.checkOnly, h.rules, h.lasting, h.preludes = checkOnly, s.rules, session.given(), &s.preludes
	var outside engine.Host = h
	var origin *origin // of what is run
	if p.Compiler != nil {
		origin, err = h.compile(job)
		if err != nil || origin == nil {
			return h.uncompiled(err)
		}
		outside = &translator{Host: h, origin: origin}
	}
	record := &recorder{Host: outside, step: session, tools: job.Tools}
	if session != nil {
		session.prepare(job)
		outside = record
	}
	result, err := s.tier.Run(h.ctx, job, outside)
	h.end(result)
	result = h.overruled(result)
	origin.result(result)
	switch {
	case errors.Is(err, workers.ErrClosed):
		return nil, ErrClosed
	case err != nil:
		return h.done(), fmt.Errorf("sandbox: %w", err)
	case result.Failure != nil && result.Failure.Kind == engine.Diverged:
		return nil, fmt.Errorf("%w: %s", ErrSessionLost, result.Failure.Message)
	case session != nil:
		record.finish(result)
	}
	out := h.outcome(result)
	return out, h.fatal(ctx, out)
}

// cancelled is why a context ended, for [errors.Is] also where the caller gave
// a cause of its own.
func cancelled(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return ctx.Err()
}

func (s *Sandbox) tooLong(source string, limit int) *Failure {
	if len(source) <= limit {
		return s.rules.size(source)
	}
	f := Finding{
		Kind:    KindSourceLimit,
		Message: fmt.Sprintf("the program has %d bytes; %d are allowed", len(source), limit),
		Hint:    "write a shorter one",
	}
	return refusal([]Finding{f})
}

// job makes plain data of a program, whose session may have inputs of its own.
func (s *Sandbox) job(p Program, l Limits, bound *boundTools, lasting []engine.Input) (*engine.Job, error) {
	job := &engine.Job{
		Source: p.Source, Submit: p.Submit,
		Tools: bound.plain, Forbidden: s.rules.forbids(),
		Clock: p.Determinism.clock(),
		Limits: engine.Limits{
			Time: l.Time, Compute: l.Compute, Wait: l.Wait, Memory: l.Memory, Output: l.Output, Argument: l.Argument,
		},
	}
	if p.Timeout > 0 {
		job.Limits.Time = min(p.Timeout, job.Limits.Time)
	}
	var errs []error
	if !p.Determinism.valid() {
		errs = append(errs, fmt.Errorf("sandbox: the pinned time %v is out of range for Date", p.Determinism.Time))
	}
	if p.Timeout < 0 {
		errs = append(errs, fmt.Errorf("sandbox: the timeout is negative: %v; leave it zero for the limit", p.Timeout))
	}
	if errs = append(errs, p.Limits.check()); p.Limits.Memory != 0 {
		errs = append(errs, errors.New("sandbox: Program.Limits.Memory is set; only the sandbox's Options can set that"))
	}
	own, err := inputs(p.Inputs)
	errs = append(errs, err)
	for _, in := range slices.Concat(lasting, own) {
		if bound.globals[in.Name] {
			errs = append(errs, fmt.Errorf("%w %q: a tool has that name", ErrInput, in.Name))
		}
	}
	for _, in := range lasting {
		if _, twice := p.Inputs[in.Name]; twice {
			errs = append(errs, fmt.Errorf("%w %q: the session has one of that name", ErrInput, in.Name))
		}
	}
	job.Inputs = own
	return job, errors.Join(errs...)
}

// ErrInput is wrapped by the errors of inputs that a program can't have: by their
// name, or their value.
var ErrInput = errors.New("sandbox: input")

// inputs makes plain data of inputs. The error joins all that is wrong with them.
func inputs(values map[string]any) (list []engine.Input, err error) {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		in, err := input(name, values[name])
		errs = append(errs, err)
		list = append(list, in)
	}
	return list, errors.Join(errs...)
}

func input(name string, value any) (engine.Input, error) {
	if !tools.Identifier(name) || tools.Reserved(name) {
		return engine.Input{}, fmt.Errorf("%w %q: the name is reserved or not a JavaScript identifier", ErrInput, name)
	}
	text, err := json.Marshal(value)
	if err == nil {
		err = engine.Check(text)
	}
	if err != nil {
		return engine.Input{}, fmt.Errorf("%w %q: %w", ErrInput, name, err)
	}
	return engine.Input{Name: name, JSON: text}, nil
}
