package vm

import (
	"github.com/dop251/goja"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
	"github.com/writ-go/writ/sandbox/internal/lru"
)

// keptPreludes is the maximum total source size of the preludes whose bytecode is kept, in bytes.
const keptPreludes = 1 << 20

// prelude returns the bytecode of a prelude, or nil if p is nil.
func (e *Engine) prelude(p *engine.Prelude) (*goja.Program, *engine.Failure) {
	if p == nil {
		return nil, nil
	}
	if code, ok := e.preludes.Get(p.Hash); ok {
		return code, nil
	}
	if p.Text == "" {
		return nil, &engine.Failure{Kind: engine.KindStale, Message: "the engine does not have the library"}
	}
	code, failure := compilePrelude(p.Text)
	if failure == nil {
		e.preludes.Add(p.Hash, code, len(p.Text), lru.Bounds{Entries: engine.MaxPreludes, Size: keptPreludes})
	}
	return code, failure
}

// compilePrelude compiles a prelude. A prelude's source is not trusted either.
func compilePrelude(text string) (code *goja.Program, failure *engine.Failure) {
	defer func() {
		if recover() != nil {
			failure = check.Unloadable("the compiler cannot make sense of it")
		}
	}()
	tree, source, failure := check.ParsePrelude(text)
	if failure != nil {
		return nil, failure
	}
	code, err := goja.CompileAST(tree, false)
	if err != nil {
		return nil, check.Unloadable(compileFailure(source, err).Message)
	}
	return code, nil
}

// preload runs the prelude of a program, once in each VM. It reports whether the prelude succeeded.
func (r *machine) preload(p *engine.Prelude, code *goja.Program) bool {
	r.prelude = nil
	if p == nil {
		return true
	}
	if r.prelude = r.preloaded[p.Hash]; r.prelude != nil {
		return true
	}
	r.started = true
	value, err := r.vm.RunProgram(code)
	if err != nil {
		r.check(err)
		if f := r.result.Failure; f != nil && f.Kind == engine.KindThrown { // nil if the prelude called submit
			f.Message = "while its imports were loaded: " + f.Message
		}
		return false
	}
	engine.Put(&r.preloaded, p.Hash, value)
	r.prelude = value
	return true
}
