package vm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
	"golang.org/x/text/collate"
)

// machine is a VM and the program that runs in it. It belongs to one goroutine.
type machine struct {
	vm            *goja.Runtime
	convert       convert.Converter
	globals       *globals
	frames        []goja.StackFrame
	clock         clock
	exports       map[string]bool // declarations by the session's earlier programs; true for constants
	guarded       map[string]bool // the guards that are installed
	instrumented  bool            // uses of promises are recorded
	collators     map[collation]*collate.Collator
	memory        int64                 // bytes that the program may use; 0 if unknown
	sessionInputs []engine.Input        // inputs to all of the session's programs
	preloaded     map[string]goja.Value // values of preludes by their hashes
	steps         int                   // the session's programs that have run in the VM
	declared      []declared            // the session's variables, the newest last

	misses misses

	intrinsics *convert.Intrinsics // nil outside of sessions
	programState
}

// programState is one program's state.
type programState struct {
	host    engine.Host
	program *compiledProgram
	prelude goja.Value // the prelude's value, or nil
	limits  engine.Limits
	scope   *scope
	watch   *watchdog

	thrownBy map[*goja.Object]callPromise
	rejected []*goja.Promise // rejected promises that nothing handles

	replies chan callPromise // replies and done are nil before the first call
	done    chan struct{}    // closed when the run has ended
	arrived []callPromise    // calls whose replies have arrived but have not been delivered
	timers  timers
	issued  int          // calls made so far
	waiting map[int]bool // calls that have no reply yet

	promises promises
	texts    map[string][]string // the values that JSON.stringify lost, by its result, quoted as in JSON
	missing  []engine.Miss
	looked   map[missKey]int // for each missing member, how many positions of reads have been looked up

	exported  bool // the program has exported its declarations
	recording bool // turns are recorded
	turns     []engine.Turn
	turned    int               // the number of turns so far
	schedule  []engine.Turn     // recorded turns that have not been repeated
	stop      *engine.Result    // see [engine.Job]
	repeating bool              // every turn so far was a recorded one
	rerun     bool              // the run only rebuilds a session
	used      toolUses          // recorded together with turns
	listed    []engine.Variable // the session's variables, if the job lists them

	stdout, stderr stream

	started bool // the program has begun
	stopped bool // stopped by a limit or by the caller
	failing bool // the program has failed; calls that its getters make are not issued
	ended   bool
	result  *engine.Result
}

// begin prepares the VM for a program.
func (r *machine) begin(ctx context.Context, s *scope, job *engine.Job, host engine.Host, rerun bool) {
	r.programState = programState{
		host: host, rerun: rerun, limits: job.Limits, scope: s, recording: job.Recorded() && !rerun,
		schedule: job.Turns, stop: job.Stop, repeating: len(job.Turns) > 0,
		stdout: stream{limit: job.Limits.Output}, stderr: stream{limit: job.Limits.Output},
	}
	r.vm.ClearInterrupt()
	r.pin(job.Clock)
	r.memory = job.Limits.Memory
	supervisor, _ := host.(engine.Supervisor)
	r.watch = newWatchdog(ctx, r.vm, job.Limits, supervisor)
	if supervisor != nil {
		supervisor.Begin(r.watch.stop)
	}
	host.Clock(r.watch)
}

// execute runs the program until it ends.
func (r *machine) execute(code *goja.Program) {
	r.started = true
	value, err := r.vm.RunProgram(code)
	if err != nil {
		r.check(err)
		return
	}
	r.promises.value = r.promised(value)
	r.loop(value, r.promises.value)
}

// promised returns the promise whose result is the program's value, or nil if the value is neither a promise
// nor a thenable.
func (r *machine) promised(value goja.Value) *goja.Promise {
	object, ok := value.(*goja.Object)
	if !ok {
		return nil
	}
	if p, ok := convert.PromiseOf(object); ok {
		return p
	}
	var then goja.Value
	if exception := r.vm.Try(func() { then = object.Get("then") }); exception != nil {
		r.check(exception)
		return nil
	}
	if _, ok := goja.AssertFunction(then); !ok {
		return nil
	}
	promise, resolve, _ := r.vm.NewPromise()
	r.check(resolve(value))
	return promise
}

// loop delivers replies and timers until the program has settled and every call has been
// answered.
func (r *machine) loop(value goja.Value, main *goja.Promise) {
	for !r.ended && r.unsettled(main) {
		if len(r.waiting) == 0 && len(r.timers.list) == 0 {
			r.end(&engine.Result{Failure: &engine.Failure{
				Kind:    engine.KindDeadlock,
				Message: "the program awaits a promise that nothing will settle",
				Hint:    "a promise must be settled by a tool call, sleep or timer",
			}})
			return
		}
		r.next()
	}
	if !r.ended {
		r.finish(value, main)
	}
}

// unsettled reports whether the program is still running: its promise is pending, or it
// made calls that have no reply.
func (r *machine) unsettled(main *goja.Promise) bool {
	if main == nil || main.State() == goja.PromiseStateFulfilled {
		return len(r.waiting) > 0
	}
	return main.State() == goja.PromiseStatePending
}

// next waits for the next event and delivers it. The recorded turns come first.
func (r *machine) next() {
	switch {
	case len(r.schedule) > 0:
		r.repeat(r.schedule[0])
	case r.stop != nil:
		r.stopped = true
		r.end(r.stop)
	case r.rerun:
		r.diverge("the program waited %d times, but its rerun waited once more", r.turned)
	case len(r.arrived) > 0:
		r.reply(0)
	case r.wait(r.timers.next()):
		r.fire(0)
	}
}

// wait waits until a reply arrives, which it adds to r.arrived, or until the first timer is due.
func (r *machine) wait(timer <-chan time.Time) (due bool) {
	r.watch.wait(timer == nil, r.issued-len(r.waiting)+len(r.arrived))
	defer r.watch.resume()
	select {
	case c := <-r.replies:
		r.arrived = append(r.arrived, c)
	case <-timer:
		return true
	case <-r.watch.over:
		r.interrupted(r.watch.cause)
	}
	return false
}

// reply resumes the program with the reply at index i of r.arrived.
func (r *machine) reply(i int) {
	c := r.arrived[i]
	r.arrived = slices.Delete(r.arrived, i, i+1)
	r.turn(engine.Turn{Call: c.ID})
	r.deliver(c)
}

// fire resumes the program with the timer at index i.
func (r *machine) fire(i int) {
	if r.turn(engine.Turn{Timer: r.timers.list[i].id}); !r.ended {
		r.timers.fire(r.now(), i)
	}
}

// end records the first result. No guest code runs afterwards.
func (r *machine) end(result *engine.Result) {
	if !r.ended {
		r.ended, r.result = true, result
		r.timers.list = nil
		r.checkSchedule()
	}
}

// recovered ends a run that panicked. Either a getter was interrupted after the program had ended, or goja has a bug.
func (r *machine) recovered(p any) {
	switch p := p.(type) {
	case *goja.InterruptedError:
		r.check(p)
	case *goja.StackOverflowError:
		r.check(p)
	case *goja.Object: // an exception that no try of the VM caught
		r.end(&engine.Result{Failure: r.rejectionOf(p)})
	case runtime.Error:
		if strings.HasPrefix(p.Error(), "runtime error: makeslice:") {
			r.end(&engine.Result{Failure: engine.OutOfMemory()})
		}
	}
	r.end(&engine.Result{Failure: &engine.Failure{
		Kind: engine.KindCrashed, Message: "a built-in function of the engine failed",
		Hint: "look for objects that imitate arrays, collections or regular expressions, " +
			"and write that part differently",
	}})
}

// rejectionOf is like rejection, but also handles values whose description throws an exception.
func (r *machine) rejectionOf(v goja.Value) (f *engine.Failure) {
	r.failing = true
	defer func() {
		p := recover()
		if interrupt, ok := p.(*goja.InterruptedError); ok {
			panic(interrupt)
		}
		if p != nil || f.Message == "" {
			f = &engine.Failure{Kind: engine.KindThrown, Message: "uncaught [a value that cannot be printed]"}
		}
	}()
	return r.rejection(v)
}

// check ends the run if err is an interrupt or an uncaught exception.
func (r *machine) check(err error) {
	var interrupt *goja.InterruptedError
	switch {
	case err == nil:
	case errors.As(err, &interrupt):
		cause, _ := interrupt.Value().(error)
		r.interrupted(cause)
	default:
		r.end(&engine.Result{Failure: r.failure(err)})
	}
}

// interrupted ends the run because the watchdog, the host or submit interrupted it.
func (r *machine) interrupted(cause error) {
	if !errors.Is(cause, errEnded) {
		r.stopped = true
		r.end(&engine.Result{Failure: r.watch.failure(cause)})
	}
}

// finish takes the value of a program that has settled.
func (r *machine) finish(value goja.Value, main *goja.Promise) {
	if main != nil {
		value = main.Result()
		if main.State() == goja.PromiseStateRejected {
			r.end(&engine.Result{Failure: r.rejectionOf(value)})
			return
		}
	}
	if failure := r.unhandled(); failure != nil {
		r.end(&engine.Result{Failure: failure})
		return
	}
	text, err := r.convert.Encode(value, r.limits.Output)
	var thrown *goja.Exception
	switch {
	case errors.As(err, &thrown): // thrown by a getter
		r.end(&engine.Result{Failure: r.failure(err)})
	case err != nil:
		r.end(&engine.Result{Failure: encodeFailure(err)})
	default:
		failure := r.unawaited() // getters of the value may have made calls
		if failure != nil {
			text = nil
		}
		r.end(&engine.Result{Value: text, Failure: failure})
	}
}

// unhandled returns a failure for the first rejection that nothing handles, or nil.
func (r *machine) unhandled() *engine.Failure {
	if len(r.rejected) == 0 {
		return nil
	}
	failure := r.rejectionOf(r.rejected[0].Result())
	failure.Hint = "a promise that nothing awaited was rejected; await every tool call"
	return failure
}

// unawaited returns a failure if a call has no reply, or if a call failed and nothing handles its error. In
// both cases, the answer may be based on effects that have not happened.
func (r *machine) unawaited() *engine.Failure {
	calls := slices.Collect(maps.Keys(r.waiting))
	for _, p := range r.rejected {
		if object, ok := p.Result().(*goja.Object); ok && r.thrownBy[object].reply.Error != nil {
			calls = append(calls, r.thrownBy[object].ID)
		}
	}
	if len(calls) == 0 {
		return r.unhandled()
	}
	slices.Sort(calls)
	calls = slices.Compact(calls)
	message := "1 call was not awaited when the program answered. Write await before every call"
	if len(calls) > 1 {
		message = fmt.Sprintf("%d calls were not awaited when the program answered. Await every call: "+
			"write for (const x of list) { await … } or await Promise.all(list.map(…))", len(calls))
	}
	return &engine.Failure{Kind: engine.KindUnawaited, Message: message, Calls: calls[:min(len(calls), maxUnawaited)]}
}

// maxUnawaited is the maximum number of calls that a failure names.
const maxUnawaited = 10

// watchRejections records rejected promises until something handles them.
func (r *machine) watchRejections() {
	r.vm.SetPromiseRejectionTracker(func(p *goja.Promise, op goja.PromiseRejectionOperation) {
		if op == goja.PromiseRejectionReject {
			r.rejected = append(r.rejected, p)
		} else if i := slices.Index(r.rejected, p); i >= 0 {
			r.rejected = slices.Delete(r.rejected, i, i+1)
		}
	})
}
