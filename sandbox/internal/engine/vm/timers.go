package vm

import (
	"math"
	"slices"
	"time"

	"github.com/dop251/goja"
)

// timers are the pending timers, the earliest first. Timers that are due at the same time are in the order in
// which they were set.
type timers struct {
	list  []*timer
	last  int64 // the last ID
	clock *time.Timer
}

type timer struct {
	id    int64
	due   time.Time
	every time.Duration // 0 for a timer that fires once
	fire  func()
}

// set adds a timer and returns its ID.
func (t *timers) set(now time.Time, delay time.Duration, repeat bool, fire func()) int64 {
	t.last++
	added := &timer{id: t.last, due: now.Add(delay), fire: fire}
	if repeat {
		added.every = max(delay, time.Millisecond)
	}
	t.insert(added)
	return added.id
}

func (t *timers) insert(added *timer) {
	at := len(t.list)
	for at > 0 && t.list[at-1].due.After(added.due) {
		at--
	}
	t.list = slices.Insert(t.list, at, added)
}

func (t *timers) clear(id int64) {
	t.list = slices.DeleteFunc(t.list, func(set *timer) bool { return set.id == id })
}

// next returns a channel that receives when the first timer is due, or nil if there is no timer.
func (t *timers) next() <-chan time.Time {
	switch {
	case len(t.list) == 0:
		return nil
	case t.clock == nil:
		t.clock = time.NewTimer(time.Until(t.list[0].due))
	default:
		t.clock.Reset(time.Until(t.list[0].due))
	}
	return t.clock.C
}

// fire runs the timer at index i. If its turn was recorded, it may not be the first timer.
func (t *timers) fire(now time.Time, i int) {
	due := t.list[i]
	t.list = slices.Delete(t.list, i, i+1)
	if due.every > 0 {
		due.due = now.Add(due.every)
		t.insert(due)
	}
	due.fire()
}

// index returns the index of a timer, or -1.
func (t *timers) index(id int64) int {
	return slices.IndexFunc(t.list, func(set *timer) bool { return set.id == id })
}

// startTimer implements setTimeout and, if repeat is true, setInterval.
func (r *machine) startTimer(call goja.FunctionCall, repeat bool) goja.Value {
	callback, ok := goja.AssertFunction(call.Argument(0))
	if !ok {
		panic(r.typeError("the first argument of a timer must be a function"))
	}
	var args []goja.Value
	if len(call.Arguments) > 2 {
		args = slices.Clone(call.Arguments[2:]) // the arguments are on the VM's stack
	}
	id := r.timers.set(r.now(), milliseconds(call.Argument(1)), repeat, func() {
		_, err := callback(goja.Undefined(), args...)
		r.check(err)
	})
	return r.vm.ToValue(id)
}

func (r *machine) setTimeout(call goja.FunctionCall) goja.Value { return r.startTimer(call, false) }

func (r *machine) setInterval(call goja.FunctionCall) goja.Value { return r.startTimer(call, true) }

func (r *machine) clearTimer(call goja.FunctionCall) goja.Value {
	r.timers.clear(call.Argument(0).ToInteger())
	return goja.Undefined()
}

// sleep returns a promise that is resolved after a number of milliseconds.
func (r *machine) sleep(call goja.FunctionCall) goja.Value {
	promise, resolve, _ := r.vm.NewPromise()
	r.timers.set(r.now(), milliseconds(call.Argument(0)), false, func() { r.check(resolve(goja.Undefined())) })
	return r.vm.ToValue(promise)
}

// milliseconds returns a delay, or 0 for anything that is not a number.
func milliseconds(v goja.Value) time.Duration {
	ms := v.ToFloat()
	if math.IsNaN(ms) || ms <= 0 {
		return 0
	}
	return time.Duration(min(ms, 1e9) * float64(time.Millisecond))
}
