package vm

import (
	"maps"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// scope is the globals that a job adds.
type scope struct {
	*index
	inputs  map[string]int  // name → index into Job.Inputs
	earlier map[string]bool // declarations by the session's earlier programs; true for constants
}

// index finds tools by their names in a program. It is immutable.
type index struct {
	tools   []engine.Binding
	objects map[string]map[string]int // namespace → member → tool
	globals map[string]int            // global function → tool
}

// scope returns the scope of a job. It reuses the index of the last job, because most jobs
// have the same tools.
func (e *Engine) scope(job *engine.Job, earlier map[string]bool) *scope {
	known := e.index.Load()
	if known == nil || !engine.SameTools(known.tools, job.Tools) {
		known = newIndex(job.Tools)
		e.index.Store(known)
	}
	s := &scope{index: known, earlier: earlier}
	for i, input := range job.Inputs {
		engine.Put(&s.inputs, input.Name, i)
	}
	return s
}

func newIndex(tools []engine.Binding) *index {
	x := &index{tools: tools}
	for i, b := range tools {
		if b.Namespace == "" {
			engine.Put(&x.globals, b.Names[0], i)
			continue
		}
		members := x.objects[b.Namespace]
		for _, name := range b.Names {
			engine.Put(&members, name, i)
		}
		engine.Put(&x.objects, b.Namespace, members)
	}
	return x
}

// find returns the index of a tool. namespace is "" for a global function.
func (x *index) find(namespace, name string) (tool int, ok bool) {
	if namespace == "" {
		tool, ok = x.globals[name]
	} else {
		tool, ok = x.objects[namespace][name]
	}
	return tool, ok
}

// names returns the names that the job adds to the globals, in a fixed order.
func (s *scope) names() []string {
	names := slices.Sorted(maps.Keys(s.objects))
	names = append(names, slices.Sorted(maps.Keys(s.globals))...)
	return append(names, slices.Sorted(maps.Keys(s.inputs))...)
}

func (s *scope) has(name string) bool {
	_, object := s.objects[name]
	_, global := s.globals[name]
	_, input := s.inputs[name]
	return object || global || input
}

// report returns what the check finds in the program for a job.
func (p *compiledProgram) report(s *scope, job *engine.Job) engine.Report {
	r := p.Report(globalScope{s, job}, job.Forbidden)
	r.NoValue, r.Acts = !p.HasValue && !job.Submit, p.Acts
	return r
}

// globalScope is the globals of a job. It implements [check.Globals].
type globalScope struct {
	*scope
	job *engine.Job
}

// Has implements [check.Globals].
func (g globalScope) Has(name string) bool {
	return g.Bound(name) || globalNames()[name] ||
		g.job.Submit && name == "submit" || g.job.Prelude != nil && name == engine.PreludeName
}

// Bound implements [check.Globals].
func (g globalScope) Bound(name string) bool {
	_, earlier := g.earlier[name]
	return earlier || g.has(name)
}

// Constant implements [check.Globals].
func (g globalScope) Constant(object, name string) bool {
	if object != "" {
		return g.Object(object)
	}
	return g.has(name) || g.earlier[name]
}

// Object implements [check.Globals].
func (g globalScope) Object(name string) bool { return g.objects[name] != nil }

// Reaches implements [check.Globals].
func (g globalScope) Reaches(name string) bool {
	_, input := g.inputs[name]
	return g.Bound(name) && !input || name == "globalThis"
}

// Tool implements [check.Globals].
func (g globalScope) Tool(object, name string) (tool int, params []string, ok bool) {
	if tool, ok = g.find(object, name); ok {
		params = g.tools[tool].Params
	}
	return tool, params, ok
}

// Inherited implements [check.Globals].
func (g globalScope) Inherited(member string, ofFunctions bool) bool {
	if ofFunctions {
		return inheritedByFunctions()[member]
	}
	return inherited()[member]
}
