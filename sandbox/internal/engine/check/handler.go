package check

import (
	"math"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// handler is the code that handles a call's error: a try statement or a call to the method catch.
type handler struct{ from, to file.Idx }

// handle records the code that handles the error of the promise e. If e is a call to another promise's method then or
// finally, the handler also handles that promise's error.
func (s *surveyor) handle(e ast.Expression, by *handler) {
	call, ok := e.(*ast.CallExpression)
	if !ok || by == nil {
		return
	}
	engine.Put(&s.handlers, call, by)
	dot, ok := call.Callee.(*ast.DotExpression)
	if ok && (dot.Identifier.Name == "then" || dot.Identifier.Name == "finally") {
		s.handle(dot.Left, by)
	}
}

// handled sets Statement of the sites, and Until of the sites whose errors are handled. A handler that covers all of
// the program's calls does not count, because models wrap whole programs in try. No handler counts if the program may
// also call tools in a way that is not a site.
func (p *Outline) handled(s Globals, sites []engine.Site, calls []*callSite) {
	called := map[file.Idx]bool{}
	for i, c := range calls {
		sites[i].Statement = c.statement
		called[c.at[0]] = sites[i].Tool >= 0
	}
	for _, n := range p.names {
		if s.Reaches(n.name) && slices.ContainsFunc(n.uses, func(at file.Idx) bool { return !called[at] }) {
			return
		}
	}
	for i, c := range calls {
		outside := func(o *callSite) bool {
			return (o.block.function == 0 || o.block.function == c.block.function) &&
				(o.end() < c.handler.from || o.end() >= c.handler.to)
		}
		if c.handler == nil || !slices.ContainsFunc(calls, outside) {
			continue
		}
		if sites[i].Until = c.statement; c.block.function > 0 { // any later statement may call the function
			sites[i].Until = math.MaxInt32
		}
	}
}
