package check

import (
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Outline is what the source of a program says of it, whatever is bound when it
// runs.
type Outline struct {
	findings []engine.Finding
	names    []*usedName      // that nothing declares, in order of first use
	guarded  map[string]bool  // names whose presence is tested, as in typeof x or "x" in globalThis
	writes   []writeSite      // assignments to names that nothing declares, and to their members
	early    []usedName       // variables that are read before they have a value
	warnings []engine.Finding // what runs, but hardly does what its author means
	calls    []callSite       // of what may be a tool
	tested   map[pathKey]int  // how often a path is mentioned otherwise than called, as in if (fs.stat) …
	examined map[string]bool  // globals whose members the program looks for
	words    []place          // every name and member, if rules forbid some
	declared []string         // at top level
	pos      func(file.Idx) engine.Pos

	With    file.Idx // where a with statement stands, which strict mode does not have; 0 if there is none
	Depth   int      // how deep the source is nested
	Returns bool     // whether the program returns a value
	Awaits  bool     // whether the program awaits at top level
	Callees []Callee // of the calls of names and members
}

// Callee is where a call has its opening parenthesis, and the name of what it calls.
type Callee struct{ Parenthesis, Name file.Idx }

// usedName is a name, where it is first used.
type usedName struct {
	place
	assigned  bool     // there
	elsewhere file.Idx // where it is declared, too late or in a block that the use is not in; 0 if nowhere
}

// place is a name and where it stands.
type place struct {
	name string
	at   file.Idx
}

// callSite is a call of a global, or of a member of one.
type callSite struct {
	*path
	arguments []ast.Expression
	block     *block
	promiseUse
}

// Options are what a survey needs besides the program.
type Options struct {
	Words     bool                       // whether every name is noted, to look for forbidden ones
	Pos       func(file.Idx) engine.Pos  // of what is found
	Leave     func(ast.Node)             // is called with every node that has been looked at
	Arguments func(*ast.FunctionLiteral) // see [Walker]
}

// Survey makes the outline of a program, which is the body of a function.
func Survey(body []ast.Statement, options Options) *Outline {
	s := surveyor{Outline: &Outline{pos: options.Pos}, options: options}
	s.walker.Visit, s.walker.Arguments = s.visit, options.Arguments
	top := &block{body: true}
	s.walker.block = top
	for _, statement := range body {
		s.walker.Walk(statement)
	}
	s.Depth = s.walker.deepest
	s.resolve()
	for _, v := range s.walker.variables {
		if v.block == top && len(s.declared) < maxDeclared {
			s.declared = append(s.declared, v.name)
		}
	}
	return s.Outline
}

// maxDeclared is how many declarations are reported.
const maxDeclared = 100

// surveyor walks a program for its outline. What it notes with a block is resolved
// in the end.
type surveyor struct {
	*Outline
	options     Options
	walker      Walker
	promiseUses map[*ast.CallExpression]promiseUse // before they are visited
	called      []calledExpression
	members     []located
	texts       []located // that name members
	written     []written
	uses        []use
	probes      []reference // to variables whose kind of value the program finds out, as by typeof
	mappings    []mappingOf
}

// located is an expression, and the block that it is in.
type located struct {
	expression ast.Expression
	block      *block
}

// calledExpression is what is called, or made an object of by new.
type calledExpression struct {
	located
	arguments []ast.Expression
	isNew     bool
	promiseUse
}

func (s *surveyor) visit(n ast.Node) {
	defer s.options.Leave(n)
	switch n := n.(type) {
	case *ast.Identifier:
		s.word(n.Name.String(), n.Idx)
	case *ast.AwaitExpression:
		s.Awaits = s.Awaits || s.walker.functions == 0
	case *ast.ReturnStatement:
		s.Returns = s.Returns || n.Argument != nil && s.walker.functions == 0
	case *ast.ExpressionStatement:
		s.discard(n.Expression)
	case *ast.UnaryExpression:
		s.unary(n)
	case *ast.BinaryExpression:
		s.in(n)
		s.compute(n)
	case *ast.TemplateLiteral:
		s.interpolate(n)
	case *ast.AssignExpression:
		s.write(n.Left, Conditional(n.Operator))
	case *ast.ForIntoExpression:
		s.write(n.Expression, false)
	case *ast.Binding:
		s.held(n)
	case *ast.CallExpression:
		s.call(n)
	case *ast.ArrayLiteral:
		s.spread(n.Value)
	case *ast.ForOfStatement:
		s.use(n.Source, iterates, itsElements, n.Source.Idx0())
	case *ast.NewExpression:
		s.called = append(s.called, calledExpression{located: s.here(n.Callee), isNew: true})
	case *ast.DotExpression:
		s.dot(n)
	case *ast.BracketExpression:
		s.members = append(s.members, s.here(n))
		s.text(n.Member)
		s.element(n)
		s.nested(n.Left)
	case *ast.PropertyKeyed:
		s.text(n.Key)
	case *ast.RegExpLiteral:
		s.regexp(n)
	case *ast.WithStatement:
		s.With = n.With
	}
}

func (s *surveyor) here(e ast.Expression) located { return located{e, s.walker.block} }

func (s *surveyor) word(name string, at file.Idx) {
	if s.options.Words {
		s.words = append(s.words, place{name, at})
	}
}

// text notes what may name a member by a text.
func (s *surveyor) text(e ast.Expression) {
	if s.options.Words {
		s.texts = append(s.texts, s.here(e))
	}
}

func (s *surveyor) unary(n *ast.UnaryExpression) {
	id, isName := n.Operand.(*ast.Identifier)
	switch n.Operator {
	case token.TYPEOF:
		if isName {
			put(&s.guarded, id.Name.String(), true)
		}
		s.probe(n.Operand)
	case token.INCREMENT, token.DECREMENT:
		s.write(n.Operand, false)
	case token.DELETE:
		if !isName { // the compiler refuses that
			s.written = append(s.written, written{located: s.here(n.Operand), delete: true})
		}
	}
}

// nested notes a property of a promise that is read as an object: it is undefined.
func (s *surveyor) nested(e ast.Expression) {
	if dot, ok := e.(*ast.DotExpression); ok && !ofPromises(dot.Identifier.Name.String()) {
		s.use(dot.Left, reaches, dot.Identifier.Name.String(), dot.Identifier.Idx)
	}
}

// element notes what is read of a value by a name in brackets, or by a number.
func (s *surveyor) element(n *ast.BracketExpression) {
	property := itsElements
	if name, ok := n.Member.(*ast.StringLiteral); ok {
		property = name.Value.String()
	}
	s.use(n.Left, reads, property, n.Member.Idx0())
}

func (s *surveyor) dot(n *ast.DotExpression) {
	s.nested(n.Left)
	s.members = append(s.members, s.here(n))
	s.word(n.Identifier.Name.String(), n.Identifier.Idx)
	if global, ok := n.Left.(*ast.Identifier); ok && global.Name == "globalThis" {
		put(&s.guarded, n.Identifier.Name.String(), true)
	}
	switch name := n.Identifier.Name.String(); name {
	case "then", "catch", "finally":
	default:
		s.use(n.Left, reads, name, n.Identifier.Idx)
	}
}

// in notes what is looked for in an object by name.
func (s *surveyor) in(n *ast.BinaryExpression) {
	if name, isText := n.Left.(*ast.StringLiteral); isText && n.Operator == token.IN {
		if global, ok := n.Right.(*ast.Identifier); ok && global.Name == "globalThis" {
			put(&s.guarded, name.Value.String(), true)
			return
		}
		s.members = append(s.members, s.here(&ast.BracketExpression{Left: n.Right, Member: n.Left}))
	}
}

// unicodeClass is a property escape that is not itself escaped.
var unicodeClass = regexp.MustCompile(`(^|[^\\])(\\\\)*\\[pP]\{`)

func (s *surveyor) regexp(n *ast.RegExpLiteral) {
	if NeverMatches(n.Pattern, n.Flags) {
		s.findings = append(s.findings, engine.Finding{
			Message: `\p{…} never matches in this engine`,
			Hint:    `write the characters as a range, such as [A-Za-zÀ-ɏ]`,
			Pos:     s.pos(n.Idx),
		})
	}
}

// NeverMatches reports whether a regular expression has a property escape, which
// goja takes and then matches nothing by.
func NeverMatches(pattern, flags string) bool {
	return strings.Contains(flags, "u") && unicodeClass.MatchString(pattern)
}

// call notes a call.
func (s *surveyor) call(n *ast.CallExpression) {
	s.callback(n)
	s.method(n)
	s.called = append(s.called, calledExpression{
		located: s.here(n.Callee), arguments: n.ArgumentList, promiseUse: s.promiseUses[n],
	})
	switch of := n.Callee.(type) {
	case *ast.Identifier:
		s.Callees = append(s.Callees, Callee{n.LeftParenthesis, of.Idx})
	case *ast.DotExpression:
		s.Callees = append(s.Callees, Callee{n.LeftParenthesis, of.Identifier.Idx})
	case *ast.BracketExpression:
		if name, ok := of.Member.(*ast.StringLiteral); ok {
			s.Callees = append(s.Callees, Callee{n.LeftParenthesis, name.Idx})
		}
	}
}
