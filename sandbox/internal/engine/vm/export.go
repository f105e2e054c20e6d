package vm

import (
	"slices"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
)

// export implements the function that [check.ExportName] names.
func (r *machine) export(fc goja.FunctionCall) goja.Value {
	list, ok := fc.Argument(0).(*goja.Object)
	if r.exported || !ok {
		panic(r.typeError(check.ExportName + " is not a function"))
	}
	r.exported = true
	global := r.vm.GlobalObject()
	for _, name := range list.Keys() {
		pair := list.Get(name).ToObject(r.vm)
		set := pair.Get("1")
		_, variable := goja.AssertFunction(set)
		if !variable {
			set = nil
		}
		_ = global.Delete(name)
		if err := global.DefineAccessorProperty(name, pair.Get("0"), set, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			panic(r.typeError(name + " cannot be declared in a session: " +
				"it is a permanent property of the global object"))
		}
		engine.Put(&r.exports, name, !variable)
		r.declare(name, pair.Get("0"))
	}
	return goja.Undefined()
}

// hideEarlier deletes each global from an earlier program that has the same name as one of the current program's inputs
// or tools.
func (r *machine) hideEarlier() *engine.Failure {
	global := r.vm.GlobalObject()
	present := global.GetOwnPropertyNames()
	for _, name := range r.scope.names() {
		if _, declared := r.exports[name]; declared || slices.Contains(present, name) {
			r.useGlobal(name) // record the name, because a rerun of the program must delete the same global
		}
		delete(r.exports, name)
		if err := global.Delete(name); err != nil {
			return &engine.Failure{
				Kind: engine.KindThrown, Hint: "start another session",
				Message: name + " is an input or a tool, " +
					"but an earlier program made it a permanent property of the global object",
			}
		}
	}
	return nil
}
