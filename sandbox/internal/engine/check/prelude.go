package check

import (
	"github.com/dop251/goja/ast"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

const (
	preludeFile     = "library.js"
	preludePrologue = `(function(){`
)

// ParsePrelude parses the prelude of a program.
func ParsePrelude(text string) (*ast.Program, *Source, *engine.Failure) {
	src := newSource(text)
	src.prologue = preludePrologue
	pre, bad := runPreflight(src)
	switch {
	case bad != nil:
		return nil, nil, Unloadable(bad.Message)
	case pre.refused != nil:
		return nil, nil, Unloadable(preflightFailure(src, pre.refused).Message)
	}
	tree, err := src.parse(preludeFile)
	if err != nil {
		return nil, nil, Unloadable(src.parseFailure(err, pre.unsupported).Message)
	}
	return tree, src, notOneCall(tree)
}

// notOneCall returns a failure if a prelude is not a single function body, or if it contains code that goja would
// execute incorrectly.
func notOneCall(tree *ast.Program) *engine.Failure {
	if len(tree.Body) != 1 {
		return Unloadable("it closes a bracket that it did not open")
	}
	var bad *engine.Failure
	w := Walker{Visit: func(n ast.Node) {
		if e, ok := n.(*ast.RegExpLiteral); ok && NeverMatches(e.Pattern, e.Flags) {
			bad = Unloadable(`it has a pattern with \p{…}, which never matches in this engine`)
		}
	}, ArrowInDefault: func(*ast.FunctionLiteral) {
		bad = Unloadable("an arrow function in the default of a parameter uses arguments")
	}}
	w.Walk(tree.Body[0])
	return bad
}

// Unloadable returns the failure of a prelude that cannot be used.
func Unloadable(why string) *engine.Failure {
	return syntaxFailure("the library of the program cannot be loaded: "+why,
		"do without what it imports", engine.Pos{})
}
