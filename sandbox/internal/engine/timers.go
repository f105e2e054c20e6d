package engine

import (
	"math"
	"time"

	"github.com/dop251/goja"
)

// startTimer makes setTimeout, or setInterval.
func (r *run) startTimer(repeat bool) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		callback, ok := goja.AssertFunction(call.Argument(0))
		if !ok {
			panic(r.vm.NewTypeError("the first argument of a timer must be a function"))
		}
		var args []goja.Value
		if len(call.Arguments) > 2 {
			args = call.Arguments[2:]
		}
		r.lastTimer++
		id, delay := r.lastTimer, milliseconds(call.Argument(1))
		r.arm(id, delay, repeat, func() {
			_, err := callback(goja.Undefined(), args...)
			r.check(err)
		})
		return r.vm.ToValue(id)
	}
}

// arm runs fire on the loop after the delay, and again if repeat.
func (r *run) arm(id int64, delay time.Duration, repeat bool, fire func()) {
	r.timers[id] = time.AfterFunc(delay, func() {
		r.post(func() {
			if r.timers[id] == nil {
				return // cleared in the meantime
			}
			if delete(r.timers, id); repeat {
				r.arm(id, max(delay, time.Millisecond), repeat, fire)
			}
			fire()
		})
	})
}

func (r *run) clearTimer(call goja.FunctionCall) goja.Value {
	id := call.Argument(0).ToInteger()
	if t := r.timers[id]; t != nil {
		t.Stop()
		delete(r.timers, id)
	}
	return goja.Undefined()
}

// sleep returns a promise that is resolved after so many milliseconds.
func (r *run) sleep(call goja.FunctionCall) goja.Value {
	promise, resolve, _ := r.vm.NewPromise()
	r.lastTimer++
	r.arm(r.lastTimer, milliseconds(call.Argument(0)), false, func() { r.check(resolve(goja.Undefined())) })
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
