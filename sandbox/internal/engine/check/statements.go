package check

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

func (w *Walker) statement(s ast.Statement) {
	switch s := s.(type) {
	case *ast.BlockStatement:
		w.blockStatement(s)
	case *ast.ExpressionStatement:
		w.node(s.Expression)
	case *ast.VariableStatement:
		w.bindings(s.List, hoisted)
	case *ast.LexicalDeclaration:
		w.bindings(s.List, kindOf(s.Token == token.CONST))
	case *ast.FunctionDeclaration:
		w.declareName(s.Function.Name, given)
		w.node(s.Function)
	case *ast.ClassDeclaration:
		w.classDeclaration(s.Class)
	case *ast.IfStatement:
		w.expr(s.Test)
		w.branch(s.Consequent)
		w.branch(s.Alternate)
	case *ast.ReturnStatement:
		w.expr(s.Argument)
	case *ast.ThrowStatement:
		w.expr(s.Argument)
	case *ast.TryStatement:
		w.try(s)
	case *ast.SwitchStatement:
		w.cases(s)
	case *ast.LabelledStatement:
		w.node(s.Statement)
	default:
		w.loop(s)
	}
}

func (w *Walker) loop(s ast.Statement) {
	switch s := s.(type) {
	case *ast.ForStatement:
		w.open()
		if s.Initializer != nil {
			w.node(s.Initializer)
		}
		w.expr(s.Test)
		w.perhaps(s.Update, true)
		w.branch(s.Body)
		w.close()
	case *ast.ForOfStatement:
		w.forInto(s.Into, s.Source, s.Body)
	case *ast.ForInStatement:
		w.forInto(s.Into, s.Source, s.Body)
	case *ast.WhileStatement:
		w.expr(s.Test)
		w.branch(s.Body)
	case *ast.DoWhileStatement:
		w.node(s.Body)
		w.expr(s.Test)
	case *ast.WithStatement:
		w.expr(s.Object)
		w.node(s.Body)
	}
}

func (w *Walker) forInto(into ast.ForInto, source ast.Expression, body ast.Statement) {
	w.open()
	first := len(w.fresh)
	w.node(into)
	w.initialize(first, source)
	w.branch(body)
	w.close()
}

func (w *Walker) cases(s *ast.SwitchStatement) {
	w.expr(s.Discriminant)
	w.open()
	for _, c := range s.Body {
		w.perhaps(c.Test, true)
		w.uncertain++
		w.statements(c.Consequent)
		w.uncertain--
	}
	w.close()
}

func (w *Walker) try(s *ast.TryStatement) {
	if s.Catch == nil {
		w.blockStatement(s.Body)
	} else {
		w.branch(s.Body)
		w.uncertain++
		w.open()
		if s.Catch.Parameter != nil {
			w.pattern(s.Catch.Parameter, given, nil)
		}
		w.blockStatement(s.Catch.Body)
		w.close()
		w.uncertain--
	}
	w.blockStatement(s.Finally)
}
