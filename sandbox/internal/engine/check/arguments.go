package check

import (
	"slices"

	"github.com/dop251/goja/ast"
)

// mentionArguments makes a function mention its arguments before an arrow function in it
// does. Otherwise goja's compiler gives the arrow function wrong values.
func mentionArguments(f *ast.FunctionLiteral) {
	use := &ast.Identifier{Name: "arguments", Idx: f.Function}
	for _, b := range f.ParameterList.List {
		if value := firstDefault(b); value != nil {
			*value = &ast.SequenceExpression{Sequence: []ast.Expression{use, *value}}
			break
		}
	}
	first := 0
	for first < len(f.Body.List) && isDirective(f.Body.List[first]) {
		first++
	}
	f.Body.List = slices.Insert(f.Body.List, first, ast.Statement(&ast.ExpressionStatement{Expression: use}))
}

// firstDefault returns the first default value in a parameter, or nil if it has no default.
func firstDefault(e ast.Expression) *ast.Expression {
	switch e := e.(type) {
	case *ast.Binding:
		if e.Initializer != nil {
			return &e.Initializer
		}
		return firstDefault(e.Target)
	case *ast.AssignExpression:
		return &e.Right
	case *ast.PropertyShort:
		if e.Initializer != nil {
			return &e.Initializer
		}
	case *ast.PropertyKeyed:
		return firstDefault(e.Value)
	case *ast.ArrayPattern:
		return firstOf(e.Elements)
	case *ast.ObjectPattern:
		return firstOf(e.Properties)
	}
	return nil
}

func firstOf[E ast.Expression](list []E) *ast.Expression {
	for _, e := range list {
		if value := firstDefault(e); value != nil {
			return value
		}
	}
	return nil
}

// isDirective reports whether a statement may be "use strict", which must come first.
func isDirective(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	_, ok = e.Expression.(*ast.StringLiteral)
	return ok
}
