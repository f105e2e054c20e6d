package check

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// Walk visits n and everything below it, in the order of the source as far as
// that matters; goja's AST has no visitor of its own. Member names and labels
// are not visited: they refer to nothing.
func Walk(n ast.Node, visit func(ast.Node)) {
	w := Walker{Visit: visit}
	w.node(n)
}

// Walker visits nodes as [Walk] does, and knows where it is.
type Walker struct {
	Visit          func(ast.Node)
	Lent           func(*ast.FunctionLiteral) // called after a function whose arguments an arrow function uses; may be nil
	depth, deepest int
	awaits         bool // whether the function around the node is async, and the node not in its parameters
	functions      int  // around the node; goja's places say nothing of that: they count two bytes for each character of some names

	arrows     int    // arrow functions around the node, within its function
	lent       bool   // whether one of them uses the arguments of the function
	block      *block // around the node; nil for a walk that needs no names
	uncertain  int    // expressions and statements around the node that need not be executed
	kind       kind   // of the bindings that are walked
	numbered   int    // functions so far
	references []reference
	variables  []*variable // as they are declared
	fresh      []*variable // of these, those whose initializers are still to be walked
}

// Walk visits a node and everything below it.
func (w *Walker) Walk(n ast.Node) { w.node(n) }

// Awaits reports whether there may be an await at the node that is visited.
func (w *Walker) Awaits() bool { return w.awaits }

func (w *Walker) node(n ast.Node) {
	if n == nil {
		return
	}
	w.depth++
	defer w.leave()
	if id, ok := n.(*ast.Identifier); ok {
		w.refer(id)
	}
	w.Visit(n)
	switch n := n.(type) {
	case ast.Statement:
		w.statement(n)
	case ast.Expression:
		w.expression(n)
	case ast.ClassElement:
		w.classElement(n)
	default:
		w.part(n)
	}
}

func (w *Walker) refer(id *ast.Identifier) {
	w.lent = w.lent || w.arrows > 0 && id.Name == "arguments"
	if w.block != nil {
		w.references = append(w.references, reference{id, w.block, w.uncertain})
	}
}

func (w *Walker) leave() {
	w.deepest = max(w.deepest, w.depth)
	w.depth--
}

func (w *Walker) expression(e ast.Expression) {
	switch e := e.(type) {
	case *ast.CallExpression:
		w.node(e.Callee)
		w.exprs(e.ArgumentList)
	case *ast.NewExpression:
		w.node(e.Callee)
		w.exprs(e.ArgumentList)
	case *ast.DotExpression:
		w.node(e.Left)
	case *ast.PrivateDotExpression:
		w.node(e.Left)
	case *ast.BracketExpression:
		w.node(e.Left)
		w.node(e.Member)
	case *ast.OptionalChain:
		w.node(e.Expression)
	case *ast.Optional:
		w.node(e.Expression)
	case *ast.AssignExpression:
		w.node(e.Left)
		w.perhaps(e.Right, Conditional(e.Operator))
	case *ast.BinaryExpression:
		w.node(e.Left)
		w.perhaps(e.Right, Conditional(e.Operator))
	case *ast.UnaryExpression:
		w.node(e.Operand)
	case *ast.ConditionalExpression:
		w.node(e.Test)
		w.perhaps(e.Consequent, true)
		w.perhaps(e.Alternate, true)
	case *ast.SequenceExpression:
		w.exprs(e.Sequence)
	case *ast.AwaitExpression:
		w.expr(e.Argument)
	case *ast.YieldExpression:
		w.expr(e.Argument)
	case *ast.SpreadElement:
		w.node(e.Expression)
	case *ast.TemplateLiteral:
		w.expr(e.Tag)
		w.exprs(e.Expressions)
	default:
		w.compound(e)
	}
}

func (w *Walker) compound(e ast.Expression) {
	switch e := e.(type) {
	case *ast.ArrayLiteral:
		w.exprs(e.Value)
	case *ast.ArrayPattern:
		w.exprs(e.Elements)
		w.expr(e.Rest)
	case *ast.ObjectLiteral:
		w.properties(e.Value)
	case *ast.ObjectPattern:
		w.properties(e.Properties)
		w.expr(e.Rest)
	case *ast.PropertyShort:
		w.node(&e.Name)
		w.expr(e.Initializer)
	case *ast.PropertyKeyed:
		w.node(e.Key)
		w.expr(e.Value)
	case *ast.Binding:
		first := len(w.fresh)
		w.pattern(e.Target, w.kind, e.Initializer)
		w.initialize(first, e.Initializer)
	case *ast.FunctionLiteral:
		w.function(e)
	case *ast.ArrowFunctionLiteral:
		w.arrows++
		outer := w.enter(e.ParameterList, e.Async)
		w.node(e.Body)
		w.exit(outer)
		w.arrows--
	case *ast.ClassLiteral:
		w.class(e)
	}
}

// function walks a function, which sees its own name.
func (w *Walker) function(e *ast.FunctionLiteral) {
	outer, arrows, lent := w.block, w.arrows, w.lent
	w.arrows, w.lent = 0, false
	if w.names(e.Name) {
		w.open()
		w.declareName(e.Name, given)
	}
	awaits := w.enter(e.ParameterList, e.Async)
	w.blockStatement(e.Body)
	w.exit(awaits)
	if w.lent && w.Lent != nil {
		w.Lent(e)
	}
	w.block, w.arrows, w.lent = outer, arrows, lent
}

// class walks a class, which sees its own name.
func (w *Walker) class(e *ast.ClassLiteral) {
	if w.names(e.Name) {
		w.open()
		defer w.close()
		v := w.declare(e.Name, variable{kind: lexical})
		defer w.initialized(v)
	}
	w.expr(e.SuperClass)
	for _, element := range e.Body {
		w.node(element)
	}
}

func (w *Walker) classDeclaration(e *ast.ClassLiteral) {
	v := w.declare(e.Name, variable{kind: lexical})
	w.node(e)
	w.initialized(v)
}

// perhaps walks an operand which, if it is conditional, need not be evaluated.
func (w *Walker) perhaps(e ast.Expression, isConditional bool) {
	outer := w.uncertain
	if isConditional {
		w.uncertain++
	}
	w.expr(e)
	w.uncertain = outer
}

// branch walks a statement that need not be executed.
func (w *Walker) branch(s ast.Statement) {
	w.uncertain++
	w.stmt(s)
	w.uncertain--
}

// enter visits the parameters of a function, and tells of what is around it.
func (w *Walker) enter(p *ast.ParameterList, async bool) (awaits bool) {
	awaits, w.awaits = w.awaits, false
	w.functions++
	w.openFunction()
	w.parameters(p)
	w.awaits = async
	return awaits
}

func (w *Walker) exit(awaits bool) {
	w.close()
	w.functions--
	w.awaits = awaits
}

func (w *Walker) classElement(e ast.ClassElement) {
	switch e := e.(type) {
	case *ast.FieldDefinition:
		w.expr(e.Key)
		w.openFunction()
		w.expr(e.Initializer)
		w.close()
	case *ast.MethodDefinition:
		w.expr(e.Key)
		w.node(e.Body)
	case *ast.ClassStaticBlock:
		w.openFunction()
		w.blockStatement(e.Block)
		w.close()
	}
}

// part visits what is neither statement nor expression.
func (w *Walker) part(n ast.Node) {
	switch n := n.(type) {
	case *ast.ExpressionBody:
		w.node(n.Expression)
	case *ast.ForLoopInitializerExpression:
		w.node(n.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		w.bindings(n.List, hoisted)
	case *ast.ForLoopInitializerLexicalDecl:
		w.bindings(n.LexicalDeclaration.List, kindOf(n.LexicalDeclaration.Token == token.CONST))
	case *ast.ForIntoVar:
		w.bindings([]*ast.Binding{n.Binding}, hoisted)
	case *ast.ForDeclaration:
		w.pattern(n.Target, kindOf(n.IsConst), nil)
	case *ast.ForIntoExpression:
		w.node(n.Expression)
	}
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
		w.node(s)
	}
}

func (w *Walker) stmt(s ast.Statement) {
	if s != nil {
		w.node(s)
	}
}

func (w *Walker) expr(e ast.Expression) {
	if e != nil {
		w.node(e)
	}
}

func (w *Walker) exprs(list []ast.Expression) {
	for _, e := range list {
		w.expr(e)
	}
}

func (w *Walker) properties(list []ast.Property) {
	for _, p := range list {
		w.node(p)
	}
}

func (w *Walker) bindings(list []*ast.Binding, k kind) {
	for _, b := range list {
		w.kind = k
		w.node(b)
	}
}

func (w *Walker) parameters(p *ast.ParameterList) {
	if p != nil {
		w.bindings(p.List, given)
		if p.Rest != nil {
			w.pattern(p.Rest, given, nil)
		}
	}
}

// Conditional reports whether the right operand of an operator need not be evaluated.
func Conditional(operator token.Token) bool {
	return operator == token.LOGICAL_AND || operator == token.LOGICAL_OR || operator == token.COALESCE
}
