package vm

import (
	"sync"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
)

// keptPreludes is how many bytes of source the compiled preludes have together that
// are kept; the last one is kept in any case.
const keptPreludes = 1 << 20

// preludes keeps the preludes that were compiled last: they are long, and one
// program after the other has the same. The zero value is empty.
type preludes struct {
	mu   sync.Mutex
	list []compiledPrelude // the one used last is the last
}

type compiledPrelude struct {
	hash string
	size int
	code *goja.Program
}

// code returns a compiled prelude; nil of none.
func (s *preludes) code(p *engine.Prelude) (*goja.Program, *engine.Failure) {
	if p == nil {
		return nil, nil
	}
	if code := s.find(p.Hash); code != nil {
		return code, nil
	}
	if p.Text == "" {
		return nil, &engine.Failure{Kind: engine.Stale, Message: "the library is not here"}
	}
	code, failure := compilePrelude(p.Text)
	if failure == nil {
		s.keep(compiledPrelude{p.Hash, len(p.Text), code})
	}
	return code, failure
}

func (s *preludes) find(hash string) *goja.Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.list {
		if c.hash == hash {
			s.list = append(append(s.list[:i:i], s.list[i+1:]...), c)
			return c.code
		}
	}
	return nil
}

func (s *preludes) keep(c compiledPrelude) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, c)
	size := 0
	for i := len(s.list) - 1; i >= 0; i-- {
		size += s.list[i].size
		if n := len(s.list) - i; n > 1 && (size > keptPreludes || n > engine.MaxPreludes) {
			s.list = append([]compiledPrelude(nil), s.list[i+1:]...)
			return
		}
	}
}

// compilePrelude compiles a prelude, which may contain anything.
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

// preload runs the prelude of a program, once in a VM. It reports whether that
// went well.
func (r *run) preload(p *engine.Prelude, code *goja.Program) bool {
	r.prelude = nil
	if p == nil {
		return true
	}
	if r.prelude = r.preloaded[p.Hash]; r.prelude != nil {
		return true
	}
	r.touched = true
	value, err := r.vm.RunProgram(code)
	if err != nil {
		r.check(err)
		if f := r.result.Failure; f != nil && f.Kind == engine.Thrown { // nil if it has submitted
			f.Message = "while its imports were loaded: " + f.Message
		}
		return false
	}
	put(&r.preloaded, p.Hash, value)
	r.prelude = value
	return true
}
