package check

import (
	"fmt"
	"regexp"
	"strings"

	tdparse "github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Bounds for the input to goja's parser.
const (
	// maxNesting limits the nesting of brackets in any program, including brackets in strings, because the first parser
	// does not limit the nesting of patterns.
	maxNesting = 5000
	// maxUnchecked limits the nesting of brackets in a program that the first parser has rejected. goja's parser takes
	// exponential time only for nested brackets or nested conditional expressions.
	maxUnchecked = 12
	maxUncertain = 16 // bounds the sum of that nesting and the number of conditional expressions
	// maxArrowDefaults bounds the nesting of arrow functions in parameter defaults, for which
	// goja's parser takes exponential time.
	maxArrowDefaults = 8
)

// preflight is the result of the first parser, which survives any input.
type preflight struct {
	tree        *js.AST
	refused     error  // the parser's error, or nil
	unsupported string // a construct that is valid JavaScript but that goja does not support, or ""
	acts        bool   // the program contains a call or a declaration
	parameters  int    // the number of parameter lists around the current node
	deepest     int    // the maximum number of parameter lists around an arrow function
}

// runPreflight parses a program with the first parser. It returns a failure if goja's parser must not parse the
// program.
func runPreflight(src *Source) (*preflight, *engine.Failure) {
	if nestingDepth(src.Text) > maxNesting {
		message := fmt.Sprintf("brackets are nested more than %d levels deep, perhaps in a string", maxNesting)
		return nil, syntaxFailure(message, "build the string from shorter ones", engine.Pos{})
	}
	// Parse writes a terminator after its input.
	text := append(make([]byte, 0, len(src.Text)+1), src.Text...)
	s := &preflight{}
	s.tree, s.refused = js.Parse(tdparse.NewInputBytes(text), js.Options{Inline: true})
	if s.refused == nil {
		js.Walk(s, s.tree)
	}
	switch {
	case s.deepest > maxArrowDefaults:
		message := fmt.Sprintf("more than %d arrow functions nested in parameter defaults", maxArrowDefaults)
		return nil, syntaxFailure(message, "", engine.Pos{})
	case s.refused != nil && !mayBeValid(src, s.refused):
		return nil, preflightFailure(src, s.refused)
	}
	return s, nil
}

// mayBeValid reports whether goja's parser may try a program that the first parser rejected. The first parser does not
// know that these statements are valid:
//
//	const f = ({a} = {a: 1}) => a
//	[f()].forEach(g) // on a line of its own, after an arrow function
//
// goja's parser must not parse other invalid programs, because it can take exponential time for them.
func mayBeValid(src *Source, refused error) bool {
	f := preflightFailure(src, refused)
	before, _ := src.around(f.Pos)
	atStart := strings.TrimSpace(before) == "" && strings.HasSuffix(f.Message, " in expression")
	return (atStart || f.Message == "unexpected => in expression") && nestingDepth(src.Text) <= maxUnchecked &&
		nestingDepth(src.Text)+len(ternary.FindAllString(src.Text, -1)) <= maxUncertain
}

// ternary matches the possible beginning of a conditional expression's alternatives.
var ternary = regexp.MustCompile(`\?(?:[^.?]|\.\d)`)

// nestingDepth returns the maximum nesting of brackets.
func nestingDepth(text string) int {
	open, deepest := 0, 0
	for i := range len(text) {
		open += brackets[text[i]]
		deepest = max(deepest, open)
	}
	return deepest
}

var brackets = [256]int{'(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1}

// Enter implements [js.IVisitor].
func (s *preflight) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.CallExpr, *js.VarDecl, *js.ClassDecl:
		s.acts = true
	case *js.ArrowFunc:
		s.deepest = max(s.deepest, s.parameters)
	case *js.Params:
		s.parameters++
	case *js.ForOfStmt:
		if n.Await {
			s.unsupported = "for await"
		}
	case *js.FuncDecl:
		s.acts = true
		s.function(n.Async, n.Generator)
	case *js.MethodDecl:
		s.function(n.Async, n.Generator)
	case *js.ImportStmt, *js.ExportStmt:
		s.unsupported = "import and export"
	}
	return s
}

// Exit implements [js.IVisitor].
func (s *preflight) Exit(n js.INode) {
	if _, ok := n.(*js.Params); ok {
		s.parameters--
	}
}

func (s *preflight) function(async, generator bool) {
	if async && generator {
		s.unsupported = "async generators"
	}
}
