package vm

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// function returns a JavaScript function with the given name, instead of the Go function's name, which goja would use.
func (r *machine) function(name string, f func(goja.FunctionCall) goja.Value) *goja.Object {
	object := r.vm.ToValue(f).ToObject(r.vm)
	must(object.DefineDataProperty("name", r.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	return object
}

// namespace returns the object that holds a namespace's tools.
func (r *machine) namespace(name string) goja.Value {
	return r.vm.NewDynamicObject(&namespace{run: r, name: name, made: map[string]goja.Value{}})
}

// namespace is the object of a namespace. It creates its members on demand, and implements
// [goja.DynamicObject].
type namespace struct {
	run  *machine
	name string
	made map[string]goja.Value
}

func (n *namespace) tools() map[string]int { return n.run.scope.objects[n.name] }

// Get implements [goja.DynamicObject].
func (n *namespace) Get(name string) goja.Value {
	if v, ok := n.made[name]; ok {
		return v
	}
	if !n.Has(name) {
		return nil
	}
	identifier := n.identifier(name)
	v, ok := n.made[identifier]
	if !ok {
		v = n.run.tool(n.name, identifier)
	}
	n.made[name], n.made[identifier] = v, v
	return v
}

// Has implements [goja.DynamicObject].
func (n *namespace) Has(name string) bool {
	n.run.use(n.name, name)
	_, ok := n.tools()[name]
	return ok
}

// Set implements [goja.DynamicObject]: tools are constants.
func (n *namespace) Set(string, goja.Value) bool { return false }

// Delete implements [goja.DynamicObject].
func (n *namespace) Delete(string) bool { return false }

// Keys implements [goja.DynamicObject]. A tool that has two names is listed by its
// identifier only.
func (n *namespace) Keys() []string {
	names := slices.Sorted(maps.Keys(n.tools()))
	return slices.DeleteFunc(names, func(name string) bool {
		n.run.use(n.name, name)
		return name != n.identifier(name)
	})
}

// identifier returns the first name of the tool with the given name.
func (n *namespace) identifier(name string) string {
	return n.run.scope.tools[n.tools()[name]].Names[0]
}

// input returns an input's value.
func (r *machine) input(in engine.Input) goja.Value {
	v, err := r.convert.Decode(in.JSON, nil)
	if err != nil {
		panic(r.typeError("input " + in.Name + ": " + err.Error()))
	}
	return v
}

// tool returns the JavaScript function that calls a tool.
func (r *machine) tool(namespace, name string) goja.Value {
	return r.function(name, func(fc goja.FunctionCall) goja.Value { return r.callTool(namespace, name, fc) })
}

// callTool issues a tool call and returns its promise. In a session, the program may call a function that an earlier
// program stored, so the tool may no longer exist.
func (r *machine) callTool(namespace, name string, fc goja.FunctionCall) goja.Value {
	index, ok := r.scope.find(namespace, name)
	if !ok {
		panic(r.typeError("the tool " + name + " is no longer available"))
	}
	r.use(namespace, name)
	c := callPromise{Call: engine.Call{Tool: index}, stack: r.stack(1 + maxStack)}
	if len(c.stack) > 0 {
		c.Pos = c.stack[0]
	}
	c.Args, c.More = r.arguments(fc, &r.scope.tools[index])
	promise, resolve, reject := r.vm.NewPromise()
	object := r.vm.ToValue(promise).ToObject(r.vm)
	if r.ended || r.failing { // do not issue the call
		return object
	}
	r.instrumentPromises(object)
	r.watchMembers(object)
	r.issued++
	c.ID, c.promise, c.resolve, c.reject = r.issued, promise, resolve, reject
	engine.Put(&r.waiting, c.ID, true)
	r.promises.add(c)
	r.issue(c)
	return object
}

// issue passes a call to the host.
func (r *machine) issue(c callPromise) {
	c.Turns, r.turns = r.turns, nil
	if r.replies == nil {
		r.replies, r.done = make(chan callPromise, 16), make(chan struct{})
	}
	replies, done := r.replies, r.done // copies, because the VM may run another program when the reply arrives
	r.host.Call(c.Call, func(reply engine.Reply) {
		c.reply = reply
		select {
		case replies <- c:
		case <-done: // the run has ended
		}
	})
}

// deliver passes a call's reply on to the program.
func (r *machine) deliver(c callPromise) {
	if delete(r.waiting, c.ID); !r.ended {
		r.settle(c)
	}
}

// arguments encodes a call's arguments. more is nil if the program passes only one argument.
func (r *machine) arguments(fc goja.FunctionCall, tool *engine.Binding) (args, more json.RawMessage) {
	if tool.Params != nil {
		return r.joinArguments(fc.Arguments, tool), nil
	}
	if first := fc.Argument(0); goja.IsUndefined(first) {
		args = json.RawMessage(`{}`)
	} else {
		args = r.encoded("the argument", tool, first)
	}
	if second := fc.Argument(1); !goja.IsUndefined(second) && !goja.IsNumber(second) { // list.map(tool) passes an index
		more = r.encoded("the second argument", tool, second)
	}
	return args, more
}

// joinArguments encodes several arguments as one object.
func (r *machine) joinArguments(values []goja.Value, tool *engine.Binding) json.RawMessage {
	object, params := []byte{'{'}, tool.Params
	for i, v := range values[:min(len(values), len(params))] {
		if goja.IsUndefined(v) {
			continue
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(strconv.AppendQuote(object, params[i]), ':')
		object = append(object, r.encoded("the argument "+params[i], tool, v)...)
	}
	return append(object, '}')
}

// encoded encodes a value that leaves the program. A value without a JSON form becomes null. Errors call the value
// what. If the value is a tool argument, of is the tool; otherwise, of is nil. encoded throws the exceptions of getters
// again.
func (r *machine) encoded(what string, of *engine.Binding, v goja.Value) json.RawMessage {
	limit := r.limits.Output
	if of != nil {
		limit = r.limits.Argument
	}
	text, err := r.convert.Encode(v, limit)
	var thrown *goja.Exception
	switch {
	case errors.As(err, &thrown):
		panic(thrown.Value())
	case err != nil && of != nil:
		panic(r.typeError(what + " of " + of.Path() + ": " + err.Error()))
	case err != nil:
		panic(r.typeError(what + ": " + err.Error()))
	case text == nil:
		return json.RawMessage(`null`)
	}
	return text
}

// typeError returns an exception. Unlike goja's function, it does not treat the message as a format.
func (r *machine) typeError(message string) *goja.Object { return r.vm.NewTypeError("%s", message) }

func (r *machine) settle(c callPromise) {
	value, err := r.convert.Decode(c.reply.Value, r.resultOf(c))
	if err != nil {
		tool := r.scope.tools[c.Tool]
		c.reply.Error = &engine.ToolError{
			Tool: tool.Path(), Kind: "invalid_result", Message: "the result: " + err.Error(),
		}
	}
	if c.reply.Error != nil {
		r.check(c.reject(r.thrown(c)))
		return
	}
	r.noteText(value, c)
	r.check(c.resolve(value))
}

// submit ends the program with a value, or with a failure if calls were not awaited. It does not return to the
// program. In a rerun, it throws instead of interrupting the VM, because an interrupted VM cannot run later programs.
func (r *machine) submit(fc goja.FunctionCall) goja.Value {
	value := r.encoded("submit", nil, fc.Argument(0))
	lost := r.convert.Lost
	for _, text := range slices.Sorted(maps.Keys(r.texts)) {
		if bytes.Contains(value, []byte(text)) {
			lost = append(lost, r.texts[text]...)
		}
	}
	failure := r.unawaited()
	if failure == nil {
		failure = r.promiseAsText(value)
	}
	if failure != nil {
		r.end(&engine.Result{Failure: failure})
	} else {
		r.end(&engine.Result{Value: value, Submitted: true, Lost: lost})
	}
	if r.rerun {
		panic(r.typeError("the program has submitted"))
	}
	r.vm.Interrupt(errEnded)
	return goja.Undefined()
}

// position returns the position from which the program calls the current function.
func (r *machine) position() engine.Pos {
	if stack := r.stack(4); len(stack) > 0 {
		return stack[0]
	}
	return engine.Pos{}
}

// stack returns the position from which the program calls the current function, and the positions of the calls around
// it, innermost first.
func (r *machine) stack(limit int) (stack []engine.Pos) {
	for _, frame := range r.vm.CaptureCallStack(limit, r.frames[:0]) {
		if frame.SrcName() != r.program.Name {
			continue
		}
		at := frame.Position()
		if pos := r.program.Source.FromFrame(at.Line, at.Column); pos.Line > 0 {
			stack = append(stack, pos)
		}
	}
	return stack
}
