package engine

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/writ-go/writ/sandbox/internal/check"
)

// fileName is what a program is called in stack traces: those of a session are
// numbered, as functions of one may be called by another.
func fileName(s *SessionJob) string {
	if s == nil {
		return "program.js"
	}
	return "program-" + strconv.Itoa(s.Step+1) + ".js"
}

// The program becomes the body of a function, for the sake of top-level return;
// of an async one if it awaits at top level, which costs a promise and all that
// belongs to it. That is known only when it has been parsed as one. On one line, so
// that line numbers stay what they were.
const (
	prologue = `(async()=>{"use strict";`
	epilogue = "\n})()"
)

// program is a parsed source. Once compiled it does not change, so that several
// runs may share it.
type program struct {
	name   string // in stack traces
	source *source
	*check.Outline
	gives         bool            // whether it says what its value is
	functionKinds []*goja.Program // samples of what occurs besides ordinary functions

	ast  *ast.Program
	body []ast.Statement // of the wrapping function, that are the program's own
	once sync.Once
	code *goja.Program
	bad  *Failure // why there is no code
}

// parse parses a program twice: first with a parser that survives any input, and only
// what that accepts with goja's. The program is compiled later.
func parse(e edition) (*program, *Failure) {
	text := e.text
	if strings.HasPrefix(text, "#!") { // a comment elsewhere; goja does not know it
		text = "//" + text[2:]
	}
	src := newSource(text)
	if strings.HasPrefix(strings.TrimSpace(text), "```") { // which is JavaScript: a tagged template
		return nil, &Failure{Kind: Syntax, Message: "the program is in a code fence", Hint: "leave out the lines with ```", Pos: src.pos(strings.Index(text, "`"))}
	}
	pre, failure := survive(src)
	if failure != nil {
		return nil, failure
	}
	if e.session {
		if pre.refused != nil {
			return nil, preflightFailure(src, pre.refused)
		}
		src.prologue += exporter(declarations(pre.tree))
	}
	src.renamed = pre.renamed
	tree, err := src.parse(e.name)
	switch {
	case err != nil && pre.refused != nil:
		return nil, preflightFailure(src, pre.refused)
	case err != nil:
		return nil, syntaxFailure(src, err, pre.unsupported)
	}
	p, failure := newProgram(e, src, tree)
	if p == nil && pre.refused != nil {
		return nil, preflightFailure(src, pre.refused)
	}
	return p, failure
}

// newProgram takes the function that wraps a program.
func newProgram(e edition, src *source, tree *ast.Program) (*program, *Failure) {
	wrapper := wrapperOf(tree)
	if wrapper == nil {
		return nil, &Failure{Kind: Syntax, Message: "the program closes a bracket that it did not open"}
	}
	first := 1 // its own statement, behind "use strict"
	if e.session {
		first++
	}
	p := &program{name: e.name, source: src, ast: tree, body: wrapper.Body.(*ast.BlockStatement).List[first:]}
	p.gives = p.returnLast() // before the survey: what is returned is awaited
	p.Outline = check.Survey(p.body, check.Options{Words: e.words, Pos: src.fromIdx, Leave: unfold, Lent: lendArguments})
	src.callees = p.Callees
	p.gives = p.gives || p.Returns
	if p.With != 0 { // the compiler would say so too, but it makes names of members
		return p, &Failure{Kind: Syntax, Message: "with cannot be used: programs run in strict mode", Hint: "write the object before each of its members", Pos: src.fromIdx(p.With)}
	}
	wrapper.Async = p.Awaits
	p.functionKinds = kindsIn(src.text, p.Awaits)
	return p, nil
}

var errPanic = errors.New("the parser cannot make sense of this")

// parseByGoja parses, and takes a panic of the parser, which fuzzing has found,
// for a syntax error.
func parseByGoja(name, text string) (tree *ast.Program, err error) {
	defer func() {
		if recover() != nil {
			tree, err = nil, errPanic
		}
	}()
	return parser.ParseFile(nil, name, text, 0, parser.WithDisableSourceMaps)
}

// kindsIn returns samples of the kinds of function that a text may have besides
// ordinary ones. It looks for what they cannot be written without: a visitor of
// the syntax tree may miss some.
func kindsIn(text string, wrappedAsync bool) []*goja.Program {
	var kinds []*goja.Program
	if wrappedAsync || strings.Contains(text, "async") {
		kinds = append(kinds, asyncFunction)
	}
	if strings.Contains(text, "*") {
		kinds = append(kinds, generatorFunction)
	}
	return kinds
}

// wrapperOf returns the function that wraps the program, if that is all there is.
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

// returnLast makes the value of a final expression the value of the program, and
// reports whether there is one.
func (p *program) returnLast() bool {
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

// compile makes goja bytecode of the program, once.
func (p *program) compile() (*goja.Program, *Failure) {
	p.once.Do(func() {
		p.bad = &Failure{Kind: Crashed, Message: "the compiler cannot make sense of this"} // should it panic
		defer func() { _ = recover() }()
		code, err := goja.CompileAST(p.ast, false)
		if err != nil {
			p.bad = syntaxFailure(p.source, err, "")
			return
		}
		p.code, p.bad = code, nil
		p.ast, p.body = nil, nil
	})
	return p.code, p.bad
}
