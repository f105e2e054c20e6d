package sandbox

import (
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

// discoveryUsage shows how to call tools.search and tools.describe.
var discoveryUsage = map[string]string{
	"search": "tools.search(query, {server, limit, declare})", "describe": "tools.describe(name)",
}

// boundTools is what programs see of a set of tools, without its policies.
type boundTools struct {
	own       []*tools.Binding // of the set
	extended  *tools.Set       // with tools.search and tools.describe
	bindings  []*tools.Binding // of extended
	discovery *search.Index
	globals   map[string]bool // the global names of the bindings

	// plain are the bindings as the engine sees them. A worker that has this very slice is
	// not sent it again.
	plain []engine.Binding
}

// bound returns the bindings of a set. It keeps those of the last set.
func (s *Sandbox) bound(set *tools.Set) *boundTools {
	own := set.Bindings()
	if b := s.last.Load(); b != nil && slices.Equal(b.own, own) {
		return b
	}
	b := &boundTools{own: own, discovery: search.New(set, s.limits.Output), globals: map[string]bool{}}
	b.extended = b.discovery.Extended()
	b.bindings = b.extended.Bindings()
	for _, t := range b.bindings {
		b.globals[or(t.Object, t.Names[0])] = true
		b.plain = append(b.plain, engine.Binding{Namespace: t.Object, Names: t.Names, Params: t.Params})
	}
	s.last.Store(b)
	return b
}
