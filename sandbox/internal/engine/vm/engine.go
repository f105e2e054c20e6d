// Package vm runs programs in goja: it compiles them, binds tools and inputs, runs the
// event loop, and keeps the VMs of sessions.
package vm

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
	"github.com/writ-go/writ/sandbox/internal/lru"
)

// Engine runs jobs. It keeps only compiled programs and the VMs of recent sessions.
// The zero Engine is ready to use. It is safe for concurrent use, but a session must run
// one program at a time.
type Engine struct {
	programs lru.Cache[programKey, *compiledProgram]
	preludes lru.Cache[string, *goja.Program] // keyed by their hashes
	sessions lru.Cache[string, *machine]      // the VMs of sessions, keyed by SessionJob.Key
	index    atomic.Pointer[index]            // the last job's tools
}

// Run runs one job on the calling goroutine. It returns when the program has ended, a time limit has passed, or ctx is
// canceled. At that time, some of the program's calls may still be in progress. Run does not panic and never returns
// nil.
func (e *Engine) Run(ctx context.Context, job *engine.Job, host engine.Host) (result *engine.Result) {
	r, failure := e.machine(ctx, job)
	if failure != nil {
		return &engine.Result{Failure: failure}
	}
	result = r.runJob(ctx, e, job, host, false)
	s := job.Session
	if s == nil || result.Submitted || result.Failure != nil && r.started {
		return result // do not keep the VM: after submit, the interrupt may have left frames on its stack
	}
	if result.Failure == nil {
		r.steps = s.Step + 1
	}
	e.sessions.Add(s.Key, r, 1, lru.Bounds{Entries: engine.MaxSessions, Size: engine.MaxSessions})
	return result
}

// machine returns the VM for a job. If the engine no longer has the VM of a session, machine rebuilds it.
func (e *Engine) machine(ctx context.Context, job *engine.Job) (*machine, *engine.Failure) {
	s := job.Session
	if s == nil {
		return newMachine(), nil
	}
	if r, ok := e.sessions.Take(s.Key); ok && r.steps == s.Step { // after a failure, the VM is not added again
		return r, nil
	}
	if s.Kept || len(s.Log) != s.Step {
		return nil, &engine.Failure{Kind: engine.KindStale, Message: "the engine does not have the session"}
	}
	r := newMachine()
	r.sessionInputs = s.Inputs
	start := time.Now()
	texts := map[string]*engine.Prelude{}
	for i, step := range s.Log {
		limits := job.Limits // one run's limits apply to the whole rebuild
		limits.Time = max(limits.Time-time.Since(start), 1)
		step.Prelude = step.Prelude.First(texts)
		if failure := r.rebuild(ctx, e, &step, limits); failure != nil {
			return nil, notRebuilt(i+1, failure)
		}
	}
	return r, nil
}

// notRebuilt returns the failure of a session whose programs cannot be run again.
func notRebuilt(number int, f *engine.Failure) *engine.Failure {
	if f.Kind == engine.KindStopped {
		return f
	}
	return &engine.Failure{
		Kind: engine.KindLost, Message: fmt.Sprintf("rerun of program %d of the session: %s", number, f.Message),
	}
}

// runJob runs one program in a VM that may have run other programs. rerun means that the program has run before and
// only rebuilds its session.
func (r *machine) runJob(
	ctx context.Context, e *Engine, job *engine.Job, host engine.Host, rerun bool,
) (result *engine.Result) {
	if len(r.sessionInputs) > 0 {
		complete := *job
		complete.Inputs = slices.Concat(r.sessionInputs, job.Inputs)
		job = &complete
	}
	r.begin(ctx, e.scope(job, r.exports), job, host, rerun)
	defer func() {
		if p := recover(); p != nil {
			r.recovered(p)
		}
		spent := r.watch.end()
		if r.replies != nil {
			close(r.done)
		}
		result = r.result
		if result.Turns = r.turns; result == r.stop {
			return // the recorded result has everything else
		}
		result.Stdout, result.Stderr = r.stdout.output(), r.stderr.output()
		result.Computed, result.Waited = spent.computed, spent.waited
		result.Used = r.used.list(r.scope.index)
		result.PromiseMisuses = r.promiseUses(result.Failure)
		result.Misses = r.missing
		result.Variables = r.listed
	}()
	if failure := r.pipeline(e, job); failure != nil {
		r.end(&engine.Result{Failure: failure})
	}
	return nil // set by the deferred function
}

// pipeline takes a program through its stages: parse, report, compile, bind, run.
func (r *machine) pipeline(e *Engine, job *engine.Job) *engine.Failure {
	prelude, failure := e.prelude(job.Prelude)
	if failure != nil {
		return failure
	}
	key := keyOf(job)
	p, failure := e.program(key)
	if failure != nil {
		return failure
	}
	r.program = p
	if !r.rerun { // otherwise the program has already been checked
		r.host.Report(p.report(r.scope, job))
	}
	code, failure := p.compile()
	ok := r.host.Allowed()
	switch {
	case failure != nil:
		return failure
	case !ok:
		if s := job.Session; s != nil && s.List {
			r.listed = r.variables()
		}
		return &engine.Failure{Kind: engine.KindRefused, Message: "the program was refused"}
	}
	e.keepProgram(key, p)
	if failure := r.prepare(job); failure != nil {
		return failure
	}
	if r.preload(job.Prelude, prelude) {
		r.execute(code)
	}
	return nil
}

// newMachine makes a VM.
func newMachine() *machine {
	r := &machine{vm: goja.New(), frames: make([]goja.StackFrame, 0, 1+maxStack)}
	r.convert = convert.Converter{
		VM:        r.vm,
		OnPromise: func(o *goja.Object) { r.notePromise(o, engine.Printed, r.position()) },
		ToolOf: func(o *goja.Object) string {
			if c, ok := r.thrownBy[o]; ok {
				return c.reply.Error.Tool
			}
			return ""
		},
	}
	return r
}
