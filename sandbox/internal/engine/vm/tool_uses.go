package vm

import (
	"maps"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// toolUses records the tools that a session's program has seen. A rerun of the program needs only these tools.
type toolUses struct {
	tools   map[int]bool
	objects map[string]bool // namespaces, even if none of their tools was seen
}

// use records that the program has seen a tool. namespace is "" for a global function.
func (r *machine) use(namespace, name string) {
	if tool, ok := r.scope.find(namespace, name); ok && r.recording {
		engine.Put(&r.used.tools, tool, true)
	}
}

// useGlobal records that the program has seen a global, which may be a namespace.
func (r *machine) useGlobal(name string) {
	if _, ok := r.scope.objects[name]; ok && r.recording {
		engine.Put(&r.used.objects, name, true)
	}
	r.use("", name)
}

// list returns the sorted indices of the tools. If the program has seen a namespace but none of
// its tools, list includes one of them, so that the namespace exists.
func (u *toolUses) list(x *index) []int {
	for name := range u.objects {
		members := slices.Collect(maps.Values(x.objects[name]))
		if !slices.ContainsFunc(members, func(tool int) bool { return u.tools[tool] }) {
			engine.Put(&u.tools, slices.Min(members), true)
		}
	}
	return slices.Sorted(maps.Keys(u.tools))
}
