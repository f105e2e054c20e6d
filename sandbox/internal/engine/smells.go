package engine

import (
	"fmt"

	"github.com/dop251/goja/ast"
)

// impatient are the methods of arrays that make nothing of the promise which an
// async callback returns, and what comes of it.
var impatient = map[string]string{
	"forEach": "does not wait for its async callback",
	"filter":  "keeps every element if its callback is async: a promise counts as true",
	"find":    "takes the first element if its callback is async: a promise counts as true",
	"some":    "is always true if its callback is async: a promise counts as true",
	"every":   "is always true if its callback is async: a promise counts as true",
	"sort":    "does not wait for its async callback",
}

// callback looks at what a method of arrays is given.
func (s *surveyor) callback(n *ast.CallExpression) {
	method, ok := n.Callee.(*ast.DotExpression)
	if !ok || len(n.ArgumentList) == 0 {
		return
	}
	name := method.Identifier.Name.String()
	fault := impatient[name]
	if fault == "" {
		return
	}
	arrow, isArrow := n.ArgumentList[0].(*ast.ArrowFunctionLiteral)
	function, isFunction := n.ArgumentList[0].(*ast.FunctionLiteral)
	switch {
	case isArrow && arrow.Async, isFunction && function.Async:
		s.smells = append(s.smells, Finding{
			Message: fmt.Sprintf("%s %s", name, fault),
			Hint:    "use for…of with await, or await Promise.all(list.map(async …)) first",
			Pos:     s.source.fromIdx(method.Identifier.Idx),
		})
	case isArrow && name == "forEach":
		if body, ok := arrow.Body.(*ast.ExpressionBody); ok {
			s.discard(body.Expression)
		}
	}
}

// discard notes a call whose result nothing looks at.
func (s *surveyor) discard(e ast.Expression) {
	if call, ok := e.(*ast.CallExpression); ok {
		s.loose = append(s.loose, looseCall{call, discarded})
	}
}
