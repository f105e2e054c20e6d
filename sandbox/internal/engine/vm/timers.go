package vm

import (
	"math"
	"slices"
	"time"

	"github.com/dop251/goja"
)

// timers are what waits for its time, the earliest first; among equals, what
// was set first. Where the program's clock is fixed, that says which is the earliest:
// by the real one, it would depend on how fast the machine is.
type timers struct {
	list  []*timer
	last  int64 // id given
	clock *time.Timer
	fixed bool
}

type timer struct {
	id    int64
	due   time.Time
	shown time.Time     // what the program's clock will show then
	every time.Duration // 0: once
	fire  func()
}

// set adds a timer and returns its id. Now is what the program's clock shows.
func (t *timers) set(now time.Time, delay time.Duration, repeat bool, fire func()) int64 {
	t.last++
	added := &timer{id: t.last, due: time.Now().Add(delay), shown: now.Add(delay), fire: fire}
	if repeat {
		added.every = max(delay, time.Millisecond)
	}
	t.insert(added)
	return added.id
}

func (t *timers) insert(added *timer) {
	at := len(t.list)
	for at > 0 && t.time(t.list[at-1]).After(t.time(added)) {
		at--
	}
	t.list = slices.Insert(t.list, at, added)
}

// time is by what timers are ordered.
func (t *timers) time(of *timer) time.Time {
	if t.fixed {
		return of.shown
	}
	return of.due
}

func (t *timers) clear(id int64) {
	t.list = slices.DeleteFunc(t.list, func(set *timer) bool { return set.id == id })
}

// next is ready when the first timer is due; it is nil where there is none.
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

// fire runs a timer: the first, unless a program is made again.
func (t *timers) fire(i int) {
	due := t.list[i]
	t.list = slices.Delete(t.list, i, i+1)
	if due.every > 0 {
		due.due = time.Now().Add(due.every)
		due.shown = due.shown.Add(due.every)
		t.insert(due)
	}
	due.fire()
}

// index finds a timer; it is -1 where there is none.
func (t *timers) index(id int64) int {
	return slices.IndexFunc(t.list, func(set *timer) bool { return set.id == id })
}

// dueOf is what the program's clock shows when a timer is due.
func (t *timers) dueOf(id int64) time.Time {
	if i := t.index(id); i >= 0 {
		return t.list[i].shown
	}
	return time.Time{}
}

// startTimer makes setTimeout, or setInterval.
func (r *run) startTimer(repeat bool) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		callback, ok := goja.AssertFunction(call.Argument(0))
		if !ok {
			panic(r.typeError("the first argument of a timer must be a function"))
		}
		var args []goja.Value
		if len(call.Arguments) > 2 {
			args = slices.Clone(call.Arguments[2:]) // they lie on the VM's stack
		}
		id := r.timers.set(r.clock.time(), milliseconds(call.Argument(1)), repeat, func() {
			_, err := callback(goja.Undefined(), args...)
			r.check(err)
		})
		return r.vm.ToValue(id)
	}
}

func (r *run) clearTimer(call goja.FunctionCall) goja.Value {
	r.timers.clear(call.Argument(0).ToInteger())
	return goja.Undefined()
}

// sleep returns a promise that is resolved after so many milliseconds.
func (r *run) sleep(call goja.FunctionCall) goja.Value {
	promise, resolve, _ := r.vm.NewPromise()
	r.timers.set(r.clock.time(), milliseconds(call.Argument(0)), false, func() { r.check(resolve(goja.Undefined())) })
	return r.vm.ToValue(promise)
}

// milliseconds reads a delay: anything that is no number is none at all.
func milliseconds(v goja.Value) time.Duration {
	ms := v.ToFloat()
	if math.IsNaN(ms) || ms <= 0 {
		return 0
	}
	return time.Duration(min(ms, 1e9) * float64(time.Millisecond))
}
