package module

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/writ-go/writ/module/internal/parts"
	"github.com/writ-go/writ/tools"
)

// Predictors yields the predictors in a module, or in any struct that contains modules, with their paths: the fields,
// indices and keys that lead to them. A field named Predictor is left out of the path, unless it is the whole path.
//
//	type Helpdesk struct {
//		Sort  *module.Predict[Mail, Topic]
//		Reply map[string]*module.ChainOfThought[Mail, Letter]
//	}
//
// has the predictors Sort, Reply[billing] and Reply[orders], if these are the keys of Reply. The predictors in modules
// that [Tool] turned into tools follow: if Sort were a CodeAct with such a tool named ask, there would also be
// Sort.Tools[ask].
//
// Predictors yields each predictor once, under its first path, in the order of the fields and of the sorted keys; the
// predictors in tools come last. It looks only in exported fields, and through pointers, interfaces, structs, slices,
// arrays, and maps with string keys. So your own module must keep its modules in exported fields, and must not change
// these fields during the iteration.
func Predictors(m any) iter.Seq2[string, *Predictor] {
	return parts.All(m, (*Predictor).within)
}

// within returns the modules that can be reached from the predictor.
func (p *Predictor) within() *inside { return &p.inside }

// Tools yields the tools that a module, or any struct that contains modules, may call, with the paths of the
// [Predictors] whose programs or replies call them.
func Tools(m any) iter.Seq2[string, *tools.Binding] {
	return func(yield func(string, *tools.Binding) bool) {
		for path, p := range Predictors(m) {
			for _, b := range p.set.Bindings() {
				if !yield(path, b) {
					return
				}
			}
		}
	}
}

// ownField is the name of the field that paths omit.
const ownField = "Predictor"

// Clone returns a copy of a module, or of any struct that contains modules, whose Predictors can be changed without
// changing m's. It copies everything that leads to Predictors, as described at [Predictors]. Everything else is shared,
// such as models, sandboxes, sets of tools, and the values that unexported fields point to. A module that [Tool] turned
// into a tool is copied as well: when the copy of m calls the tool, the tool runs the copied module. If m contains a
// Predictor or a module more than once, the copy contains one copy of it in the same places.
//
// Structs are copied by assignment, so a struct with a lock must keep the lock behind a pointer.
func Clone[M any](m M) M {
	copied, _ := parts.Clone(m, (*Predictor).Clone, (*Predictor).within, nil)
	return copied
}

// checkCopy returns an error if a struct holds a lock. Attempts with copies of the struct would share its data, but not
// the lock.
func checkCopy(t reflect.Type) error {
	if lock := parts.LockIn(t); lock != nil {
		return fmt.Errorf("module: %v holds a %v, so attempts cannot be made with copies of it; "+
			"keep the lock behind a pointer", t, lock)
	}
	return nil
}
