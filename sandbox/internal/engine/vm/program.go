package vm

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
	"github.com/writ-go/writ/sandbox/internal/lru"
)

// Limits for the compiled programs that are kept, in bytes of source. A compiled program takes about 40 times as much
// memory as its source. For a hostile program, the factor is 200, and for a short program it is even larger.
const (
	keptSource  = 64 << 10 // total size of all programs
	keptProgram = 8 << 10  // size of the largest program that is kept
	minSource   = 512      // shorter programs count as this size
)

// programKey is everything on which the result of parsing a program depends.
type programKey struct {
	text    string
	options check.ParseOptions
}

func keyOf(job *engine.Job) programKey {
	options := check.ParseOptions{Name: fileName(job.Session), Words: len(job.Forbidden) > 0,
		Session: job.Session != nil}
	return programKey{job.Source, options}
}

// fileName returns a program's name in stack traces. A session's programs are numbered, because one program may call
// another's functions.
func fileName(s *engine.SessionJob) string {
	if s == nil {
		return "program.js"
	}
	return "program-" + strconv.Itoa(s.Step+1) + ".js"
}

// compiledProgram is a parsed program and its bytecode. It does not change once it is compiled,
// so that several runs may share it.
type compiledProgram struct {
	*check.Program
	functionKinds []*goja.Program // samples of the kinds of functions in it, besides ordinary functions

	once    sync.Once
	code    *goja.Program
	failure *engine.Failure // the reason why there is no code, or nil
}

// program parses a program, unless it is in the cache.
func (e *Engine) program(key programKey) (*compiledProgram, *engine.Failure) {
	if p, ok := e.programs.Get(key); ok {
		return p, nil
	}
	return parse(key)
}

// keepProgram adds a compiled program to the cache.
func (e *Engine) keepProgram(key programKey, p *compiledProgram) {
	if len(key.text) <= keptProgram {
		bounds := lru.Bounds{Entries: keptSource / minSource, Size: keptSource}
		e.programs.Add(key, p, max(len(key.text), minSource), bounds)
	}
}

func parse(key programKey) (*compiledProgram, *engine.Failure) {
	parsed, failure := check.Parse(key.text, key.options)
	if failure != nil {
		return nil, failure
	}
	return &compiledProgram{Program: parsed, functionKinds: kindsIn(parsed.Text, parsed.Awaits)}, nil
}

// kindsIn returns samples of the kinds of functions that a program may contain besides ordinary functions. It searches
// the text for the words and characters that such functions need, because a syntax tree visitor might miss some of
// them.
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

// compile compiles the program to bytecode, once.
func (p *compiledProgram) compile() (*goja.Program, *engine.Failure) {
	p.once.Do(func() {
		p.failure = &engine.Failure{Kind: engine.KindCrashed, Message: "the compiler cannot make sense of this"}
		defer func() { _ = recover() }()
		code, err := goja.CompileAST(p.AST, false)
		if err != nil {
			p.failure = compileFailure(p.Source, err)
			return
		}
		p.code, p.failure = code, nil
		p.Release()
	})
	return p.code, p.failure
}

// compileFailure describes an error from goja's compiler.
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
