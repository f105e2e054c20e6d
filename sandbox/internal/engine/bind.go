package engine

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/dop251/goja"
)

// namespace makes the object that holds a server's tools.
func (r *run) namespace(tools map[string]int) goja.Value {
	members := &namespace{run: r, tools: tools, made: map[string]goja.Value{}}
	return r.vm.NewDynamicObject(members)
}

// namespace makes the members of a namespace on demand. It implements
// [goja.DynamicObject].
type namespace struct {
	run   *run
	tools map[string]int
	made  map[string]goja.Value
}

// Get implements [goja.DynamicObject].
func (n *namespace) Get(name string) goja.Value {
	if v, ok := n.made[name]; ok {
		return v
	}
	tool, ok := n.tools[name]
	if !ok {
		return nil
	}
	v := n.run.vm.ToValue(n.run.tool(tool))
	n.made[name] = v
	return v
}

// Has implements [goja.DynamicObject].
func (n *namespace) Has(name string) bool {
	_, ok := n.tools[name]
	return ok
}

// Set implements [goja.DynamicObject]: tools are constants.
func (n *namespace) Set(string, goja.Value) bool { return false }

// Delete implements [goja.DynamicObject].
func (n *namespace) Delete(string) bool { return false }

// Keys implements [goja.DynamicObject].
func (n *namespace) Keys() []string { return slices.Sorted(maps.Keys(n.tools)) }

// input makes the value of an input.
func (r *run) input(in Input) goja.Value {
	v, err := r.decode(in.JSON)
	if err != nil {
		panic(r.vm.NewTypeError("input " + in.Name + ": " + err.Error()))
	}
	return v
}

// tool returns the function that calls a tool: it takes an object and gives a
// promise.
func (r *run) tool(index int) func(goja.FunctionCall) goja.Value {
	return func(fc goja.FunctionCall) goja.Value {
		c := Call{Tool: index, Args: r.argument(fc.Argument(0)), Pos: r.here()}
		if more := fc.Argument(1); !goja.IsUndefined(more) {
			c.More = r.argument(more)
		}
		promise, resolve, reject := r.vm.NewPromise()
		r.calls++
		r.waiting++
		c.ID = r.calls
		r.host.Call(c, func(reply Reply) {
			r.post(func() {
				r.waiting--
				r.settle(reply, c.Pos, resolve, reject)
			})
		})
		return r.vm.ToValue(promise)
	}
}

// argument writes a tool's argument as JSON. Nothing at all is an empty object.
func (r *run) argument(v goja.Value) json.RawMessage {
	if goja.IsUndefined(v) {
		return json.RawMessage(`{}`)
	}
	text, err := r.encode(v)
	if err != nil {
		panic(r.vm.NewTypeError("tool argument: " + err.Error()))
	}
	if text == nil {
		return json.RawMessage(`null`)
	}
	return text
}

func (r *run) settle(reply Reply, at Pos, resolve, reject func(any) error) {
	if r.ended {
		return
	}
	if reply.Error != nil {
		r.check(reject(r.thrown(reply.Error, at)))
		return
	}
	value, err := r.decode(reply.Value)
	if err != nil {
		r.check(reject(r.vm.NewTypeError("tool result: " + err.Error())))
		return
	}
	r.check(resolve(value))
}

// submit ends the program with a value. It does not return to it.
func (r *run) submit(fc goja.FunctionCall) goja.Value {
	value, err := r.encode(fc.Argument(0))
	if err != nil {
		panic(r.vm.NewTypeError("submit: " + err.Error()))
	}
	if value == nil {
		value = json.RawMessage(`null`)
	}
	r.end(&Result{Value: value, Submitted: true})
	r.vm.Interrupt(errEnded)
	return goja.Undefined()
}

// here is where the program is calling from.
func (r *run) here() Pos {
	for _, frame := range r.vm.CaptureCallStack(4, r.frames[:0]) {
		if frame.SrcName() == fileName {
			at := frame.Position()
			return r.program.source.fromFrame(at.Line, at.Column)
		}
	}
	return Pos{}
}
