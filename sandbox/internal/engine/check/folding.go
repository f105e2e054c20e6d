package check

import (
	"math/big"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// goja's compiler evaluates constants, and takes exponential time for some of them: the left
// side of a chain of logical operators, and constants that throw, such as +1n. Nothing can
// stop it at 9n ** 9n ** 9n. An expression in a sequence of one is not a constant for it,
// and has the same value.

// preventFolding keeps the compiler from evaluating an expression that may take too long.
func preventFolding(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpression:
		if Conditional(n.Operator) || n.Operator == token.IN || n.Operator == token.INSTANCEOF {
			if isConstant(n.Left) {
				n.Left = notConstant(n.Left)
			}
			return
		}
		if isBig(n.Left) {
			n.Left = notConstant(n.Left)
		}
		if isBig(n.Right) {
			n.Right = notConstant(n.Right)
		}
	case *ast.UnaryExpression:
		if n.Operator != token.MINUS && isBig(n.Operand) {
			n.Operand = notConstant(n.Operand)
		}
	}
}

func notConstant(e ast.Expression) ast.Expression {
	return &ast.SequenceExpression{Sequence: []ast.Expression{e}}
}

// isConstant reports whether the compiler takes an expression for a constant.
func isConstant(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.TemplateLiteral:
		return true
	case *ast.UnaryExpression:
		return isConstant(e.Operand)
	case *ast.BinaryExpression:
		return !Conditional(e.Operator) && isConstant(e.Left) && isConstant(e.Right)
	}
	return false
}

// isBig reports whether an expression is a BigInt, perhaps with unary operators.
func isBig(e ast.Expression) bool {
	for {
		unary, ok := e.(*ast.UnaryExpression)
		if !ok {
			break
		}
		e = unary.Operand
	}
	number, ok := e.(*ast.NumberLiteral)
	if !ok {
		return false
	}
	_, ok = number.Value.(*big.Int)
	return ok
}
