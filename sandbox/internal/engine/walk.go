package engine

import "github.com/dop251/goja/ast"

// walk visits n and everything below it, in the order of the source as far as
// that matters; goja's AST has no visitor of its own. Member names and labels
// are not visited: they refer to nothing.
func walk(n ast.Node, visit func(ast.Node)) {
	w := walker{visit: visit}
	w.node(n)
}

// walker visits nodes as walk does, and knows where it is.
type walker struct {
	visit          func(ast.Node)
	depth, deepest int
	awaits         bool // whether the function around the node is async, and the node not in its parameters
	functions      int  // around the node; goja's places say nothing of that: they count two bytes for each character of some names
}

func (w *walker) node(n ast.Node) {
	if n == nil {
		return
	}
	w.depth++
	defer w.leave()
	w.visit(n)
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

func (w *walker) leave() {
	w.deepest = max(w.deepest, w.depth)
	w.depth--
}

func (w *walker) statement(s ast.Statement) {
	switch s := s.(type) {
	case *ast.BlockStatement:
		w.block(s)
	case *ast.ExpressionStatement:
		w.node(s.Expression)
	case *ast.VariableStatement:
		w.bindings(s.List)
	case *ast.LexicalDeclaration:
		w.bindings(s.List)
	case *ast.FunctionDeclaration:
		w.node(s.Function)
	case *ast.ClassDeclaration:
		w.node(s.Class)
	case *ast.IfStatement:
		w.expr(s.Test)
		w.node(s.Consequent)
		w.stmt(s.Alternate)
	case *ast.ReturnStatement:
		w.expr(s.Argument)
	case *ast.ThrowStatement:
		w.expr(s.Argument)
	case *ast.TryStatement:
		w.try(s)
	case *ast.SwitchStatement:
		w.expr(s.Discriminant)
		for _, c := range s.Body {
			w.expr(c.Test)
			w.statements(c.Consequent)
		}
	case *ast.LabelledStatement:
		w.node(s.Statement)
	default:
		w.loop(s)
	}
}

func (w *walker) loop(s ast.Statement) {
	switch s := s.(type) {
	case *ast.ForStatement:
		if s.Initializer != nil {
			w.node(s.Initializer)
		}
		w.expr(s.Test)
		w.expr(s.Update)
		w.node(s.Body)
	case *ast.ForOfStatement:
		w.node(s.Into)
		w.expr(s.Source)
		w.node(s.Body)
	case *ast.ForInStatement:
		w.node(s.Into)
		w.expr(s.Source)
		w.node(s.Body)
	case *ast.WhileStatement:
		w.expr(s.Test)
		w.node(s.Body)
	case *ast.DoWhileStatement:
		w.node(s.Body)
		w.expr(s.Test)
	case *ast.WithStatement:
		w.expr(s.Object)
		w.node(s.Body)
	}
}

func (w *walker) try(s *ast.TryStatement) {
	w.block(s.Body)
	if s.Catch != nil {
		if s.Catch.Parameter != nil {
			w.node(s.Catch.Parameter)
		}
		w.block(s.Catch.Body)
	}
	w.block(s.Finally)
}

func (w *walker) expression(e ast.Expression) {
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
		w.node(e.Right)
	case *ast.BinaryExpression:
		w.node(e.Left)
		w.node(e.Right)
	case *ast.UnaryExpression:
		w.node(e.Operand)
	case *ast.ConditionalExpression:
		w.node(e.Test)
		w.node(e.Consequent)
		w.node(e.Alternate)
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

func (w *walker) compound(e ast.Expression) {
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
		w.node(e.Target)
		w.expr(e.Initializer)
	case *ast.FunctionLiteral:
		outer := w.enter(e.ParameterList, e.Async)
		w.block(e.Body)
		w.exit(outer)
	case *ast.ArrowFunctionLiteral:
		outer := w.enter(e.ParameterList, e.Async)
		w.node(e.Body)
		w.exit(outer)
	case *ast.ClassLiteral:
		w.expr(e.SuperClass)
		for _, element := range e.Body {
			w.node(element)
		}
	}
}

// enter visits the parameters of a function, and tells of what is around it.
func (w *walker) enter(p *ast.ParameterList, async bool) (awaits bool) {
	awaits, w.awaits = w.awaits, false
	w.functions++
	w.parameters(p)
	w.awaits = async
	return awaits
}

func (w *walker) exit(awaits bool) {
	w.functions--
	w.awaits = awaits
}

func (w *walker) classElement(e ast.ClassElement) {
	switch e := e.(type) {
	case *ast.FieldDefinition:
		w.expr(e.Key)
		w.expr(e.Initializer)
	case *ast.MethodDefinition:
		w.expr(e.Key)
		w.node(e.Body)
	case *ast.ClassStaticBlock:
		w.block(e.Block)
	}
}

// part visits what is neither statement nor expression.
func (w *walker) part(n ast.Node) {
	switch n := n.(type) {
	case *ast.ExpressionBody:
		w.node(n.Expression)
	case *ast.ForLoopInitializerExpression:
		w.node(n.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		w.bindings(n.List)
	case *ast.ForLoopInitializerLexicalDecl:
		w.bindings(n.LexicalDeclaration.List)
	case *ast.ForIntoVar:
		w.node(n.Binding)
	case *ast.ForDeclaration:
		w.node(n.Target)
	case *ast.ForIntoExpression:
		w.node(n.Expression)
	}
}

func (w *walker) block(b *ast.BlockStatement) {
	if b != nil {
		w.statements(b.List)
	}
}

func (w *walker) statements(list []ast.Statement) {
	for _, s := range list {
		w.node(s)
	}
}

func (w *walker) stmt(s ast.Statement) {
	if s != nil {
		w.node(s)
	}
}

func (w *walker) expr(e ast.Expression) {
	if e != nil {
		w.node(e)
	}
}

func (w *walker) exprs(list []ast.Expression) {
	for _, e := range list {
		w.expr(e)
	}
}

func (w *walker) properties(list []ast.Property) {
	for _, p := range list {
		w.node(p)
	}
}

func (w *walker) bindings(list []*ast.Binding) {
	for _, b := range list {
		w.node(b)
	}
}

func (w *walker) parameters(p *ast.ParameterList) {
	if p != nil {
		w.bindings(p.List)
		w.expr(p.Rest)
	}
}
