package check

import (
	"fmt"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// ignorePromises are the array methods that ignore the promise of an async callback, with
// the consequences.
var ignorePromises = map[string]string{
	"forEach": "does not wait for its async callback",
	"filter":  "keeps every element if its callback is async: a promise counts as true",
	"find":    "takes the first element if its callback is async: a promise counts as true",
	"some":    "is always true if its callback is async: a promise counts as true",
	"every":   "is always true if its callback is async: a promise counts as true",
	"sort":    "does not wait for its async callback",
}

// callback checks the callback of an array method.
func (s *surveyor) callback(n *ast.CallExpression) {
	method, ok := n.Callee.(*ast.DotExpression)
	if !ok || len(n.ArgumentList) == 0 {
		return
	}
	name := method.Identifier.Name.String()
	fault := ignorePromises[name]
	if fault == "" {
		return
	}
	arrow, isArrow := n.ArgumentList[0].(*ast.ArrowFunctionLiteral)
	switch {
	case isAsync(n.ArgumentList[0]):
		s.warnings = append(s.warnings, engine.Finding{
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

func isAsync(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.ArrowFunctionLiteral:
		return e.Async
	case *ast.FunctionLiteral:
		return e.Async
	}
	return false
}

// readers are the array methods that use the elements, and make nothing sensible of
// promises.
var readers = map[string]bool{
	"filter": true, "find": true, "some": true, "every": true, "includes": true,
	"reduce": true, "join": true, "sort": true, "toSorted": true,
}

// mapping returns the position of a call of map with an async callback, which returns an
// array of promises. It returns 0 for other expressions.
func mapping(e ast.Expression) file.Idx {
	call, ok := e.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) == 0 || !isAsync(call.ArgumentList[0]) {
		return 0
	}
	if method, ok := call.Callee.(*ast.DotExpression); ok && method.Identifier.Name == "map" {
		return method.Identifier.Idx
	}
	return 0
}

// mapped warns that an array of promises is used as an array of results.
func (s *surveyor) mapped(at file.Idx, method string) {
	s.warnings = append(s.warnings, engine.Finding{
		Message: fmt.Sprintf("map gives promises if its callback is async, and %s does not wait for them", method),
		Hint:    "write await Promise.all(list.map(async …))",
		Pos:     s.pos(at),
	})
}

// promiseUse says how the promise of a call is used.
type promiseUse struct {
	discarded bool       // the promise is not used
	awaited   bool       // the call itself is awaited, and holder has the result
	property  string     // the property that is read from the promise as if it were the result, or ""
	fails     bool       // reading it certainly throws
	holder    *reference // the variable that is initialized with the call, or nil
}

// use is one use of a value.
type use struct {
	reference // the variable that holds the value, if any
	kind      useKind
	property  string
}

// useKind is a kind of use.
type useKind int

const (
	reads   useKind = iota // reads a property
	reaches                // reads a property of a property
	calls                  // calls a method
	iterates
	computes // computes with the value
	parses   // parses it as JSON
)

// fails reports whether the use certainly throws if the value is a promise.
func (h useKind) fails() bool { return h == reaches || h == calls || h == iterates || h == parses }

// misreads reports whether the use takes a promise for its result. Calling a method also
// reads a property.
func (h useKind) misreads() bool { return h == reads || h == computes }

func (s *surveyor) notePromise(call *ast.CallExpression, l promiseUse) {
	if s.promiseUses == nil {
		s.promiseUses = map[*ast.CallExpression]promiseUse{}
	}
	if !s.promiseUses[call].fails {
		s.promiseUses[call] = l
	}
}

// discard records a call whose result is not used.
func (s *surveyor) discard(e ast.Expression) {
	if call, ok := e.(*ast.CallExpression); ok {
		s.notePromise(call, promiseUse{discarded: true})
	}
}

const (
	itsElements   = "its elements"
	itsValue      = "its value"
	itsProperties = "its properties"
)

// use records a use of a value.
func (s *surveyor) use(e ast.Expression, h useKind, property string) {
	if optional, ok := e.(*ast.Optional); ok {
		e = optional.Expression
	}
	switch e := e.(type) {
	case *ast.CallExpression:
		if h.misreads() || h.fails() {
			s.notePromise(e, promiseUse{property: property, fails: h.fails()})
		}
	case *ast.Identifier:
		s.uses = append(s.uses, use{reference{id: e, block: s.walker.block}, h, property})
	}
}

// method records the call of a method, and uses of its arguments.
func (s *surveyor) method(n *ast.CallExpression) {
	s.spread(n.ArgumentList)
	dot, ok := n.Callee.(*ast.DotExpression)
	if !ok {
		return
	}
	name := dot.Identifier.Name.String()
	if name == "catch" {
		s.handle(dot.Left, &handler{n.Idx0(), n.Idx1()})
	}
	if !ofPromises(name) {
		s.use(dot.Left, calls, name)
	}
	if at := mapping(dot.Left); at > 0 && readers[name] {
		s.mapped(at, name)
	}
	object, isName := dot.Left.(*ast.Identifier)
	if !isName || len(n.ArgumentList) == 0 {
		return
	}
	if object.Name == "JSON" && name == "parse" {
		s.use(n.ArgumentList[0], parses, itsValue)
	}
}

// spread records the use of elements that are spread.
func (s *surveyor) spread(list []ast.Expression) {
	for _, e := range list {
		if spread, ok := e.(*ast.SpreadElement); ok {
			s.use(spread.Expression, iterates, itsElements)
		}
	}
}

func ofPromises(method string) bool {
	return method == "then" || method == "catch" || method == "finally"
}

func (s *surveyor) interpolate(n *ast.TemplateLiteral) {
	if n.Tag != nil {
		return
	}
	for _, e := range n.Expressions {
		s.use(e, computes, itsValue)
	}
}

func (s *surveyor) compute(n *ast.BinaryExpression) {
	switch n.Operator {
	case token.PLUS, token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT,
		token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL:
		s.use(n.Left, computes, itsValue)
		s.use(n.Right, computes, itsValue)
	}
}

// held records the variables that hold a promise or its result.
func (s *surveyor) held(b *ast.Binding) {
	if b.Initializer == nil || s.walker.block.parameters {
		return // the initializer of a parameter is only its default
	}
	switch target := b.Target.(type) {
	case *ast.Identifier:
		if at := mapping(b.Initializer); at > 0 {
			s.mappings = append(s.mappings, mappingOf{reference{id: target, block: s.walker.block}, at})
		}
		initializer := b.Initializer
		await, awaited := initializer.(*ast.AwaitExpression)
		if awaited {
			initializer = await.Argument
		}
		if call, ok := initializer.(*ast.CallExpression); ok {
			s.notePromise(call, promiseUse{awaited: awaited, holder: &reference{id: target, block: s.walker.block}})
		}
	case *ast.ArrayPattern:
		s.use(b.Initializer, iterates, itsElements)
	case *ast.ObjectPattern:
		s.use(b.Initializer, reads, itsProperties)
	}
}

// mappingOf is a variable that holds an array of promises, and the position of the call of map.
type mappingOf struct {
	reference
	at file.Idx
}

// resolved completes the use of a call after all uses of the variable that holds it are
// known. A promise is taken for its result if every use of the variable does that.
func (l promiseUse) resolved() promiseUse {
	if l.holder == nil || l.awaited {
		return l
	}
	v := l.holder.variable()
	switch {
	case v.writes > 0:
	case v.failing != "" && !v.changed:
		l.property, l.fails = v.failing, true
	case v.reads == v.misread:
		l.property = v.property
	}
	return l
}
