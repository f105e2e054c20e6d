package check

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// resolve resolves names after all declarations are known.
func (s *surveyor) resolve() {
	for _, w := range s.targets {
		s.assignment(w)
	}
	unknown := s.refer()
	for _, w := range s.targets {
		if id, ok := w.expression.(*ast.Identifier); ok && unknown[id.Name] != nil {
			name := unknown[id.Name]
			name.assigned = name.assigned || name.at == id.Idx
		}
	}
	s.mentions()
	for _, c := range s.called {
		s.site(c)
	}
	for _, t := range s.texts {
		if name, ok := constantText(t.expression, t.block); ok {
			s.words = append(s.words, occurrence{name, t.expression.Idx0()})
		}
	}
}

// refer resolves every reference, and returns the undeclared names.
func (s *surveyor) refer() map[unistring.String]*usedName {
	unknown := map[unistring.String]*usedName{}
	for number, r := range s.walker.references {
		v := r.variable()
		switch {
		case v == nil:
			s.unknown(unknown, r)
		case v.id == r.id: // the declaration
		case v.early(number, r):
			s.early = append(s.early, usedName{occurrence: occurrence{v.name, r.id.Idx}, elsewhere: v.at})
		default:
			v.reads++
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	for _, v := range s.walker.variables {
		if u := unknown[unistring.NewFromString(v.name)]; u != nil && (u.elsewhere == 0 || v.at < u.at) {
			u.elsewhere = v.at
		}
	}
	return unknown
}

func (s *surveyor) unknown(known map[unistring.String]*usedName, r reference) {
	name := known[r.id.Name]
	if name == nil {
		name = &usedName{occurrence: occurrence{r.id.Name.String(), r.id.Idx}}
		known[r.id.Name] = name
		s.names = append(s.names, name)
	}
	name.at = min(name.at, r.id.Idx)
	name.uses = append(name.uses, r.id.Idx)
}

// assignment records an assignment to a variable or to an undeclared name.
func (s *surveyor) assignment(w writeTarget) {
	if id, ok := w.expression.(*ast.Identifier); ok {
		switch v := w.block.find(id.Name); {
		case v == nil:
			s.writes = append(s.writes, writeSite{member: member{name: id.Name.String()}, at: id.Idx})
		case v.id == id: // a default in the declaration, not an assignment
		case v.kind == constant && v.writes == 0 && !w.conditional: // only the first assignment is reported
			s.findings = append(s.findings, engine.Finding{
				Message: v.name + " cannot be assigned to: it is declared by const",
				Hint:    "declare it with let", Pos: s.pos(id.Idx),
			})
			fallthrough
		default:
			v.writes++
		}
		return
	}
	if p := pathOf(w.expression, w.block); p != nil && len(p.names) == 2 {
		s.writes = append(s.writes, writeSite{member{p.names[0], p.names[1]}, p.end(), w.delete})
	}
}

// mentions counts, for each path of a global and its members, the mentions that are not calls.
func (s *surveyor) mentions() {
	for _, m := range s.members {
		s.mention(namesIn(m.expression, m.block), 1)
	}
	for _, r := range s.walker.references {
		if v := r.variable(); v != nil && v.id != r.id && v.fixed() != nil {
			s.mention(namesIn(r.id, r.block), 1)
		}
	}
	for _, v := range s.walker.variables {
		if v.fixed() != nil && len(v.path) == 0 {
			s.mention(namesIn(v.value, v.block), -1)
		}
	}
}

func (s *surveyor) mention(names []string, times int) {
	if len(names) < 2 || len(names) > len(pathKey{}) {
		return
	}
	engine.Put(&s.tested, keyOf(names), s.tested[keyOf(names)]+times)
}

const functionMessage = "Function cannot be called: code cannot be created from strings"

// site records a call if the called expression is a global or a member of a global.
func (s *surveyor) site(c calledExpression) {
	p := pathOf(c.expression, c.block)
	if p == nil {
		return
	}
	if p.is("Function") { // Function can be used only with instanceof
		s.findings = append(s.findings, engine.Finding{
			Message: functionMessage, Hint: "write the function itself", Pos: s.pos(p.end()),
		})
	}
	if c.isNew {
		return
	}
	s.examine(p, c)
	for parts := 2; parts <= len(p.names); parts++ {
		s.mention(p.names[:parts], -1)
	}
	s.calls = append(s.calls, callSite{p, c})
}

// examine recognizes calls that inspect a namespace's members: Object.keys(orders), Object.hasOwn(orders, "archive"),
// orders.hasOwnProperty("archive").
func (s *surveyor) examine(p *path, c calledExpression) {
	var object *path
	switch {
	case len(p.names) == 2 && p.names[1] == "hasOwnProperty":
		object = &path{names: p.names[:1]}
	case (p.names[0] == "Object" || p.names[0] == "Reflect") && len(c.arguments) > 0:
		object = pathOf(c.arguments[0], c.block)
	}
	if object != nil {
		engine.Put(&s.examined, object.names[0], true)
	}
}
