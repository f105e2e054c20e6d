package check

import (
	"slices"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// memberReads are the reads of members in a program.
type memberReads struct {
	list   []memberRead
	probes map[ast.Expression]bool // expressions that only test whether a value exists
	group  sync.Once
	byName map[string][]memberRead // the reads by name; set by group
}

// memberRead is the read of a member. The name is "" if the program computes the name of the member.
type memberRead struct {
	occurrence
	probe bool // the read only tests whether the member exists
	pos   engine.Pos
}

// ReadsMembers reports whether the program reads members.
func (p *Outline) ReadsMembers() bool { return len(p.reads.list) > 0 }

// ReadAt returns the exact position at which a member is read. at is the position in a stack trace, which is inexact
// for callees and for names in patterns. ReadAt returns the zero Pos if there is no such read, or if the read is a
// probe (it only tests whether the member exists) and probes is false.
func (p *Outline) ReadAt(at engine.Pos, name string, probes bool) (first engine.Pos) {
	p.reads.group.Do(p.groupReads)
	reads := p.reads.byName
	isAt := func(r memberRead) bool { return r.pos == at }
	isProbe := func(r memberRead) bool { return r.probe && !probes }
	named := reads[name]
	if i := slices.IndexFunc(named, isAt); i >= 0 {
		named = named[i : i+1]
	}
	if len(named) == 0 || slices.ContainsFunc(named, isProbe) || slices.ContainsFunc(reads[""], isAt) {
		return engine.Pos{}
	}
	return named[0].pos
}

// groupReads groups the reads by name.
func (p *Outline) groupReads() {
	p.reads.byName = map[string][]memberRead{}
	for _, r := range p.reads.list {
		r.pos = p.pos(r.at)
		p.reads.byName[r.name] = append(p.reads.byName[r.name], r)
	}
}

// read records the read of a member.
func (s *surveyor) read(name string, at file.Idx, probe bool) {
	s.reads.list = append(s.reads.list, memberRead{occurrence: occurrence{name, at}, probe: probe})
}

// destructure records the reads of a pattern.
func (s *surveyor) destructure(n *ast.ObjectPattern) {
	for _, p := range n.Properties {
		switch p := p.(type) {
		case *ast.PropertyShort:
			s.read(p.Name.Name.String(), p.Name.Idx, p.Initializer != nil)
		case *ast.PropertyKeyed:
			if name, ok := constantText(p.Key, nil); ok && !p.Computed {
				_, hasDefault := p.Value.(*ast.AssignExpression)
				s.read(name, p.Key.Idx0(), hasDefault)
			}
		}
	}
}

// probe marks an expression that only tests whether a value exists.
func (s *surveyor) probe(e ast.Expression) { engine.Put(&s.reads.probes, e, true) }

func (s *surveyor) probeIf(condition bool, e ast.Expression) {
	if condition {
		s.probe(e)
	}
}

// probing marks those parts of a node that only test whether a value exists. It must be called before these parts are
// visited.
func (s *surveyor) probing(n ast.Node) {
	switch n := n.(type) {
	case *ast.Optional:
		s.probe(n.Expression)
	case *ast.OptionalChain:
		s.probeIf(s.reads.probes[n], n.Expression)
	case *ast.DotExpression:
		s.probeIf(isOptional(n.Left), n)
	case *ast.BracketExpression:
		s.probeIf(isOptional(n.Left), n)
	case *ast.UnaryExpression:
		s.probeIf(n.Operator == token.NOT || n.Operator == token.TYPEOF, n.Operand)
	case *ast.BinaryExpression:
		conditional, tests := Conditional(n.Operator), n.Operator == token.IN || n.Operator == token.INSTANCEOF
		s.probeIf(conditional || tests || isNothing(n.Right), n.Left)
		s.probeIf(conditional && s.reads.probes[n] || tests || isNothing(n.Left), n.Right)
	case *ast.AssignExpression:
		s.probeIf(Conditional(n.Operator), n.Left)
	case *ast.ConditionalExpression:
		s.probe(n.Test)
	case *ast.IfStatement:
		s.probe(n.Test)
	case *ast.WhileStatement:
		s.probe(n.Test)
	case *ast.DoWhileStatement:
		s.probe(n.Test)
	case *ast.ForStatement:
		s.probe(n.Test)
	case *ast.CallExpression:
		s.probingArgument(n)
	}
}

func isOptional(e ast.Expression) bool {
	_, ok := e.(*ast.Optional)
	return ok
}

// isNothing reports whether an expression is null or undefined.
func isNothing(e ast.Expression) bool {
	id, isName := e.(*ast.Identifier)
	_, null := e.(*ast.NullLiteral)
	return null || isName && id.Name == "undefined"
}

// testers are functions that test their argument, or their callback's result.
var testers = map[string]bool{
	"isArray": true, "Boolean": true, "isNaN": true, "isFinite": true, "isInteger": true, "isSafeInteger": true,
	"filter": true, "find": true, "some": true, "every": true, "findIndex": true,
	"findLast": true, "findLastIndex": true,
}

// probingArgument marks the argument of a call to one of the testers. If the argument is an arrow function whose body
// is an expression, it also marks that expression.
func (s *surveyor) probingArgument(n *ast.CallExpression) {
	name := ""
	switch callee := n.Callee.(type) {
	case *ast.Identifier:
		name = callee.Name.String()
	case *ast.DotExpression:
		name = callee.Identifier.Name.String()
	}
	if !testers[name] || len(n.ArgumentList) == 0 {
		return
	}
	argument := n.ArgumentList[0]
	s.probe(argument)
	if arrow, ok := argument.(*ast.ArrowFunctionLiteral); ok {
		if body, ok := arrow.Body.(*ast.ExpressionBody); ok {
			s.probe(body.Expression)
		}
	}
}
