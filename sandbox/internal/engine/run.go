package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dop251/goja"
)

// errEnded interrupts a VM whose result is already known.
var errEnded = errors.New("the program has ended")

// run is one program in one VM. All but post belongs to one goroutine.
type run struct {
	host    Host
	vm      *goja.Runtime
	program *program
	limit   int // bytes of the value

	scope    *scope
	globals  *globals
	thrownBy map[*goja.Object]toolFailure
	floating []*goja.Promise // rejected, and nothing handles them

	jobs    chan func()
	done    chan struct{} // closed when nobody takes jobs any more
	timers  timers
	calls   int // made so far
	waiting int // calls without a reply

	stdout, stderr stream
	frames         []goja.StackFrame

	ended  bool
	result *Result
}

// Run runs one job on the calling goroutine and returns when it has ended and
// its calls have been answered, or when the time is over or ctx is cancelled.
// It does not panic and never returns nil.
func Run(ctx context.Context, job *Job, host Host) (result *Result) {
	r := &run{
		host: host, vm: goja.New(), limit: job.Limits.Output,
		thrownBy: map[*goja.Object]toolFailure{},
		jobs:     make(chan func(), 16), done: make(chan struct{}),
		stdout: stream{limit: job.Limits.Output}, stderr: stream{limit: job.Limits.Output},
		frames: make([]goja.StackFrame, 0, 4),
	}
	defer func() {
		if p := recover(); p != nil {
			r.recovered(p)
		}
		close(r.done)
		result = r.result
		result.Stdout, result.Stderr = r.stdout.output(), r.stderr.output()
	}()
	if job.Limits.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, job.Limits.Time, errTime)
		defer cancel()
	}
	if failure := r.run(ctx, job); failure != nil {
		r.end(&Result{Failure: failure})
	}
	return nil // see the deferred function
}

// errTime is the cause of a context that ended because Limits.Time passed.
var errTime = errors.New("time is over")

// run is the pipeline: parse, report, compile, bind, run.
func (r *run) run(ctx context.Context, job *Job) *Failure {
	p, failure := parse(job.Source)
	if failure != nil {
		return failure
	}
	r.program = p
	r.scope = newScope(job)
	allowed := r.host.Report(p.report(r.scope, job.Submit))
	code, failure := p.compile()
	ok := allowed()
	switch {
	case failure != nil:
		return failure
	case !ok:
		return &Failure{Kind: Refused, Message: "the program was refused"}
	}
	r.prepare(job)
	r.watchRejections()
	r.execute(ctx, code)
	return nil
}

// execute runs the program to its end, however that comes about.
func (r *run) execute(ctx context.Context, code *goja.Program) {
	stop := context.AfterFunc(ctx, func() { r.vm.Interrupt(context.Cause(ctx)) })
	defer stop()
	value, err := r.vm.RunProgram(code)
	if err != nil {
		r.check(err)
		r.drain(ctx)
		return
	}
	r.loop(ctx, value.Export().(*goja.Promise))
}

// loop gives the VM what it waits for until the program has settled and every
// call has been answered.
func (r *run) loop(ctx context.Context, main *goja.Promise) {
	for !r.ended && (main.State() == goja.PromiseStatePending || r.waiting > 0) {
		if r.waiting == 0 && len(r.timers.list) == 0 {
			r.end(&Result{Failure: &Failure{
				Kind:    Deadlock,
				Message: "the program awaits a promise that nothing will settle",
				Hint:    "a promise must be settled by a tool call, sleep or timer",
			}})
			return
		}
		r.next(ctx)
	}
	if !r.ended {
		r.finish(main)
	}
	r.drain(ctx)
}

// drain waits for the calls in flight when the program ended early, so that it
// is known what they did.
func (r *run) drain(ctx context.Context) {
	for r.waiting > 0 && ctx.Err() == nil {
		r.next(ctx)
	}
}

// next does one job.
func (r *run) next(ctx context.Context) {
	select {
	case job := <-r.jobs:
		job()
	case <-r.timers.next():
		r.timers.fire()
	case <-ctx.Done():
		r.interrupted(context.Cause(ctx))
	}
}

// post hands a job to the loop, from any goroutine; after the end, to nobody.
func (r *run) post(job func()) {
	select {
	case r.jobs <- job:
	case <-r.done:
	}
}

// end records the result, if it is the first. From here on no guest code runs.
func (r *run) end(result *Result) {
	if !r.ended {
		r.ended, r.result = true, result
		r.timers.list = nil
	}
}

// recovered ends a run that panicked: a getter of the program's value, read when
// the program had ended, was interrupted; or the engine has a bug.
func (r *run) recovered(p any) {
	switch p := p.(type) {
	case *goja.InterruptedError:
		r.check(p)
	case *goja.StackOverflowError:
		r.check(p)
	}
	r.end(&Result{Failure: &Failure{Kind: Crashed, Message: fmt.Sprintf("the engine failed: %v", p)}})
}

// check looks at what came out of the VM: an interrupt or an exception that no
// promise caught ends the run.
func (r *run) check(err error) {
	var interrupt *goja.InterruptedError
	switch {
	case err == nil:
	case errors.As(err, &interrupt):
		cause, _ := interrupt.Value().(error)
		r.interrupted(cause)
	default:
		r.end(&Result{Failure: r.failure(err)})
	}
}

// interrupted ends the run because the host, or submit, said so.
func (r *run) interrupted(cause error) {
	switch {
	case errors.Is(cause, errEnded):
	case errors.Is(cause, errTime):
		r.end(&Result{Failure: &Failure{Kind: Timeout, Message: "the program ran out of time"}})
	default:
		r.end(&Result{Failure: &Failure{Kind: Stopped, Message: "the program was stopped"}})
	}
}

// finish takes the value of a program that settled by itself.
func (r *run) finish(main *goja.Promise) {
	if main.State() == goja.PromiseStateRejected {
		r.end(&Result{Failure: r.rejection(main.Result())})
		return
	}
	if len(r.floating) > 0 {
		failure := r.rejection(r.floating[0].Result())
		failure.Hint = "a promise was rejected that nothing awaited; await every tool call"
		r.end(&Result{Failure: failure})
		return
	}
	value, err := r.encode(main.Result())
	var thrown *goja.Exception
	switch {
	case errors.As(err, &thrown): // by a getter
		r.end(&Result{Failure: r.failure(err)})
	case err != nil:
		r.end(&Result{Failure: encodeFailure(err)})
	default:
		r.end(&Result{Value: value})
	}
}

// watchRejections keeps the promises that were rejected and that nothing
// handles.
func (r *run) watchRejections() {
	r.vm.SetPromiseRejectionTracker(func(p *goja.Promise, op goja.PromiseRejectionOperation) {
		if op == goja.PromiseRejectionReject {
			r.floating = append(r.floating, p)
		} else if i := slices.Index(r.floating, p); i >= 0 {
			r.floating = slices.Delete(r.floating, i, i+1)
		}
	})
}
