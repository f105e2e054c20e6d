package vm

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

// maxStrays is the maximum number of positions that are reported for each kind of misuse.
const maxStrays = 20

// promises records the promises of tool calls that the program has not awaited so far, and the uses of promises as if
// they were their values.
type promises struct {
	made  []callPromise
	uses  []promiseUse
	value *goja.Promise // the program's value, or nil if the value is not a promise
}

type promiseUse struct {
	engine.PromiseMisuse
	promise *goja.Promise
}

// callPromise is the promise of a tool call.
type callPromise struct {
	engine.Call
	promise         *goja.Promise
	stack           []engine.Pos // where the call was made, and where the functions around it were called
	resolve, reject func(any) error
	reply           engine.Reply
}

// add records the promise of a call, without the arguments. Before the list grows, awaited promises are removed, so
// that the list does not keep call results in memory.
func (p *promises) add(c callPromise) {
	c.Args, c.More = nil, nil
	if len(p.made) == cap(p.made) {
		p.made = slices.DeleteFunc(p.made, func(c callPromise) bool { return handled(c.promise) })
	}
	p.made = append(p.made, c)
}

// handledField is the private field in which goja records whether something handles a promise. goja has no
// method that returns it.
var handledField, tellsHandled = reflect.TypeFor[goja.Promise]().FieldByName("handled")

// handled reports whether something handles a promise. If a later version of goja lacks the field, it returns true.
func handled(p *goja.Promise) bool {
	if !tellsHandled || handledField.Type.Kind() != reflect.Bool {
		return true
	}
	return reflect.ValueOf(p).Elem().FieldByIndex(handledField.Index).Bool()
}

// notePromise records that the program uses a promise as if it were its value.
func (r *machine) notePromise(o *goja.Object, use string, at engine.Pos) {
	if o == nil {
		return
	}
	p, ok := convert.PromiseOf(o)
	if !ok || r.ended || len(r.promises.uses) == maxStrays {
		return
	}
	if slices.ContainsFunc(r.promises.uses, func(u promiseUse) bool { return u.Pos == at && u.Use == use }) {
		return
	}
	stray := engine.PromiseMisuse{Use: use, Tool: -1, Pos: at}
	if i := slices.IndexFunc(r.promises.made, func(c callPromise) bool { return c.promise == p }); i >= 0 {
		stray.Tool, stray.Call = r.promises.made[i].Tool, r.promises.made[i].Pos
	}
	r.promises.uses = append(r.promises.uses, promiseUse{stray, p})
}

// promiseAsText returns a failure if an answer contains a promise that was converted to a string.
func (r *machine) promiseAsText(answer []byte) *engine.Failure {
	converted := slices.ContainsFunc(r.promises.uses, func(u promiseUse) bool { return u.Use == engine.Converted })
	if !converted || !bytes.Contains(answer, []byte("[object Promise]")) {
		return nil
	}
	return &engine.Failure{
		Kind:    engine.KindUnawaited,
		Message: `"[object Promise]" is in the answer: the text of a promise, not its result`,
		Hint:    "await the promise before you use it as text",
	}
}

// promiseUses lists the misused promises of the program. Promises that were never awaited
// are listed only if the program ended by itself.
func (r *machine) promiseUses(f *engine.Failure) (list []engine.PromiseMisuse) {
	for _, u := range r.promises.uses {
		u.Awaited = handled(u.promise)
		list = append(list, u.PromiseMisuse)
	}
	if f != nil && f.Kind != engine.KindThrown && f.Kind != engine.KindBadValue && f.Kind != engine.KindTooLarge {
		return list
	}
	positions := 0
	for _, c := range r.promises.made {
		if c.promise == r.promises.value || handled(c.promise) {
			continue
		}
		i := slices.IndexFunc(list, func(s engine.PromiseMisuse) bool {
			return s.Use == engine.Dropped && s.Tool == c.Tool && s.Pos == c.Pos
		})
		switch {
		case i >= 0:
			list[i].Calls++
		case positions < maxStrays:
			positions++
			dropped := engine.PromiseMisuse{Use: engine.Dropped, Tool: c.Tool, Calls: 1, Call: c.Pos, Pos: c.Pos}
			list = append(list, dropped)
		}
	}
	return list
}

// instrumentPromises makes the engine notice when a promise is converted to text, to a number or to JSON. The
// conversion's result does not change.
func (r *machine) instrumentPromises(promise *goja.Object) {
	if r.instrumented {
		return
	}
	r.instrumented = true
	prototype := promise.Prototype()
	own := prototype.GetOwnPropertyNames()
	_ = r.vm.Try(func() { // a getter of the program may throw
		inherited, ok := goja.AssertFunction(prototype.Get("toString"))
		if ok && !slices.Contains(own, "toString") {
			toString := func(c goja.FunctionCall) goja.Value { return r.call(inherited, c) }
			r.instrument(prototype, "toString", engine.Converted, toString)
		}
		if prototype.Get("toJSON") == nil {
			r.instrument(prototype, "toJSON", engine.Written, func(c goja.FunctionCall) goja.Value { return c.This })
		}
	})
}

// instrument adds a method to the prototype of promises. The method records that the promise was used and returns what
// the function result returns.
func (r *machine) instrument(prototype *goja.Object, name, use string, result func(goja.FunctionCall) goja.Value) {
	f := r.function(name, func(c goja.FunctionCall) goja.Value {
		if o, ok := c.This.(*goja.Object); ok {
			r.notePromise(o, use, r.position())
		}
		return result(c)
	})
	_ = prototype.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}
