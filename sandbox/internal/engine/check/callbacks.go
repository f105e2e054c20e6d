package check

import (
	"fmt"

	"github.com/dop251/goja/ast"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// ignorePromises are the array methods that ignore the promise of an async callback, with the consequence.
var ignorePromises = map[string]string{
	"forEach": "does not wait for its async callback",
	"filter":  "keeps every element if its callback is async: a promise counts as true",
	"find":    "takes the first element if its callback is async: a promise counts as true",
	"some":    "is always true if its callback is async: a promise counts as true",
	"every":   "is always true if its callback is async: a promise counts as true",
	"sort":    "does not wait for its async callback",
}

// callback warns about an async callback of an array method that ignores the callback's promise.
func (s *surveyor) callback(n *ast.CallExpression) {
	method, ok := n.Callee.(*ast.DotExpression)
	if !ok || len(n.ArgumentList) == 0 {
		return
	}
	name := method.Identifier.Name.String()
	if fault := ignorePromises[name]; fault != "" && isAsync(n.ArgumentList[0]) {
		s.warnings = append(s.warnings, engine.Finding{
			Message: fmt.Sprintf("%s %s", name, fault),
			Hint:    "use for…of with await, or await Promise.all(list.map(async …)) first",
			Pos:     s.pos(method.Identifier.Idx),
		})
	}
}

func isAsync(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.ArrowFunctionLiteral:
		return e.Async
	case *ast.FunctionLiteral:
		return e.Async
	}
	return false
}
