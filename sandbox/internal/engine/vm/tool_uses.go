package vm

import (
	"maps"
	"slices"
)

// toolUses is what a program of a session has seen of its tools: with these alone, it
// does the same when it runs again.
type toolUses struct {
	tools   map[int]bool
	objects map[string]bool // namespaces, also if none of their tools was seen
}

// use notes that the program has seen a tool; namespace is "" for a global function.
func (r *run) use(namespace, name string) {
	if tool, ok := r.scope.find(namespace, name); ok && r.recording {
		put(&r.used.tools, tool, true)
	}
}

// useGlobal notes that the program has seen a global, which may be a namespace.
func (r *run) useGlobal(name string) {
	if _, ok := r.scope.objects[name]; ok && r.recording {
		put(&r.used.objects, name, true)
	}
	r.use("", name)
}

// list returns the places of the tools, in order. A namespace that was seen needs
// one of its tools to exist.
func (u *toolUses) list(x *index) []int {
	for name := range u.objects {
		members := slices.Collect(maps.Values(x.objects[name]))
		if !slices.ContainsFunc(members, func(tool int) bool { return u.tools[tool] }) {
			put(&u.tools, slices.Min(members), true)
		}
	}
	return slices.Sorted(maps.Keys(u.tools))
}
