package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	tdparse "github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
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
// belongs to it. On one line, so that line numbers stay what they were.
const (
	prologue      = `(()=>{"use strict";`
	asyncPrologue = `(async()=>{"use strict";`
	epilogue      = "\n})()"
)

// maxArrowDefaults bounds arrow functions nested in parameter defaults: goja's
// parser takes time exponential in them.
const maxArrowDefaults = 8

// program is a parsed source. Once compiled it does not change, so that several
// runs may share it.
type program struct {
	name   string // in stack traces
	source *source
	outline
	resolved   bool // whether the names are known
	undeclared map[string]bool
	declared   map[string]bool // anywhere, in any scope

	functionKinds []*goja.Program // samples of what occurs besides ordinary functions

	ast   *ast.Program
	body  *ast.BlockStatement // of the wrapping function
	first int                 // statement of it that is the program's own
	once  sync.Once
	code  *goja.Program
	bad   *Failure // why there is no code
}

// parse parses a program twice: first by a parser that survives anything and
// resolves names, and only what that accepts by goja's. It is compiled
// later.
func parse(e edition) (*program, *Failure) {
	text := e.text
	if strings.HasPrefix(text, "#!") { // a comment elsewhere; goja does not know it
		text = "//" + text[2:]
	}
	src := newSource(text)
	if strings.HasPrefix(strings.TrimSpace(text), "```") { // which is JavaScript: a tagged template
		return nil, &Failure{Kind: Syntax, Message: "the program is in a code fence", Hint: "leave out the lines with ```", Pos: src.pos(strings.Index(text, "`"))}
	}
	p := &program{
		name: e.name, source: src, first: 1, undeclared: map[string]bool{}, declared: map[string]bool{},
		functionKinds: []*goja.Program{asyncFunction, generatorFunction}, // unless it is known that they do not occur
	}
	if deepest(text) > maxNesting {
		return nil, &Failure{
			Kind: Syntax, Message: fmt.Sprintf("brackets are nested deeper than %d levels, perhaps in a text", maxNesting),
			Hint: "put texts together from shorter ones",
		}
	}
	src.prologue = asyncPrologue
	s, refused := p.resolve(e.session)
	switch {
	case s.deepest > maxArrowDefaults:
		return nil, &Failure{Kind: Syntax, Message: fmt.Sprintf("more than %d arrow functions nested in parameter defaults", maxArrowDefaults)}
	case refused != nil && (e.session || !worthTrying(src, refused)): // for what would be exported?
		return nil, preflightFailure(src, refused)
	}
	tree, err := p.parseWrapped()
	switch {
	case refused != nil && err != nil:
		return nil, preflightFailure(src, refused)
	case err != nil:
		return nil, syntaxFailure(src, err, s.unsupported)
	}
	p.ast, p.body = tree, wrapperBody(tree)
	switch {
	case p.body == nil && refused != nil:
		return nil, preflightFailure(src, refused)
	case p.body == nil:
		return nil, &Failure{Kind: Syntax, Message: "the program closes a bracket that it did not open"}
	}
	if p.returnLast() || !p.resolved { // before the survey: what is returned is awaited
		p.gives = true
	}
	p.survey(p.body.List[p.first:], e.words)
	if p.with != 0 { // the compiler would say so too, but it makes names of members
		return nil, &Failure{Kind: Syntax, Message: "with cannot be used: programs run in strict mode", Hint: "write the object before each of its members", Pos: src.fromIdx(p.with)}
	}
	return p, nil
}

// parseWrapped parses the source in its wrapping. If that is no async function and
// should be one, for the first parser has not looked everywhere (as in computed
// names), it becomes one.
func (p *program) parseWrapped() (*ast.Program, error) {
	src := p.source
	tree, err := parseByGoja(p.name, src.prologue+src.text+epilogue)
	if err == nil || !p.resolved || strings.HasPrefix(src.prologue, asyncPrologue) || !strings.Contains(src.text, "await") {
		return tree, err
	}
	wrapped := asyncPrologue + strings.TrimPrefix(src.prologue, prologue)
	again, bad := parseByGoja(p.name, wrapped+src.text+epilogue)
	if bad != nil {
		return nil, err
	}
	src.prologue, p.functionKinds = wrapped, kindsIn(src.text, true)
	return again, nil
}

// parseByGoja parses, and takes a panic of the parser, which fuzzing has found,
// for a syntax error.
func parseByGoja(name, text string) (tree *ast.Program, err error) {
	defer func() {
		if recover() != nil {
			tree, err = nil, errors.New("the parser cannot make sense of this")
		}
	}()
	return parser.ParseFile(nil, name, text, 0, parser.WithDisableSourceMaps)
}

// worthTrying reports whether goja's parser may have a look at what the first
// one refused, which does not know that these are valid:
//
//	const f = ({a} = {a: 1}) => a
//	[f()].forEach(g) // on a line of its own, after an arrow function
//
// Others it must not see: it is not made for nonsense. The names of such a
// program are not known, so that they are not judged.
func worthTrying(src *source, refused error) bool {
	f := preflightFailure(src, refused)
	before, _ := src.around(f.Pos)
	atStart := strings.TrimSpace(before) == "" && strings.HasSuffix(f.Message, " in expression")
	return (atStart || f.Message == "unexpected => in expression") && deepest(src.text) <= maxUnchecked
}

// deepest returns how deep brackets are nested, at most.
func deepest(text string) int {
	open, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			open++
			most = max(most, open)
		case ')', ']', '}':
			open--
		}
	}
	return most
}

// maxNesting is how deep the brackets of any program may be nested, in its texts,
// too: the first parser has no limit of its own on patterns.
const maxNesting = 5000

// maxUnchecked is how deep the brackets of a program may be nested that goja's
// parser sees unchecked: what it takes exponential time for needs brackets.
const maxUnchecked = 12

// resolve checks the syntax and resolves names.
func (p *program) resolve(session bool) (preflight, error) {
	s := preflight{declared: p.declared}
	// Parse writes a terminator behind the bytes it is given: let it copy.
	text := []byte(p.source.text)
	tree, err := js.Parse(tdparse.NewInputBytes(text[:len(text):len(text)]), js.Options{Inline: true})
	if err != nil {
		return s, err
	}
	for _, v := range tree.Undeclared {
		if v.Decl == js.NoDecl && v.Uses > 0 {
			p.undeclared[nameOf(v)] = true
		}
	}
	js.Walk(&s, tree)
	p.resolved = true
	p.gives = s.returns
	if !s.awaits {
		p.source.prologue = prologue
	}
	if session {
		p.source.prologue += exporter(declarations(tree))
		p.first++
	}
	p.functionKinds = kindsIn(p.source.text, s.awaits)
	return s, nil
}

// nameOf is the name of a variable, without escapes.
func nameOf(v *js.Var) string {
	name := string(v.Name())
	if !strings.Contains(name, `\`) {
		return name
	}
	return escapedUnit.ReplaceAllStringFunc(name, func(escape string) string {
		code, err := strconv.ParseUint(strings.Trim(escape[2:], "{}"), 16, 32)
		if err != nil {
			return escape
		}
		return string(rune(code))
	})
}

var escapedUnit = regexp.MustCompile(`\\u(\{[0-9a-fA-F]+\}|[0-9a-fA-F]{4})`)

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

// preflight collects what the first parse wants to know of a syntax tree.
type preflight struct {
	declared    map[string]bool
	unsupported string // a construct that is JavaScript but more than goja knows
	parameters  int    // depth of parameter lists
	deepest     int    // of an arrow function in parameter lists
	functions   int    // depth of functions

	awaits, returns bool // whether the program itself does
}

// Enter implements [js.IVisitor].
func (s *preflight) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.Var:
		if n.Decl != js.NoDecl {
			s.declared[nameOf(n)] = true
		}
	case *js.UnaryExpr:
		s.awaits = s.awaits || n.Op == js.AwaitToken && s.functions == 0
	case *js.ArrowFunc:
		s.functions++
		s.deepest = max(s.deepest, s.parameters)
	case *js.ClassDecl:
		if n.Name != nil { // of an expression, which the parser takes for undeclared
			s.declared[nameOf(n.Name)] = true
		}
	case *js.Params:
		s.parameters++
	case *js.ReturnStmt:
		s.returns = s.returns || n.Value != nil && s.functions == 0
	case *js.ForOfStmt:
		if n.Await {
			s.unsupported = "for await"
		}
	case *js.FuncDecl:
		s.function(n.Async, n.Generator)
	case *js.MethodDecl:
		s.function(n.Async, n.Generator)
	case *js.ImportStmt, *js.ExportStmt:
		s.unsupported = "import and export"
	}
	return s
}

func (s *preflight) function(async, generator bool) {
	s.functions++
	if async && generator {
		s.unsupported = "async generators"
	}
}

// Exit implements [js.IVisitor].
func (s *preflight) Exit(n js.INode) {
	switch n.(type) {
	case *js.Params:
		s.parameters--
	case *js.ArrowFunc, *js.FuncDecl, *js.MethodDecl:
		s.functions--
	}
}

// wrapperBody returns the block of the function that wraps the program, if that
// is all there is.
func wrapperBody(tree *ast.Program) *ast.BlockStatement {
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
	body, _ := arrow.Body.(*ast.BlockStatement)
	return body
}

// returnLast makes the value of a final expression the value of the program, and
// reports whether there is one.
func (p *program) returnLast() bool {
	list := p.body.List
	for i := len(list) - 1; i >= p.first; i-- {
		switch last := list[i].(type) {
		case *ast.EmptyStatement, *ast.FunctionDeclaration, *ast.ClassDeclaration:
			continue
		case *ast.ExpressionStatement:
			list[i] = &ast.ReturnStatement{Return: last.Idx0(), Argument: last.Expression}
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
