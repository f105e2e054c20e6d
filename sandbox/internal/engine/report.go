package engine

import (
	"regexp"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// scope is what a job adds to the globals.
type scope struct {
	objects map[string]map[string]int // namespace → member → tool
	globals map[string]int            // global function → tool
	inputs  map[string]int            // input → its place
}

func newScope(job *Job) *scope {
	s := &scope{objects: map[string]map[string]int{}, globals: map[string]int{}, inputs: map[string]int{}}
	for i, b := range job.Tools {
		if b.Namespace == "" {
			s.globals[b.Names[0]] = i
			continue
		}
		if s.objects[b.Namespace] == nil {
			s.objects[b.Namespace] = map[string]int{}
		}
		for _, name := range b.Names {
			s.objects[b.Namespace][name] = i
		}
	}
	for i, input := range job.Inputs {
		s.inputs[input.Name] = i
	}
	return s
}

func (s *scope) has(name string) bool {
	_, object := s.objects[name]
	_, global := s.globals[name]
	_, input := s.inputs[name]
	return object || global || input
}

// report says what is to be judged of the program before it runs.
func (p *program) report(s *scope, submit bool) Report {
	r := reporter{
		program: p, scope: s, first: map[string]file.Idx{}, guarded: map[string]bool{},
		tested: map[member]int{}, assigned: map[file.Idx]bool{},
	}
	for _, statement := range p.body.List {
		walk(statement, r.visit)
	}
	for name, idx := range r.first {
		known := s.has(name) || globalNames()[name] || submit && name == "submit"
		if !known && !r.guarded[name] {
			r.report.Undeclared = append(r.report.Undeclared, Name{name, r.assigned[idx], p.source.fromIdx(idx)})
		}
	}
	r.report.Sites = slices.DeleteFunc(r.report.Sites, func(s Site) bool {
		return s.Tool < 0 && r.tested[member{s.Namespace, s.Name}] > 0
	})
	return r.report
}

type reporter struct {
	*program
	scope   *scope
	report  Report
	first   map[string]file.Idx // undeclared names, where they are first used
	guarded map[string]bool     // names tested by typeof, which may be absent
	tested  map[member]int      // how often tools are mentioned and not called, as in if (fs.stat) …

	assigned map[file.Idx]bool // names that are assigned to
}

type member struct{ object, name string }

func (r *reporter) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.Identifier:
		r.identifier(n)
	case *ast.UnaryExpression:
		if id, ok := n.Operand.(*ast.Identifier); ok && n.Operator == token.TYPEOF {
			r.guarded[id.Name.String()] = true
		}
	case *ast.AssignExpression:
		r.assignment(n)
	case *ast.CallExpression:
		r.call(n)
	case *ast.DotExpression:
		r.mention(n, 1)
	case *ast.BracketExpression:
		r.mention(n, 1)
	case *ast.RegExpLiteral:
		r.regexp(n)
	}
}

// assignment notes a name on the left. It is visited before the name itself.
func (r *reporter) assignment(n *ast.AssignExpression) {
	id, ok := n.Left.(*ast.Identifier)
	if !ok {
		return
	}
	r.assigned[id.Idx] = true
	if name := id.Name.String(); r.undeclared[name] && !r.declared[name] && r.scope.has(name) {
		r.report.Constants = append(r.report.Constants, Name{name, true, r.source.fromIdx(id.Idx)})
	}
}

func (r *reporter) mention(e ast.Expression, times int) {
	if object, name, _, ok := callee(e); ok && r.scope.objects[object] != nil {
		r.tested[member{object, name}] += times
	}
}

func (r *reporter) identifier(id *ast.Identifier) {
	name := id.Name.String()
	if !r.undeclared[name] || r.declared[name] { // elsewhere: it is not known which of them this is
		return
	}
	if at, seen := r.first[name]; !seen || id.Idx < at {
		r.first[name] = id.Idx
	}
}

// unicodeClass is a property escape that is not itself escaped.
var unicodeClass = regexp.MustCompile(`(^|[^\\])(\\\\)*\\[pP]\{`)

func (r *reporter) regexp(n *ast.RegExpLiteral) {
	if unicodeClass.MatchString(n.Pattern) {
		r.report.Findings = append(r.report.Findings, Finding{
			Message: `\p{…} never matches in this engine`,
			Hint:    `write the characters as a range, such as [A-Za-zÀ-ɏ]`,
			Pos:     r.source.fromIdx(n.Idx),
		})
	}
}

// call notes a call of a tool. A name that the program declares anywhere is not
// looked at: it may shadow the tool here.
func (r *reporter) call(n *ast.CallExpression) {
	object, name, at, ok := callee(n.Callee)
	if at != 0 {
		r.source.callees[n.LeftParenthesis] = at
	}
	if !ok || !r.resolved {
		return
	}
	site := Site{Tool: -1, Namespace: object, Name: name, Pos: r.source.fromIdx(at)}
	if object == "" {
		tool, ok := r.scope.globals[name]
		if !ok || r.declared[name] {
			return
		}
		site.Tool = tool
	} else {
		members, ok := r.scope.objects[object]
		if !ok || r.declared[object] {
			return
		}
		if tool, ok := members[name]; ok {
			site.Tool = tool
		} else if inherited()[name] {
			return
		}
		r.mention(n.Callee, -1)
	}
	site.Args = arguments(n.ArgumentList)
	r.report.Sites = append(r.report.Sites, site)
}

// callee reads f, object.name and object["name"]; at is where the name stands,
// also if what it is a member of is not a name.
func callee(e ast.Expression) (object, name string, at file.Idx, ok bool) {
	switch e := e.(type) {
	case *ast.Identifier:
		return "", e.Name.String(), e.Idx, true
	case *ast.DotExpression:
		left, ok := e.Left.(*ast.Identifier)
		if !ok {
			return "", "", e.Identifier.Idx, false
		}
		return left.Name.String(), e.Identifier.Name.String(), e.Identifier.Idx, true
	case *ast.BracketExpression:
		left, isName := e.Left.(*ast.Identifier)
		member, isText := e.Member.(*ast.StringLiteral)
		if isName && isText {
			return left.Name.String(), member.Value.String(), member.Idx, true
		}
	}
	return "", "", 0, false
}
