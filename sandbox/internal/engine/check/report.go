package check

import (
	"slices"
	"strings"

	"github.com/dop251/goja/file"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// What is said of an await where there can be none.
const (
	AwaitMessage = "await is only valid in async functions and outside of functions"
	AwaitHint    = "write async before the function"
)

// Globals is what a program finds besides what it declares.
type Globals interface {
	// Has reports whether there is a global of the name.
	Has(name string) bool
	// Bound reports whether it is one that not every program has, such as a tool.
	Bound(name string) bool
	// Constant reports whether it cannot be assigned to; with an object, whether the
	// object's members cannot.
	Constant(object, name string) bool
	// Object reports whether it holds tools.
	Object(name string) bool
	// Tool finds a tool, and the names of its parameters if it takes several. Object is
	// empty for a global function.
	Tool(object, name string) (tool int, params []string, ok bool)
	// Inherited reports whether every object has such a member, or every function.
	Inherited(member string, ofFunctions bool) bool
	// OfText reports whether texts have such a member.
	OfText(member string) bool
}

// Report says what is to be judged of the program before it runs.
func (p *Outline) Report(s Globals, forbidden []string) engine.Report {
	r := engine.Report{Findings: slices.Clip(p.findings), Smells: p.warnings, Depth: p.Depth, Declared: p.declared}
	for _, n := range p.names {
		if n.name == "await" {
			r.Findings = append(r.Findings, engine.Finding{Message: AwaitMessage, Hint: AwaitHint, Pos: p.pos(n.at)})
			continue
		}
		if !s.Has(n.name) && !p.guarded[n.name] {
			r.Undeclared = append(r.Undeclared, engine.Name{
				Name: n.name, Assigned: n.assigned, Elsewhere: p.elsewhere(n.elsewhere), Pos: p.pos(n.at),
			})
		}
	}
	for _, w := range p.writes {
		if s.Constant(w.object, w.name) {
			r.Constants = append(r.Constants, engine.Write{Object: w.object, Name: w.name, Delete: w.delete, Pos: p.pos(w.at)})
		}
	}
	for _, v := range p.early {
		r.Early = append(r.Early, engine.Name{
			Name: v.name, Assigned: s.Bound(v.name), Elsewhere: p.elsewhere(v.elsewhere), Pos: p.pos(v.at),
		})
	}
	for _, c := range p.calls {
		if site, ok := p.site(s, c); ok {
			r.Sites = append(r.Sites, site)
		}
	}
	for _, w := range p.words {
		if slices.Contains(forbidden, w.name) {
			r.Forbidden = append(r.Forbidden, engine.Name{Name: w.name, Pos: p.pos(w.at)})
		}
	}
	return r
}

func (p *Outline) elsewhere(at file.Idx) *engine.Pos {
	pos := p.pos(at)
	if pos.Line == 0 {
		return nil
	}
	return &pos
}

// site finds the tool that a call names, or what stands there in its place. It
// reports false for what has nothing to do with tools, or need not fail.
func (p *Outline) site(s Globals, c callSite) (engine.Site, bool) {
	tool, params, parts := resolveTool(s, c.names)
	isTool := tool >= 0
	switch {
	case !isTool && !s.Object(c.names[0]):
		return engine.Site{}, false
	case isTool && parts == len(c.names):
		return p.call(s, tool, params, c), true
	}
	site := engine.Site{Tool: -1, Namespace: c.names[0]}
	if parts == len(c.names) { // the namespace is called
		site.Pos = p.pos(c.at[0])
		return site, true
	}
	site.Name, site.Pos = c.names[1], p.pos(c.at[parts])
	site.Member = strings.Join(c.names[2:], ".")
	return site, p.isMissing(s, c, parts, isTool)
}

// call is a call of a tool.
func (p *Outline) call(s Globals, tool int, params []string, c callSite) engine.Site {
	site := engine.Site{Tool: tool, Discarded: c.discarded, Property: c.property, Pos: p.pos(c.end())}
	if params == nil {
		site.Args = arguments(c.arguments, c.block)
	} else {
		site.Args = gathered(c.arguments, c.block, params)
	}
	site.Fails = c.fails && !s.Inherited(c.property, false)
	if c.holder != nil {
		site.Holder = c.holder.id.Name.String()
	}
	if site.Awaited = c.awaited; c.awaited {
		site.Uses, site.Varies = p.uses(s, c.uses), c.varies
	}
	return site
}

// maxUses is how many uses of a result are reported.
const maxUses = 20

// uses are the uses of a result that may fail, or find nothing, each once.
func (p *Outline) uses(s Globals, all []use) (list []engine.Use) {
	for _, u := range all {
		reported := engine.Use{How: reportedHow[u.kind], Property: u.property}
		known := func(other engine.Use) bool {
			return other.Property == reported.Property && (other.How == reported.How || other.How == engine.Called)
		}
		if reported.How == "" || len(list) == maxUses || slices.ContainsFunc(list, known) {
			continue
		}
		switch reported.How {
		case engine.Read, engine.Called:
			if u.property == itsElements || u.property == itsProperties || s.OfText(u.property) && u.property != "length" {
				continue
			}
		default:
			reported.Property = ""
		}
		reported.Pos = p.pos(u.at)
		list = append(list, reported)
	}
	return list
}

// reportedHow is how uses are reported; those that are not there cannot fail.
var reportedHow = map[useKind]string{reads: engine.Read, destructs: engine.Read, calls: engine.Called, iterates: engine.Iterated, parses: engine.Parsed}

// longest finds the tool or the namespace that a path begins with, and how many of
// its names that takes.
func resolveTool(s Globals, names []string) (tool int, params []string, parts int) {
	if tool, params, ok := s.Tool("", names[0]); ok {
		return tool, params, 1
	}
	if len(names) > 1 {
		if tool, params, ok := s.Tool(names[0], names[1]); ok {
			return tool, params, 2
		}
	}
	return -1, nil, 1
}

// lacks reports whether a call certainly fails because what the first parts of its
// path stand for, a tool or a namespace, has no member of the next name.
func (p *Outline) isMissing(s Globals, c callSite, parts int, isTool bool) bool {
	return !p.examined[c.names[0]] && !s.Inherited(c.names[parts], isTool) && c.optional&(2<<parts) == 0 && p.tested[keyOf(c.names[:parts+1])] <= 0
}

// put makes the map if need be: most programs use few of these.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}
