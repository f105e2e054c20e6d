package check

import (
	"slices"
	"strings"

	"github.com/dop251/goja/file"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// The message and the hint for an await where await is not allowed.
const (
	AwaitMessage = "await is only valid in async functions and outside of functions"
	AwaitHint    = "write async before the function"
)

// Globals are the globals of a run.
type Globals interface {
	// Has reports whether a global exists.
	Has(name string) bool
	// Bound reports whether a global belongs to the run, such as a tool.
	Bound(name string) bool
	// Constant reports whether the global name is constant. If object is not empty, it reports whether the
	// members of object are constant.
	Constant(object, name string) bool
	// Object reports whether a global holds tools.
	Object(name string) bool
	// Reaches reports whether tools may be called through a global: a tool, an object that holds tools, globalThis, or
	// an earlier program's declaration.
	Reaches(name string) bool
	// Tool finds a tool by its object, which is empty for a global function, and its name. It returns params
	// only for a tool that takes several arguments.
	Tool(object, name string) (tool int, params []string, ok bool)
	// Inherited reports whether every object, or every function, has a member.
	Inherited(member string, ofFunctions bool) bool
}

// Report compares the outline with the globals of a run.
func (p *Outline) Report(s Globals, forbidden []string) engine.Report {
	r := engine.Report{Findings: slices.Clip(p.findings), Warnings: p.warnings, Declared: p.declared}
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
			write := engine.Write{Object: w.object, Name: w.name, Delete: w.delete, Pos: p.pos(w.at)}
			r.Constants = append(r.Constants, write)
		}
	}
	for _, v := range p.early {
		r.EarlyReads = append(r.EarlyReads, engine.Name{
			Name: v.name, Assigned: s.Bound(v.name), Elsewhere: p.elsewhere(v.elsewhere), Pos: p.pos(v.at),
		})
	}
	var calls []*callSite
	for i, c := range p.calls {
		if site, ok := p.site(s, c); ok {
			r.Sites, calls = append(r.Sites, site), append(calls, &p.calls[i])
		}
	}
	p.handled(s, r.Sites, calls)
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

// site returns the site of a tool call, or of a call that fails because the tool does not exist. For any other call, it
// returns false.
func (p *Outline) site(s Globals, c callSite) (engine.Site, bool) {
	tool, params, parts := resolveTool(s, c.names)
	isTool := tool >= 0
	switch {
	case !isTool && !s.Object(c.names[0]):
		return engine.Site{}, false
	case isTool && parts == len(c.names):
		return p.call(tool, params, c), true
	}
	site := engine.Site{Tool: -1, Namespace: c.names[0]}
	if parts == len(c.names) { // the namespace itself is called
		site.Pos = p.pos(c.at[0])
		return site, true
	}
	site.Name, site.Pos = c.names[1], p.pos(c.at[parts])
	site.Member = strings.Join(c.names[2:], ".")
	return site, p.isMissing(s, c, parts, isTool)
}

// call returns the site of a tool call.
func (p *Outline) call(tool int, params []string, c callSite) engine.Site {
	site := engine.Site{Tool: tool, Pos: p.pos(c.end())}
	if params == nil {
		site.Args = arguments(c.arguments, c.block)
	} else {
		site.Args = gathered(c.arguments, c.block, params)
	}
	return site
}

// resolveTool finds the tool at the beginning of a path. parts is the number of names that lead to the tool, or
// 1 if there is no tool.
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

// isMissing reports whether a call certainly fails, because the tool or the namespace at the
// beginning of its path has no member with the next name.
func (p *Outline) isMissing(s Globals, c callSite, parts int, isTool bool) bool {
	return !p.examined[c.names[0]] && !s.Inherited(c.names[parts], isTool) && c.optional&(2<<parts) == 0 &&
		p.tested[keyOf(c.names[:parts+1])] <= 0
}
