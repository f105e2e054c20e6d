package vm

import (
	"slices"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// declared is a variable of the session and the function that returns its value.
type declared struct {
	name string
	get  goja.Callable
}

// declare notes a variable. A later one of the same name replaces it.
func (r *run) declare(name string, getter goja.Value) {
	get, ok := goja.AssertFunction(getter)
	if !ok {
		return
	}
	r.declared = slices.DeleteFunc(r.declared, func(d declared) bool { return d.name == name })
	r.declared = append(r.declared, declared{name, get})
}

// variables lists what programs of the session have declared, in that order. It runs no
// getter and touches no proxy: none of the session's programs notices.
func (r *run) variables() []engine.Variable {
	if r.intrinsics == nil {
		return nil
	}
	present := r.vm.GlobalObject().GetOwnPropertyNames()
	list := []engine.Variable{}
	m := r.intrinsics.Measure()
	for _, d := range slices.Backward(r.declared) {
		if _, visible := r.exports[d.name]; !visible || len(d.name) > engine.MaxName || !slices.Contains(present, d.name) {
			continue
		}
		value, err := d.get(goja.Undefined()) // () => name, written by us: see exporter
		if err != nil {
			continue // the program returned before it got there
		}
		if list = append(list, m.Variable(d.name, value)); len(list) == engine.MaxVariables {
			break
		}
	}
	slices.Reverse(list)
	return list
}
