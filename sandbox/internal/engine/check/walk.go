package check

import (
	"reflect"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// Walker visits the nodes of a syntax tree, because goja has no visitor. Where the order matters, it visits nodes in
// the order of the source. It keeps track of the blocks and functions around a node. It does not visit member names and
// labels, because they do not refer to variables.
type Walker struct {
	Visit func(ast.Node)

	// ArrowInDefault, if not nil, is called for each function whose parameters contain an arrow function that uses the
	// function's arguments, which goja cannot compile.
	ArrowInDefault func(*ast.FunctionLiteral)

	functions int // the number of functions around the node

	arrows        int    // the number of arrow functions around the node, within the innermost ordinary function
	usesArguments bool   // one of these arrow functions uses the arguments of the function
	block         *block // the block around the node; nil if names are not resolved
	conditional   int    // the number of conditional expressions and statements around the node
	kind          kind   // the kind of the bindings that are being walked
	numbered      int    // the number of visited functions
	references    []reference
	variables     []*variable // in the order of their declarations
	fresh         []*variable // variables whose initializers have not been walked yet
}

// Walk visits a node and everything below it.
func (w *Walker) Walk(n ast.Node) {
	if n == nil {
		return
	}
	if id, ok := n.(*ast.Identifier); ok {
		w.refer(id)
	}
	w.Visit(n)
	if !w.scope(n) && !w.branches(n) && !w.declares(n) {
		w.children(n)
	}
}

func (w *Walker) refer(id *ast.Identifier) {
	w.usesArguments = w.usesArguments || w.arrows > 0 && id.Name == "arguments"
	if w.block != nil {
		w.references = append(w.references, reference{id, w.block, w.conditional})
	}
}

// unvisited are the types of fields without operands: label names and template strings.
var unvisited = []reflect.Type{reflect.TypeFor[*ast.Identifier](), reflect.TypeFor[[]*ast.TemplateElement]()}

// children walks the nodes in a node's fields.
func (w *Walker) children(n ast.Node) {
	fields := reflect.ValueOf(n).Elem()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if slices.Contains(unvisited, field.Type()) {
			continue
		}
		if child, ok := field.Interface().(ast.Node); ok {
			w.Walk(child)
		} else if field.Kind() == reflect.Slice {
			for j := range field.Len() {
				if child, ok := field.Index(j).Interface().(ast.Node); ok {
					w.Walk(child)
				}
			}
		}
	}
}

// scope walks a node that opens a block, and reports whether n is such a node.
func (w *Walker) scope(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStatement:
		w.blockStatement(n)
	case *ast.ForStatement:
		w.open()
		if n.Initializer != nil {
			w.Walk(n.Initializer)
		}
		w.expr(n.Test)
		w.branch(n.Update)
		w.branch(n.Body)
		w.close()
	case *ast.ForOfStatement:
		w.forInto(n.Into, n.Source, n.Body)
	case *ast.ForInStatement:
		w.forInto(n.Into, n.Source, n.Body)
	case *ast.SwitchStatement:
		w.cases(n)
	case *ast.TryStatement:
		w.try(n)
	case *ast.FunctionLiteral:
		w.function(n)
	case *ast.ArrowFunctionLiteral:
		w.arrows++
		w.enter(n.ParameterList)
		w.Walk(n.Body)
		w.exit()
		w.arrows--
	case *ast.ClassLiteral:
		w.class(n)
	case *ast.FieldDefinition:
		w.expr(n.Key)
		w.openFunction()
		w.expr(n.Initializer)
		w.close()
	case *ast.ClassStaticBlock:
		w.openFunction()
		w.blockStatement(n.Block)
		w.close()
	default:
		return false
	}
	return true
}

// branches walks a node with parts that may not be executed, and reports whether n is such a node.
func (w *Walker) branches(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignExpression:
		w.Walk(n.Left)
		w.operand(n.Right, n.Operator)
	case *ast.BinaryExpression:
		w.Walk(n.Left)
		w.operand(n.Right, n.Operator)
	case *ast.ConditionalExpression:
		w.Walk(n.Test)
		w.branch(n.Consequent)
		w.branch(n.Alternate)
	case *ast.IfStatement:
		w.Walk(n.Test)
		w.branch(n.Consequent)
		w.branch(n.Alternate)
	case *ast.WhileStatement:
		w.Walk(n.Test)
		w.branch(n.Body)
	default:
		return false
	}
	return true
}

// declares walks a node that declares names, and reports whether n is such a node.
func (w *Walker) declares(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.VariableStatement:
		w.bindings(n.List, hoisted)
	case *ast.LexicalDeclaration:
		w.bindings(n.List, kindOf(n.Token == token.CONST))
	case *ast.ForLoopInitializerVarDeclList:
		w.bindings(n.List, hoisted)
	case *ast.ForLoopInitializerLexicalDecl:
		w.bindings(n.LexicalDeclaration.List, kindOf(n.LexicalDeclaration.Token == token.CONST))
	case *ast.ForIntoVar:
		w.bindings([]*ast.Binding{n.Binding}, hoisted)
	case *ast.ForDeclaration:
		w.pattern(n.Target, kindOf(n.IsConst), nil)
	case *ast.FunctionDeclaration:
		w.declareName(n.Function.Name, given)
		w.Walk(n.Function)
	case *ast.ClassDeclaration:
		v := w.declare(n.Class.Name, variable{kind: lexical})
		w.Walk(n.Class)
		w.initialized(v)
	case *ast.PropertyShort:
		w.Walk(&n.Name)
		w.expr(n.Initializer)
	case *ast.Binding:
		first := len(w.fresh)
		w.pattern(n.Target, w.kind, n.Initializer)
		w.initialize(first, n.Initializer)
	default:
		return false
	}
	return true
}

// function walks a function, which can refer to its own name.
func (w *Walker) function(e *ast.FunctionLiteral) {
	outer, arrows, usesArguments := w.block, w.arrows, w.usesArguments
	w.arrows, w.usesArguments = 0, false
	if w.hasOwnName(e.Name) {
		w.open()
		w.declareName(e.Name, given)
	}
	w.enter(e.ParameterList)
	if w.usesArguments && w.ArrowInDefault != nil {
		w.ArrowInDefault(e)
	}
	w.blockStatement(e.Body)
	w.exit()
	if w.usesArguments {
		mentionArguments(e)
	}
	w.block, w.arrows, w.usesArguments = outer, arrows, usesArguments
}

// class walks a class, which can refer to its own name.
func (w *Walker) class(e *ast.ClassLiteral) {
	if w.hasOwnName(e.Name) {
		w.open()
		defer w.close()
		v := w.declare(e.Name, variable{kind: lexical})
		defer w.initialized(v)
	}
	w.expr(e.SuperClass)
	for _, element := range e.Body {
		w.Walk(element)
	}
}

// operand walks the right operand of an operator.
func (w *Walker) operand(e ast.Expression, operator token.Token) {
	if Conditional(operator) {
		w.branch(e)
	} else {
		w.expr(e)
	}
}

// branch walks an expression or a statement that may not be executed.
func (w *Walker) branch(n ast.Node) {
	w.conditional++
	w.Walk(n)
	w.conditional--
}

// enter enters a function and walks its parameters.
func (w *Walker) enter(p *ast.ParameterList) {
	w.functions++
	w.openFunction()
	if p != nil {
		w.bindings(p.List, given)
		if p.Rest != nil {
			w.pattern(p.Rest, given, nil)
		}
	}
}

func (w *Walker) exit() {
	w.close()
	w.functions--
}

func (w *Walker) forInto(into ast.ForInto, source ast.Expression, body ast.Statement) {
	w.open()
	first := len(w.fresh)
	w.Walk(into)
	w.initialize(first, source)
	w.branch(body)
	w.close()
}

func (w *Walker) cases(s *ast.SwitchStatement) {
	w.expr(s.Discriminant)
	w.open()
	w.conditional++
	for _, c := range s.Body {
		w.expr(c.Test)
		w.statements(c.Consequent)
	}
	w.conditional--
	w.close()
}

func (w *Walker) try(s *ast.TryStatement) {
	if s.Catch == nil {
		w.blockStatement(s.Body)
	} else {
		w.conditional++
		w.open()
		if w.block != nil {
			w.block.try = &handler{s.Idx0(), s.Idx1()}
		}
		w.Walk(s.Body)
		w.close()
		w.open()
		if s.Catch.Parameter != nil {
			w.pattern(s.Catch.Parameter, given, nil)
		}
		w.blockStatement(s.Catch.Body)
		w.close()
		w.conditional--
	}
	w.blockStatement(s.Finally)
}

func (w *Walker) blockStatement(b *ast.BlockStatement) {
	if b != nil {
		w.open()
		w.statements(b.List)
		w.close()
	}
}

func (w *Walker) statements(list []ast.Statement) {
	for _, s := range list {
		w.Walk(s)
	}
}

func (w *Walker) expr(e ast.Expression) {
	if e != nil {
		w.Walk(e)
	}
}

func (w *Walker) bindings(list []*ast.Binding, k kind) {
	for _, b := range list {
		w.kind = k
		w.Walk(b)
	}
}

// Conditional reports whether an operator may skip its right operand, as && does.
func Conditional(operator token.Token) bool {
	return operator == token.LOGICAL_AND || operator == token.LOGICAL_OR || operator == token.COALESCE
}
