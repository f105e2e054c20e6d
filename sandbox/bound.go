package sandbox

import (
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

// boundTools is a set of tools as programs are bound to it, whatever its policies.
type boundTools struct {
	set       *tools.Set
	extended  *tools.Set       // with tools.search and tools.describe
	bindings  []*tools.Binding // of extended
	discovery *discovery.Discovery
	globals   map[string]bool // the names that the bindings take

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
	b := &boundTools{set: set, discovery: discovery.New(set, most), globals: map[string]bool{}}
	b.extended = b.discovery.Extended()
	b.bindings = b.extended.Bindings()
	for _, t := range b.bindings {
		b.globals[or(t.Object, t.Names[0])] = true
		binding := engine.Binding{Namespace: t.Object, Names: t.Names}
		if t.Object == discoverer {
			binding.Params = params[t.Name]
		}
		b.plain = append(b.plain, binding)
	}
	return b
}
