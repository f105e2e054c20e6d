package vm

import (
	"slices"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// declared is one of the session's variables and the function that returns its value.
type declared struct {
	name string
	get  goja.Callable
}

// declare records a variable. It replaces an earlier one with the same name.
func (r *machine) declare(name string, getter goja.Value) {
	get, ok := goja.AssertFunction(getter)
	if !ok {
		return
	}
	r.declared = slices.DeleteFunc(r.declared, func(d declared) bool { return d.name == name })
	r.declared = append(r.declared, declared{name, get})
}

// variables lists the declarations of the session's programs, in order. It calls no getters and no proxies of
// programs, so that programs cannot notice it.
func (r *machine) variables() []engine.Variable {
	if r.intrinsics == nil {
		return nil
	}
	present := r.vm.GlobalObject().GetOwnPropertyNames()
	list := []engine.Variable{}
	m := r.intrinsics.Measure()
	for _, d := range slices.Backward(r.declared) {
		if _, visible := r.exports[d.name]; !visible || len(d.name) > engine.MaxName ||
			!slices.Contains(present, d.name) {
			continue
		}
		value, err := d.get(goja.Undefined()) // the getter is () => name; see check.exporter
		if err != nil {
			continue // the program returned before the declaration
		}
		if list = append(list, m.Variable(d.name, value)); len(list) == engine.MaxVariables {
			break
		}
	}
	slices.Reverse(list)
	return list
}
