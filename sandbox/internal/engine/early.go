package engine

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// A variable of let, const or class cannot be read by its own initialiser. Models
// do it all the time, where a tool has the name:
//
//	const orders = await orders.list({});

func (s *surveyor) declaration(n *ast.LexicalDeclaration) {
	s.held(n.List)
	for _, b := range n.List {
		if b.Initializer != nil {
			s.readsItself(b.Target, b.Initializer)
		}
	}
}

func (s *surveyor) loop(into ast.ForInto, source ast.Expression) {
	if n, ok := into.(*ast.ForDeclaration); ok {
		s.readsItself(n.Target, source)
	}
}

func (s *surveyor) class(n *ast.ClassLiteral) {
	if n.Name != nil && n.SuperClass != nil {
		s.readsItself(n.Name, n.SuperClass)
	}
}

// readsItself notes a name of the target that is certainly read in its
// initialiser.
func (s *surveyor) readsItself(target, initialiser ast.Expression) {
	declared := bound(target)
	reads(initialiser, func(id *ast.Identifier) {
		if declared(id.Name) {
			s.early = append(s.early, place{id.Name.String(), id.Idx})
		}
	})
}

// bound tells which names a pattern declares.
func bound(target ast.Expression) func(unistring.String) bool {
	if id, ok := target.(*ast.Identifier); ok {
		return func(name unistring.String) bool { return name == id.Name }
	}
	names := map[unistring.String]bool{}
	bind(target, func(name unistring.String) { names[name] = true })
	return func(name unistring.String) bool { return names[name] }
}

// bind tells of the names that a pattern declares.
func bind(target ast.Expression, tell func(unistring.String)) {
	switch t := target.(type) {
	case *ast.Identifier:
		tell(t.Name)
	case *ast.Binding:
		bind(t.Target, tell)
	case *ast.AssignExpression:
		bind(t.Left, tell)
	case *ast.ArrayPattern:
		for _, element := range t.Elements {
			bind(element, tell)
		}
		bind(t.Rest, tell)
	case *ast.ObjectPattern:
		for _, p := range t.Properties {
			bind(p, tell)
		}
		bind(t.Rest, tell)
	case *ast.PropertyShort:
		tell(t.Name.Name)
	case *ast.PropertyKeyed:
		bind(t.Value, tell)
	}
}

// reads tells of the names that an expression reads whenever it is evaluated:
// not those inside functions, nor behind a condition.
func reads(e ast.Expression, tell func(*ast.Identifier)) {
	switch e := e.(type) {
	case *ast.Identifier:
		tell(e)
	case *ast.AwaitExpression:
		reads(e.Argument, tell)
	case *ast.CallExpression:
		reads(e.Callee, tell)
		readAll(e.ArgumentList, tell)
	case *ast.NewExpression:
		reads(e.Callee, tell)
		readAll(e.ArgumentList, tell)
	case *ast.DotExpression:
		reads(e.Left, tell)
	case *ast.BracketExpression:
		reads(e.Left, tell)
		reads(e.Member, tell)
	case *ast.BinaryExpression:
		reads(e.Left, tell)
		if !conditional(e.Operator) {
			reads(e.Right, tell)
		}
	case *ast.UnaryExpression:
		reads(e.Operand, tell)
	case *ast.ConditionalExpression:
		reads(e.Test, tell)
	default:
		readsOf(e, tell)
	}
}

func readsOf(e ast.Expression, tell func(*ast.Identifier)) {
	switch e := e.(type) {
	case *ast.SpreadElement:
		reads(e.Expression, tell)
	case *ast.OptionalChain:
		reads(chained(e.Expression), tell)
	case *ast.TemplateLiteral:
		readAll(e.Expressions, tell)
	case *ast.ArrayLiteral:
		readAll(e.Value, tell)
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			switch p := p.(type) {
			case *ast.PropertyShort:
				tell(&p.Name)
			case *ast.PropertyKeyed:
				reads(p.Value, tell)
			case *ast.SpreadElement:
				reads(p.Expression, tell)
			}
		}
	}
}

func readAll(list []ast.Expression, tell func(*ast.Identifier)) {
	for _, e := range list {
		reads(e, tell)
	}
}

// chained is what an optional chain begins with; the rest may not be evaluated.
func chained(e ast.Expression) ast.Expression {
	for {
		switch link := e.(type) {
		case *ast.Optional:
			e = link.Expression
		case *ast.DotExpression:
			e = link.Left
		case *ast.BracketExpression:
			e = link.Left
		case *ast.CallExpression:
			e = link.Callee
		default:
			return e
		}
	}
}

func conditional(operator token.Token) bool {
	return operator == token.LOGICAL_AND || operator == token.LOGICAL_OR || operator == token.COALESCE
}
