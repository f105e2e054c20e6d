package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/dop251/goja/file"
)

// scope is what a job adds to the globals.
type scope struct {
	*index
	inputs  map[string]int  // input → its place
	earlier map[string]bool // what the session's programs have declared, and whether it is constant
}

// index finds tools by the names they have in a program. It does not change.
type index struct {
	tools   []Binding
	objects map[string]map[string]int // namespace → member → tool
	globals map[string]int            // global function → tool
}

// scope makes the scope of a job. The index of the last tools is kept, as most
// runs have the same.
func (e *Engine) scope(job *Job, earlier map[string]bool) *scope {
	known := e.index.Load()
	if known == nil || !same(known.tools, job.Tools) {
		known = newIndex(job.Tools)
		e.index.Store(known)
	}
	s := &scope{index: known, earlier: earlier}
	for i, input := range job.Inputs {
		put(&s.inputs, input.Name, i)
	}
	return s
}

// same says whether two lists are the very same one.
func same(a, b []Binding) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func newIndex(tools []Binding) *index {
	x := &index{tools: tools}
	for i, b := range tools {
		if b.Namespace == "" {
			put(&x.globals, b.Names[0], i)
			continue
		}
		members := x.objects[b.Namespace]
		for _, name := range b.Names {
			put(&members, name, i)
		}
		put(&x.objects, b.Namespace, members)
	}
	return x
}

// put makes the map if need be: most programs use few of these.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// find finds a tool; namespace is "" for a global function.
func (x *index) find(namespace, name string) (tool int, ok bool) {
	if namespace == "" {
		tool, ok = x.globals[name]
	} else {
		tool, ok = x.objects[namespace][name]
	}
	return tool, ok
}

// names lists the names that the job adds to the globals, in an order that is always
// the same: of several that cannot be had, the first is told.
func (s *scope) names() []string {
	return slices.Concat(slices.Sorted(maps.Keys(s.objects)), slices.Sorted(maps.Keys(s.globals)), slices.Sorted(maps.Keys(s.inputs)))
}

func (s *scope) has(name string) bool {
	_, object := s.objects[name]
	_, global := s.globals[name]
	_, input := s.inputs[name]
	return object || global || input
}

// report says what is to be judged of the program before it runs.
func (p *program) report(s *scope, job *Job) Report {
	r := Report{Findings: slices.Clip(p.findings), Smells: p.smells, Depth: p.depth, NoValue: !p.gives && !job.Submit}
	for _, n := range p.names {
		if n.name == "await" {
			r.Findings = append(r.Findings, Finding{awaitMessage, awaitHint, p.source.fromIdx(n.at)})
			continue
		}
		if n.name == PreludeName && job.Prelude != nil {
			continue
		}
		if _, earlier := s.earlier[n.name]; !earlier && !s.has(n.name) && !globalNames()[n.name] && !p.guarded[n.name] && !(job.Submit && n.name == "submit") {
			r.Undeclared = append(r.Undeclared, Name{
				Name: n.name, Assigned: n.assigned, Elsewhere: p.elsewhere(n.elsewhere), Pos: p.source.fromIdx(n.at),
			})
		}
	}
	for _, w := range p.writes {
		if s.constant(w) {
			r.Constants = append(r.Constants, Write{w.object, w.name, w.delete, p.source.fromIdx(w.at)})
		}
	}
	for _, v := range p.early {
		_, earlier := s.earlier[v.name]
		r.Early = append(r.Early, Name{
			Name: v.name, Assigned: earlier || s.has(v.name), Elsewhere: p.elsewhere(v.elsewhere), Pos: p.source.fromIdx(v.at),
		})
	}
	for _, c := range p.calls {
		if site, ok := p.site(s, c); ok {
			r.Sites = append(r.Sites, site)
		}
	}
	for _, w := range p.words {
		if slices.Contains(job.Forbidden, w.name) {
			r.Forbidden = append(r.Forbidden, Name{Name: w.name, Pos: p.source.fromIdx(w.at)})
		}
	}
	return r
}

func (p *program) elsewhere(at file.Idx) *Pos {
	pos := p.source.fromIdx(at)
	if pos.Line == 0 {
		return nil
	}
	return &pos
}

// constant reports whether an assignment is to what cannot be assigned to.
func (s *scope) constant(w writeSite) bool {
	if w.object != "" {
		return s.objects[w.object] != nil
	}
	return s.has(w.name) || s.earlier[w.name]
}

// site finds the tool that a call names, or what stands there in its place. It
// reports false for what has nothing to do with tools, or need not fail.
func (p *program) site(s *scope, c callSite) (Site, bool) {
	tool, parts := s.longest(c.names)
	isTool := tool >= 0
	switch {
	case !isTool && s.objects[c.names[0]] == nil:
		return Site{}, false
	case isTool && parts == len(c.names):
		return p.call(tool, s.tools[tool].Params, c), true
	}
	site := Site{Tool: -1, Namespace: c.names[0]}
	if parts == len(c.names) { // the namespace is called
		site.Pos = p.source.fromIdx(c.at[0])
		return site, true
	}
	site.Name, site.Pos = c.names[1], p.source.fromIdx(c.at[parts])
	site.Member = strings.Join(c.names[2:], ".")
	return site, p.lacks(c, parts, isTool)
}

// call is a call of a tool.
func (p *program) call(tool int, params []string, c callSite) Site {
	site := Site{Tool: tool, Discarded: c.discarded, Property: c.property, Pos: p.source.fromIdx(c.end())}
	if params == nil {
		site.Args = arguments(c.arguments, c.block)
	} else {
		site.Args = gathered(c.arguments, c.block, params)
	}
	if c.holder != nil {
		site.Holder = c.holder.id.Name.String()
	}
	return site
}

// longest finds the tool or the namespace that a path begins with, and how many of
// its names that takes.
func (x *index) longest(names []string) (tool, parts int) {
	if tool, ok := x.find("", names[0]); ok {
		return tool, 1
	}
	if len(names) > 1 {
		if tool, ok := x.find(names[0], names[1]); ok {
			return tool, 2
		}
	}
	return -1, 1
}

// lacks reports whether a call certainly fails because what the first parts of its
// path stand for, a tool or a namespace, has no member of the next name.
func (p *program) lacks(c callSite, parts int, isTool bool) bool {
	members := inherited()
	if isTool {
		members = inheritedByFunctions()
	}
	return !members[c.names[parts]] && c.optional&(2<<parts) == 0 && p.tested[keyOf(c.names[:parts+1])] <= 0
}
