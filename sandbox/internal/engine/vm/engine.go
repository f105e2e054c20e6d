package vm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

// Engine runs jobs. It keeps nothing between them but compiled programs and the
// VMs of the last sessions. The zero Engine is ready; it is safe for concurrent
// use, by sessions one run at a time each.
type Engine struct {
	library  library
	preludes preludes
	index    atomic.Pointer[index] // of the last tools

	mu       sync.Mutex
	sessions []*run // the one used last is the last
}

// Run runs one job on the calling goroutine and returns when it has ended, when a
// limit of time is over, or when ctx is cancelled. A program that ends early may leave
// calls behind. It does not panic and never returns nil.
func (e *Engine) Run(ctx context.Context, job *engine.Job, host engine.Host) (result *engine.Result) {
	r, failure := e.machine(ctx, job)
	if failure != nil {
		return &engine.Result{Failure: failure}
	}
	result = r.play(ctx, e, job, host)
	switch s := job.Session; {
	case s == nil:
	case result.Submitted: // the interrupt may have left frames on the stack
	case result.Failure == nil:
		r.session, r.steps = s.Key, s.Step+1
		e.keep(r)
	case !r.touched: // it was refused
		r.session = s.Key
		e.keep(r)
	}
	return result
}

// machine returns the VM that a job is to run in, with what its session has left
// behind.
func (e *Engine) machine(ctx context.Context, job *engine.Job) (*run, *engine.Failure) {
	s := job.Session
	if s == nil {
		return newRun(), nil
	}
	if r := e.take(s.Key); r != nil && r.steps == s.Step {
		return r, nil
	}
	if s.Kept || len(s.Log) != s.Step {
		return nil, &engine.Failure{Kind: engine.Stale, Message: "the session is not here"}
	}
	r := newRun()
	r.lasting = s.Inputs
	start := time.Now()
	texts := map[string]*engine.Prelude{}
	for i, step := range s.Log {
		limits := job.Limits // one run's, for all of them
		limits.Time = max(limits.Time-time.Since(start), 1)
		step.Prelude = step.Prelude.First(texts)
		if failure := r.rebuild(ctx, e, &step, limits); failure != nil {
			return nil, lost(i+1, failure)
		}
	}
	return r, nil
}

// lost says why a session cannot be rebuilt.
func lost(number int, f *engine.Failure) *engine.Failure {
	if f.Kind == engine.Stopped {
		return f
	}
	return &engine.Failure{Kind: engine.Diverged, Message: fmt.Sprintf("program %d of the session, made again: %s", number, f.Message)}
}

// take takes the VM of a session out, so that a run that fails does not leave
// it behind.
func (e *Engine) take(key string) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.sessions, func(r *run) bool { return r.session == key })
	if i < 0 {
		return nil
	}
	r := e.sessions[i]
	e.sessions = slices.Delete(e.sessions, i, i+1)
	return r
}

func (e *Engine) keep(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.sessions) == engine.MaxSessions {
		e.sessions = slices.Delete(e.sessions, 0, 1)
	}
	e.sessions = append(e.sessions, r)
}

// Forget drops the VMs of all sessions.
func (e *Engine) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions = nil
}

// play runs one program in a VM that may have run others.
func (r *run) play(ctx context.Context, e *Engine, job *engine.Job, host engine.Host) (result *engine.Result) {
	if len(r.lasting) > 0 {
		whole := *job
		whole.Inputs = slices.Concat(r.lasting, job.Inputs)
		job = &whole
	}
	r.begin(ctx, e.scope(job, r.exports), job, host)
	defer func() {
		if p := recover(); p != nil {
			r.recovered(p)
		}
		spent := r.watch.end()
		if r.replies != nil {
			close(r.done)
			close(r.calls)
		}
		result = r.result
		result.Stdout, result.Stderr = r.stdout.output(), r.stderr.output()
		result.Computed, result.Waited = spent.computed, spent.waited
		result.Turns = r.turns
		result.Used = r.used.list(r.scope.index)
		result.Strays = r.strays(result.Failure)
		result.Variables = r.listed
	}()
	if failure := r.pipeline(e, job); failure != nil {
		r.end(&engine.Result{Failure: failure})
	}
	return nil // see the deferred function
}

// pipeline is what becomes of a program: parse, report, compile, bind, run.
func (r *run) pipeline(e *Engine, job *engine.Job) *engine.Failure {
	prelude, failure := e.preludes.code(job.Prelude)
	if failure != nil {
		return failure
	}
	title := edition{fileName(job.Session), job.Source, len(job.Forbidden) > 0, job.Session != nil}
	p, failure := e.library.parse(title)
	if failure != nil {
		return failure
	}
	r.program = p
	allowed := r.host.Report(p.report(r.scope, job))
	code, failure := p.compile()
	ok := allowed()
	switch {
	case failure != nil:
		return failure
	case !ok:
		if s := job.Session; s != nil && s.List {
			r.listed = r.variables()
		}
		return &engine.Failure{Kind: engine.Refused, Message: "the program was refused"}
	}
	e.library.keep(title, p)
	if failure := r.prepare(job); failure != nil {
		return failure
	}
	if r.preload(job.Prelude, prelude) {
		r.execute(code)
	}
	return nil
}

// newRun makes a VM.
func newRun() *run {
	r := &run{vm: goja.New(), frames: make([]goja.StackFrame, 0, 4)}
	r.convert = convert.Converter{
		VM:        r.vm,
		OnPromise: func(o *goja.Object) { r.usePromise(o, engine.Printed) },
		ToolOf: func(o *goja.Object) string {
			if by, ok := r.thrownBy[o]; ok {
				return by.Tool
			}
			return ""
		},
	}
	return r
}
