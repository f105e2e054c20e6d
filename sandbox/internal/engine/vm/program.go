package vm

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
)

// fileName is what a program is called in stack traces: those of a session are
// numbered, as functions of one may be called by another.
func fileName(s *engine.SessionJob) string {
	if s == nil {
		return "program.js"
	}
	return "program-" + strconv.Itoa(s.Step+1) + ".js"
}

// program is a program and its bytecode. Once compiled it does not change, so that
// several runs may share it.
type program struct {
	*check.Program
	functionKinds []*goja.Program // samples of what occurs besides ordinary functions

	once sync.Once
	code *goja.Program
	bad  *engine.Failure // why there is no code
}

func parse(e edition) (*program, *engine.Failure) {
	parsed, failure := check.Parse(e.text, check.ParseOptions{Name: e.name, Words: e.words, Session: e.session})
	if failure != nil {
		return nil, failure
	}
	return &program{Program: parsed, functionKinds: kindsIn(parsed.Text, parsed.Awaits)}, nil
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

// compile makes goja bytecode of the program, once.
func (p *program) compile() (*goja.Program, *engine.Failure) {
	p.once.Do(func() {
		p.bad = &engine.Failure{Kind: engine.Crashed, Message: "the compiler cannot make sense of this"} // should it panic
		defer func() { _ = recover() }()
		code, err := goja.CompileAST(p.AST, false)
		if err != nil {
			p.bad = compileFailure(p.Source, err)
			return
		}
		p.code, p.bad = code, nil
		p.Release()
	})
	return p.code, p.bad
}

// compileFailure words an error of goja's compiler.
func compileFailure(source *check.Source, err error) *engine.Failure {
	var compiler *goja.CompilerSyntaxError
	if !errors.As(err, &compiler) {
		return source.SyntaxFailure(err.Error(), 0, 0)
	}
	line, column := 0, 0
	if compiler.File != nil {
		at := compiler.File.Position(compiler.Offset)
		line, column = at.Line, at.Column
	}
	return source.SyntaxFailure(compiler.Message, line, column)
}
