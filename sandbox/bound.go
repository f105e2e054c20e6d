package sandbox

import (
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

// boundTools is a set of tools as programs are bound to it, whatever its
// policies: its own tools, and those that tell of them.
type boundTools struct {
	set       *tools.Set
	bindings  []*tools.Binding
	finder    *discovery.Discovery // what can be found out about the set; nil if it is empty
	discovery *tools.Dispatcher    // of those that come after the set's
	globals   map[string]bool      // the names that they take

	// plain is what the engine sees of them. Workers that see the same slice again
	// need not be sent it again.
	plain []engine.Binding
}

// bound returns what it knows of the last set, if that has the same tools.
func (s *Sandbox) bound(set *tools.Set) *boundTools {
	if b := s.last.Load(); b != nil && b.set.Same(set) {
		return b
	}
	b := bind(set, s.limits.Output)
	s.last.Store(b)
	return b
}

func bind(set *tools.Set, most int) *boundTools {
	b := &boundTools{set: set, bindings: set.Bindings(), globals: map[string]bool{}, discovery: new(tools.Dispatcher)}
	for _, t := range b.bindings {
		b.add(t, nil)
	}
	if set.Len() == 0 {
		return b
	}
	var own []*tools.Binding
	b.finder = discovery.New(set, most)
	own, b.discovery = b.finder.Tools()
	for _, t := range own {
		b.bindings = append(b.bindings, t)
		b.add(t, params[t.Name])
	}
	return b
}

func (b *boundTools) add(t *tools.Binding, params []string) {
	b.globals[or(t.Object, t.Names[0])] = true
	b.plain = append(b.plain, engine.Binding{Namespace: t.Object, Names: t.Names, Params: params})
}
