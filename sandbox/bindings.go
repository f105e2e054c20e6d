package sandbox

import (
	"cmp"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
)

// boundTools are a set's tools as programs see them, without the policies.
type boundTools struct {
	bindings []*tools.Binding
	globals  map[string]bool // the bindings' global names

	// plain are the bindings as the engine sees them. A worker that already has the same slice does not receive it
	// again.
	plain []engine.Binding
}

// bound returns the bindings of a set. It caches the bindings of the last set.
func (s *Sandbox) bound(set *tools.Set) *boundTools {
	bindings := set.Bindings()
	if b := s.last.Load(); b != nil && slices.Equal(b.bindings, bindings) {
		return b
	}
	b := &boundTools{bindings: bindings, globals: map[string]bool{}}
	for _, t := range b.bindings {
		b.globals[cmp.Or(t.Object, t.Names[0])] = true
		b.plain = append(b.plain, engine.Binding{Namespace: t.Object, Names: t.Names, Params: t.Params})
	}
	s.last.Store(b)
	return b
}
