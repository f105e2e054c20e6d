package check

import (
	"fmt"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
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
			Pos:     s.pos(method.Identifier.Idx),
		})
	case isArrow && name == "forEach":
		if body, ok := arrow.Body.(*ast.ExpressionBody); ok {
			s.discard(body.Expression)
		}
	}
}

// looseCall is what becomes of the promise of a call that nothing awaits.
type looseCall struct {
	discarded bool       // nothing looks at it
	property  string     // what is read of it as if it were the result, "" if nothing is
	fails     bool       // whether to read that throws, for certain
	holder    *reference // to the variable that it is read of; nil if it is read at once
}

// misread is a name that is read as only a result can be, not its promise.
type misread struct {
	reference
	property string
}

func (s *surveyor) lose(call *ast.CallExpression, l looseCall) {
	if s.loose == nil {
		s.loose = map[*ast.CallExpression]looseCall{}
	}
	if !s.loose[call].fails {
		s.loose[call] = l
	}
}

// discard notes a call whose result nothing looks at.
func (s *surveyor) discard(e ast.Expression) {
	if call, ok := e.(*ast.CallExpression); ok {
		s.lose(call, looseCall{discarded: true})
	}
}

// misread notes what is read as only a result can be, not its promise.
func (s *surveyor) misread(e ast.Expression, property string) {
	if optional, ok := e.(*ast.Optional); ok {
		e = optional.Expression
	}
	switch e := e.(type) {
	case *ast.CallExpression:
		s.lose(e, looseCall{property: property})
	case *ast.Identifier:
		s.misreads = append(s.misreads, misread{reference{id: e, block: s.walker.block}, property})
	}
}

const itsElements = "its elements"

// fail notes what throws if it is done with a promise: to call a method of the result,
// or to iterate over it.
func (s *surveyor) fail(e ast.Expression, property string) {
	if optional, ok := e.(*ast.Optional); ok {
		e = optional.Expression
	}
	switch e := e.(type) {
	case *ast.CallExpression:
		s.lose(e, looseCall{property: property, fails: true})
	case *ast.Identifier:
		s.failing = append(s.failing, misread{reference{id: e, block: s.walker.block}, property})
	}
}

// method notes a method of a promise that is called.
func (s *surveyor) method(n *ast.CallExpression) {
	if dot, ok := n.Callee.(*ast.DotExpression); ok && !ofPromises(dot.Identifier.Name.String()) {
		s.fail(dot.Left, dot.Identifier.Name.String())
	}
	s.spread(n.ArgumentList)
}

// spread notes elements that are spread.
func (s *surveyor) spread(list []ast.Expression) {
	for _, e := range list {
		if spread, ok := e.(*ast.SpreadElement); ok {
			s.fail(spread.Expression, itsElements)
		}
	}
}

func ofPromises(method string) bool {
	return method == "then" || method == "catch" || method == "finally"
}

const itsValue = "its value"

func (s *surveyor) interpolate(n *ast.TemplateLiteral) {
	if n.Tag != nil {
		return
	}
	for _, e := range n.Expressions {
		s.misread(e, itsValue)
	}
}

func (s *surveyor) compute(n *ast.BinaryExpression) {
	switch n.Operator {
	case token.PLUS, token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT,
		token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL:
		s.misread(n.Left, itsValue)
		s.misread(n.Right, itsValue)
	}
}

// held notes the variables that hold a promise, if what initializes them is a tool.
func (s *surveyor) held(b *ast.Binding) {
	if s.walker.block.parameters {
		return // it is but a default
	}
	switch target := b.Target.(type) {
	case *ast.Identifier:
		if call, ok := b.Initializer.(*ast.CallExpression); ok {
			s.lose(call, looseCall{holder: &reference{id: target, block: s.walker.block}})
		}
	case *ast.ArrayPattern:
		s.fail(b.Initializer, itsElements)
	case *ast.ObjectPattern:
		s.misread(b.Initializer, "its properties")
	}
}

// resolved keeps the variable that holds the promise if it certainly is taken for
// the result: each time it is read.
func (l looseCall) resolved() looseCall {
	if l.holder == nil {
		return l
	}
	switch v := l.holder.variable(); {
	case v.writes == 0 && v.failing != "" && !v.changed:
		l.property, l.fails = v.failing, true
	case v.writes == 0 && v.reads == v.misread:
		l.property = v.property
	default:
		l.holder = nil
	}
	return l
}
