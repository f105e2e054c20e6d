package check

import (
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// The program becomes a function body, so that it can return. The function is parsed as an async function, because only
// the outline shows whether the program awaits. If the program does not await, the function is not async when it runs,
// because an async function costs a promise. The prologue is on the first line of the program, so that line numbers do
// not change.
const (
	prologue = `(async()=>{"use strict";`
	epilogue = "\n})()"
)

// Program is a program after parsing: its syntax tree and its [Outline].
type Program struct {
	Name string // the program's name in stack traces
	*Source
	*Outline
	HasValue bool // the program returns a value, or throws at its end
	AST      *ast.Program

	body []ast.Statement // the statements of the program
}

// ParseOptions are the options for [Parse].
type ParseOptions struct {
	Name    string // the program's name in stack traces
	Words   bool   // record every name, to look for forbidden ones
	Session bool   // export the top-level declarations
}

// Parse parses a program with two parsers. The first parser survives any input. The second is goja's parser, which
// Parse does not call if [runPreflight] returns a failure.
func Parse(text string, o ParseOptions) (*Program, *engine.Failure) {
	if strings.HasPrefix(text, "#!") { // goja does not know this kind of comment
		text = "//" + text[2:]
	}
	src := newSource(text)
	if strings.HasPrefix(strings.TrimSpace(text), "```") { // a code fence is valid JavaScript: a tagged template
		at := src.Pos(strings.Index(text, "`"))
		return nil, syntaxFailure("the program is in a code fence", "leave out the lines with ```", at)
	}
	pre, failure := runPreflight(src)
	if failure != nil {
		return nil, failure
	}
	if o.Session {
		if pre.refused != nil {
			return nil, preflightFailure(src, pre.refused)
		}
		src.prologue += exporter(declarations(pre.tree))
	}
	src.Acts = pre.acts
	tree, err := src.parse(o.Name)
	switch {
	case err != nil && pre.refused != nil:
		return nil, preflightFailure(src, pre.refused)
	case err != nil:
		return nil, src.parseFailure(err, pre.unsupported)
	}
	p, failure := newProgram(o, src, tree)
	if p == nil && pre.refused != nil {
		return nil, preflightFailure(src, pre.refused)
	}
	return p, failure
}

// newProgram surveys the program in a parsed tree.
func newProgram(o ParseOptions, src *Source, tree *ast.Program) (*Program, *engine.Failure) {
	wrapper := wrapperOf(tree)
	if wrapper == nil {
		return nil, syntaxFailure("the program closes a bracket that it did not open", "", engine.Pos{})
	}
	first := 1 // the first statement after "use strict"
	if o.Session {
		first++
	}
	p := &Program{Name: o.Name, Source: src, AST: tree, body: wrapper.Body.(*ast.BlockStatement).List[first:]}
	p.HasValue = p.returnLast() // before the survey, because a returned promise counts as awaited
	p.Outline = survey(p.body, o.Words, src.fromIdx)
	src.callees = p.Callees
	p.HasValue = p.HasValue || p.Returns
	if p.With != 0 { // report it here: the check would take a member for an undeclared name
		return p, syntaxFailure("with cannot be used: programs run in strict mode",
			"write the object before each of its members", src.fromIdx(p.With))
	}
	wrapper.Async = p.Awaits
	return p, nil
}

var errPanic = errors.New("the parser cannot make sense of this")

// parseByGoja parses text with goja's parser. There are inputs on which that parser panics. parseByGoja reports them as
// syntax errors.
func parseByGoja(name, text string) (tree *ast.Program, err error) {
	defer func() {
		if recover() != nil {
			tree, err = nil, errPanic
		}
	}()
	return parser.ParseFile(nil, name, text, 0, parser.WithDisableSourceMaps)
}

// wrapperOf returns the function around the program, or nil if the tree has other code outside of that function.
func wrapperOf(tree *ast.Program) *ast.ArrowFunctionLiteral {
	if len(tree.Body) != 1 {
		return nil
	}
	statement, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	call, ok := statement.Expression.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) != 0 {
		return nil
	}
	arrow, ok := call.Callee.(*ast.ArrowFunctionLiteral)
	if !ok {
		return nil
	}
	if _, ok := arrow.Body.(*ast.BlockStatement); !ok {
		return nil
	}
	return arrow
}

// Release drops the syntax tree, which is not needed once the program is compiled.
func (p *Program) Release() { p.AST, p.body = nil, nil }

// returnLast turns a final expression statement into a return statement. It reports
// whether the program then returns or throws at its end.
func (p *Program) returnLast() bool {
	for i, statement := range slices.Backward(p.body) {
		switch last := statement.(type) {
		case *ast.EmptyStatement, *ast.FunctionDeclaration, *ast.ClassDeclaration:
			continue
		case *ast.ExpressionStatement:
			p.body[i] = &ast.ReturnStatement{Return: last.Idx0(), Argument: last.Expression}
			return true
		case *ast.ReturnStatement, *ast.ThrowStatement:
			return true
		}
		return false
	}
	return false
}
