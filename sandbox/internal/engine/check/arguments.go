package check

import (
	"slices"

	"github.com/dop251/goja/ast"
)

// mentionArguments inserts the statement "arguments;" at the beginning of a function. Without the statement, an arrow
// function in the body that uses arguments gets wrong values from goja's compiler.
func mentionArguments(f *ast.FunctionLiteral) {
	use := &ast.Identifier{Name: "arguments", Idx: f.Function}
	first := 0
	for first < len(f.Body.List) && isDirective(f.Body.List[first]) {
		first++
	}
	f.Body.List = slices.Insert(f.Body.List, first, ast.Statement(&ast.ExpressionStatement{Expression: use}))
}

// isDirective reports whether a statement may be a directive such as "use strict". Directives must come first.
func isDirective(s ast.Statement) bool {
	e, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	_, ok = e.Expression.(*ast.StringLiteral)
	return ok
}
