package check

import (
	"fmt"
	"regexp"
	"strings"

	tdparse "github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// The bounds of what goja's parser sees at all.
const (
	// maxNesting is how deep the brackets of any program may be nested, in its
	// texts, too: the first parser has no limit of its own on patterns.
	maxNesting = 5000
	// maxUnchecked is how deep they may be if the first parser has refused the
	// program: what goja's takes exponential time for needs brackets, or conditional
	// expressions within one another, of which all count.
	maxUnchecked = 12
	maxUncertain = 16 // brackets and conditional expressions
	// maxArrowDefaults bounds arrow functions nested in parameter defaults: goja's
	// parser takes time exponential in them.
	maxArrowDefaults = 8
)

// preflight is a parse by a parser that survives anything, and what it tells of a
// syntax tree.
type preflight struct {
	tree        *js.AST
	refused     error  // the parser's
	unsupported string // a construct that is JavaScript but more than goja knows
	renamed     string // the text with other names for the fields that goja does not know
	fields      bool   // whether there are such
	private     bool   // whether there are private ones
	parameters  int    // depth of parameter lists
	deepest     int    // of an arrow function in parameter lists
}

// survive parses a program that goja's parser may not see, and says why it must not.
func runPreflight(src *Source) (*preflight, *engine.Failure) {
	if nestingDepth(src.Text) > maxNesting {
		return nil, &engine.Failure{
			Kind: engine.Syntax, Message: fmt.Sprintf("brackets are nested more than %d levels deep, perhaps in a string", maxNesting),
			Hint: "build the string from shorter ones",
		}
	}
	// Parse writes a terminator behind the bytes it is given.
	text := append(make([]byte, 0, len(src.Text)+1), src.Text...)
	s := &preflight{}
	s.tree, s.refused = js.Parse(tdparse.NewInputBytes(text), js.Options{Inline: true})
	if s.refused == nil {
		js.Walk(s, s.tree)
	}
	if s.private {
		renamePrivate(text)
	}
	if s.fields || s.private {
		s.renamed = string(text)
	}
	switch {
	case s.deepest > maxArrowDefaults:
		return nil, &engine.Failure{Kind: engine.Syntax, Message: fmt.Sprintf("more than %d arrow functions nested in parameter defaults", maxArrowDefaults)}
	case s.refused != nil && !mayBeValid(src, s.refused):
		return nil, preflightFailure(src, s.refused)
	}
	return s, nil
}

// mayBeValid reports whether goja's parser may have a look at what the first
// one refused, which does not know that these are valid:
//
//	const f = ({a} = {a: 1}) => a
//	[f()].forEach(g) // on a line of its own, after an arrow function
//
// Others it must not see: it is not made for nonsense.
func mayBeValid(src *Source, refused error) bool {
	f := preflightFailure(src, refused)
	before, _ := src.around(f.Pos)
	atStart := strings.TrimSpace(before) == "" && strings.HasSuffix(f.Message, " in expression")
	return (atStart || f.Message == "unexpected => in expression") && nestingDepth(src.Text) <= maxUnchecked &&
		nestingDepth(src.Text)+len(ternary.FindAllString(src.Text, -1)) <= maxUncertain
}

// ternary is what may begin the alternatives of a conditional expression.
var ternary = regexp.MustCompile(`\?(?:[^.?]|\.\d)`)

// nestingDepth returns how deep brackets are nested, at most.
func nestingDepth(text string) int {
	open, most := 0, 0
	for i := range len(text) {
		open += brackets[text[i]]
		most = max(most, open)
	}
	return most
}

var brackets = [256]int{'(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1}

// Enter implements [js.IVisitor].
func (s *preflight) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.ArrowFunc:
		s.deepest = max(s.deepest, s.parameters)
	case *js.ClassDecl:
		s.class(n)
	case *js.Params:
		s.parameters++
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

// class gives the fields other names that are called like modifiers. What the
// parser takes from the text is no copy, so that they change there.
func (s *preflight) class(n *js.ClassDecl) {
	for _, element := range n.List {
		if element.Method != nil || element.StaticBlock != nil {
			continue
		}
		switch name := element.Name.Literal.Data; string(name) {
		case "get", "set", "async":
			s.fields = true
			name[0] = capital(name[0])
		}
		if private := element.Name.Private; private != nil {
			s.private = s.private || string(private.Data) == "#get" || string(private.Data) == "#set"
		}
	}
}

// modifierField is what may be a private field that goja takes for an accessor.
// The parser does not tell where it is: it may as well be a text.
var modifierField = regexp.MustCompile(`(?:^|[^.])#([gs])et\b`)

// renamePrivate does for private fields what class does for others.
func renamePrivate(text []byte) {
	for _, at := range modifierField.FindAllSubmatchIndex(text, -1) {
		text[at[2]] = capital(text[at[2]])
	}
}

func capital(c byte) byte { return c - 'a' + 'A' }
