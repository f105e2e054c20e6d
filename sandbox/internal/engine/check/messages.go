package check

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// goja's messages often do not name the expression that failed. Reword finds it in the
// source and says what V8 would say. It parses the program again, so that programs that do
// not fail pay nothing.

// vague matches the messages that can be improved if the expression is known.
var vague = regexp.MustCompile(`^(Value is not |Object has no member '|Dynamic object is not callable$|` +
	`Class constructor cannot be |` +
	`object is not iterable$|Cannot convert undefined or null to object$|Cannot access a variable before initialization$)`)

// errorContext finds the expression that an error comes from.
type errorContext struct {
	source  *Source
	at      file.Idx
	message string // goja's message
	native  string // the built-in function that threw, or ""
	better  string
}

// Reword returns a better message for an error, if its position in the source allows that.
func (s *Source) Reword(message, stack string, frames []Frame) string {
	if len(frames) == 0 || !vague.MatchString(message) {
		return message
	}
	w := errorContext{source: s, message: message, native: thrower(stack)}
	w.at = w.source.idx(frames[0].Line, frames[0].Column)
	if w.native != "" {
		return w.ofNative()
	}
	w.source.look(w.visit)
	if w.better != "" {
		return w.better
	}
	return message
}

// look visits the nodes of a program again.
func (s *Source) look(visit func(ast.Node)) {
	tree, err := s.parse("")
	if err != nil {
		return // cannot happen: the program was parsed before
	}
	for _, statement := range tree.Body {
		Walk(statement, visit)
	}
}

var nativeFrame = regexp.MustCompile(`^\tat (\S+) \(native\)`)

// thrower returns the built-in function at the top of a stack, or "".
func thrower(stack string) string {
	for line := range strings.Lines(stack) {
		if strings.HasPrefix(line, "\tat ") {
			if m := nativeFrame.FindStringSubmatch(line); m != nil {
				return m[1]
			}
			return ""
		}
	}
	return ""
}

var wrongValue = regexp.MustCompile(`^Value is not (?:an object|callable): ((?s:.*))$`)

// ofNative rewords what a built-in function says about its arguments.
func (w *errorContext) ofNative() string {
	m := wrongValue.FindStringSubmatch(w.message)
	switch {
	case m != nil && w.native == "fromEntries":
		return "Iterator value " + m[1] + " is not an entry object"
	case m != nil:
		return m[1] + " is not a function"
	}
	return w.message
}

func (w *errorContext) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpression:
		if n.LeftParenthesis == w.at {
			w.called(n)
		}
	case *ast.NewExpression:
		if n.New == w.at {
			w.constructed(n)
		}
	case *ast.BinaryExpression:
		w.binary(n)
	case *ast.Identifier:
		if n.Idx == w.at && strings.HasPrefix(w.message, "Cannot access") {
			w.better = fmt.Sprintf("Cannot access '%s' before initialization", n.Name)
		}
	case *ast.AssignExpression:
		w.set(n.Left)
		w.taken(n.Left, n.Right)
	case *ast.Binding:
		w.taken(n.Target, n.Initializer)
	case *ast.ForOfStatement:
		w.loop(n)
	case *ast.SpreadElement:
		w.spread(n)
	case *ast.FunctionLiteral:
		w.parameters(n, n.ParameterList)
	case *ast.ArrowFunctionLiteral:
		w.parameters(n, n.ParameterList)
	}
}

func (w *errorContext) called(n *ast.CallExpression) {
	name := shown(n.Callee)
	switch {
	case strings.HasPrefix(w.message, "Class"):
		w.better = fmt.Sprintf("Class constructor %s cannot be invoked without 'new'", name)
	case strings.HasPrefix(w.message, "Value is not an object"), strings.HasPrefix(w.message, "Value is not callable"),
		strings.HasPrefix(w.message, "Object has no member"), strings.HasPrefix(w.message, "Dynamic object"):
		w.better = name + " is not a function"
	}
}

func (w *errorContext) constructed(n *ast.NewExpression) {
	name := shown(n.Callee)
	m := wrongValue.FindStringSubmatch(w.message)
	switch {
	case m != nil && (name == "Map" || name == "WeakMap"):
		w.better = "Iterator value " + m[1] + " is not an entry object"
	case m != nil && name == "Promise":
		w.better = "Promise resolver " + m[1] + " is not a function"
	case w.iterates() && len(n.ArgumentList) > 0:
		w.better = shown(n.ArgumentList[0]) + " is not iterable"
	case strings.HasPrefix(w.message, "Value is not a constructor"), m != nil:
		w.better = name + " is not a constructor"
	}
}

func (w *errorContext) binary(n *ast.BinaryExpression) {
	if n.Left.Idx0() != w.at || !strings.HasPrefix(w.message, "Value is not an object: ") {
		return
	}
	switch n.Operator {
	case token.IN:
		value := wrongValue.ReplaceAllString(w.message, "$1")
		w.better = fmt.Sprintf("Cannot use 'in' operator to search for %s in %s", key(n.Left), value)
	case token.INSTANCEOF:
		w.better = "Right-hand side of 'instanceof' is not an object"
	}
}

func key(e ast.Expression) string {
	if text, ok := e.(*ast.StringLiteral); ok {
		return "'" + text.Value.String() + "'"
	}
	return shown(e)
}

// set rewords an assignment to a property of null or undefined.
func (w *errorContext) set(target ast.Expression) {
	name := ""
	switch t := target.(type) {
	case *ast.DotExpression:
		if t.Identifier.Idx == w.at {
			name = t.Identifier.Name.String()
		}
	case *ast.BracketExpression:
		if t.LeftBracket == w.at {
			name = strings.Trim(key(t.Member), "'")
		}
	}
	if name != "" && strings.HasPrefix(w.message, "Cannot convert") {
		w.better = fmt.Sprintf("Cannot set properties of undefined or null (setting '%s')", name)
	}
}

// iterates reports whether the message may be about a value that is not iterable.
func (w *errorContext) iterates() bool {
	return w.message == "object is not iterable" || strings.HasPrefix(w.message, "Cannot convert")
}

// uncoercible reports whether the message is about a value that cannot be destructured.
func (w *errorContext) uncoercible() bool { return w.message == "Value is not object coercible" }

// taken rewords errors in a destructuring declaration or assignment.
func (w *errorContext) taken(target, value ast.Expression) {
	if value != nil && value.Idx0() == w.at {
		name := shown(value)
		if _, ok := target.(*ast.ObjectPattern); ok {
			name = "'" + name + "'"
		}
		w.apart(target, name)
	}
}

// apart rewords an error in a pattern. name is the expression that was destructured.
func (w *errorContext) apart(target ast.Expression, name string) {
	switch t := target.(type) {
	case *ast.ArrayPattern:
		if w.iterates() {
			w.better = name + orPart(t.Elements) + " is not iterable"
		}
	case *ast.ObjectPattern:
		inner := make([]ast.Expression, len(t.Properties))
		for i, p := range t.Properties {
			inner[i] = p
		}
		part := orPart(inner)
		switch {
		case w.uncoercible() && part == "" && len(inner) > 0:
			property := propertyName(t.Properties[0])
			w.better = fmt.Sprintf("Cannot destructure property '%s' of %s as it is undefined or null", property, name)
		case w.uncoercible():
			w.better = fmt.Sprintf("Cannot destructure %s%s as it is undefined or null", name, part)
		case w.iterates():
			w.better = "a part of " + name + " is not iterable"
		}
	}
}

// orPart returns a phrase that includes the parts of a value, if a pattern contains other
// patterns.
func orPart(inner []ast.Expression) string {
	for _, e := range inner {
		if keyed, ok := e.(*ast.PropertyKeyed); ok {
			e = keyed.Value
		}
		if assigned, ok := e.(*ast.AssignExpression); ok {
			e = assigned.Left
		}
		if binding, ok := e.(*ast.Binding); ok {
			e = binding.Target
		}
		switch e.(type) {
		case *ast.ArrayPattern, *ast.ObjectPattern:
			return ", or a part of it,"
		}
	}
	return ""
}

func propertyName(p ast.Property) string {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name.String()
	case *ast.PropertyKeyed:
		return strings.Trim(key(p.Key), "'")
	}
	return "…"
}

func (w *errorContext) loop(n *ast.ForOfStatement) {
	if n.Source.Idx0() != w.at {
		return
	}
	name := shown(n.Source)
	into := n.Into
	switch declared := into.(type) {
	case *ast.ForDeclaration:
		w.element(declared.Target, name)
	case *ast.ForIntoVar:
		w.element(declared.Binding.Target, name)
	case *ast.ForIntoExpression:
		w.element(declared.Expression, name)
	}
}

// element rewords errors in the head of a for…of loop.
func (w *errorContext) element(target ast.Expression, list string) {
	_, isArray := target.(*ast.ArrayPattern)
	switch {
	case w.iterates() && isArray:
		w.better = list + ", or an element of it, is not iterable"
	case w.iterates():
		w.better = list + " is not iterable"
	default:
		w.apart(target, "an element of "+list)
	}
}

func (w *errorContext) spread(n *ast.SpreadElement) {
	if n.Expression.Idx0() == w.at && w.iterates() {
		w.better = shown(n.Expression) + " is not iterable"
	}
}

func (w *errorContext) parameters(function ast.Expression, list *ast.ParameterList) {
	if function.Idx0() != w.at || list == nil {
		return
	}
	patterns := 0
	for _, p := range list.List {
		if _, plain := p.Target.(*ast.Identifier); !plain {
			patterns++
		}
	}
	for i, p := range list.List {
		if _, plain := p.Target.(*ast.Identifier); !plain && patterns == 1 {
			w.apart(p.Target, fmt.Sprintf("argument %d", i+1))
		}
	}
}

// maxShown bounds the length of expressions in messages.
const maxShown = 60

// shown returns an expression as V8 shows it in messages.
func shown(e ast.Expression) string {
	if text := expressionText(e); len(text) <= maxShown {
		return text
	}
	return intermediate
}

const intermediate = "(intermediate value)"

func expressionText(e ast.Expression) string {
	switch e := e.(type) {
	case *ast.Identifier:
		return e.Name.String()
	case *ast.ThisExpression:
		return "this"
	case *ast.SuperExpression:
		return "super"
	case *ast.ArrayLiteral:
		return "[...]"
	case *ast.ObjectLiteral:
		return "{...}"
	case *ast.StringLiteral:
		return e.Literal
	case *ast.NumberLiteral:
		return e.Literal
	case *ast.NullLiteral:
		return "null"
	case *ast.BooleanLiteral:
		return e.Literal
	case *ast.DotExpression:
		return expressionText(e.Left) + "." + e.Identifier.Name.String()
	case *ast.BracketExpression:
		return expressionText(e.Left) + "[" + expressionText(e.Member) + "]"
	case *ast.CallExpression:
		return expressionText(e.Callee) + "(...)"
	case *ast.OptionalChain:
		return expressionText(e.Expression)
	case *ast.Optional:
		return expressionText(e.Expression)
	case *ast.AwaitExpression:
		return "(await " + expressionText(e.Argument) + ")"
	}
	return intermediate
}

// SkipSuper removes calls of super(…) from the top of a stack, so that an error of a class
// of the program is located where it is thrown.
func (s *Source) SkipSuper(frames []Frame) []Frame {
	supers := map[file.Idx]bool{}
	s.look(func(n ast.Node) {
		if call, ok := n.(*ast.CallExpression); ok {
			if _, ok := call.Callee.(*ast.SuperExpression); ok {
				supers[call.LeftParenthesis] = true
			}
		}
	})
	for len(frames) > 1 && supers[s.idx(frames[0].Line, frames[0].Column)] {
		frames = frames[1:]
	}
	return frames
}
