package check

import (
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Outline is what a program's source shows without a run's globals.
type Outline struct {
	findings []engine.Finding
	names    []*usedName      // undeclared names, in order of their first use
	guarded  map[string]bool  // names whose existence the program tests, as in typeof x or "x" in globalThis
	writes   []writeSite      // assignments to undeclared names and to their members
	early    []usedName       // variables that are read before they are initialized
	warnings []engine.Finding // code that runs, but probably does not do what its author intended
	calls    []callSite       // calls to possible tools
	tested   map[pathKey]int  // for each path, the number of mentions that are not calls, as in if (fs.stat) …
	examined map[string]bool  // globals whose members the program inspects
	words    []occurrence     // all names and members, if the rules forbid names
	declared []string         // top-level declarations
	reads    memberReads
	pos      func(file.Idx) engine.Pos

	With    file.Idx // the position of a with statement, which strict mode does not allow, or 0
	Returns bool     // whether the program returns a value
	Awaits  bool     // whether the program awaits at top level
	Callees []Callee // the callees of calls to names and members
}

// Callee has the positions of a call's opening parenthesis and of the called name.
type Callee struct{ Parenthesis, Name file.Idx }

// usedName is an undeclared name with the position of its first use.
type usedName struct {
	occurrence
	assigned  bool     // the use is an assignment
	elsewhere file.Idx // a declaration that is not visible at the use, or 0
	uses      []file.Idx
}

// occurrence is a name at a position in the source.
type occurrence struct {
	name string
	at   file.Idx
}

// callSite is a call to a global, or to a member of a global.
type callSite struct {
	*path
	calledExpression
}

// survey returns a program's outline, given the body of the function around the program. If words is true, the outline
// has every name. pos converts an index to a position.
func survey(body []ast.Statement, words bool, pos func(file.Idx) engine.Pos) *Outline {
	s := surveyor{Outline: &Outline{pos: pos}, recordsWords: words}
	s.walker.Visit, s.walker.ArrowInDefault = s.visit, s.arrowInDefault
	top := &block{body: true}
	s.walker.block = top
	for i, statement := range body {
		s.statement = i + 1
		if _, ok := statement.(*ast.FunctionDeclaration); ok {
			s.statement = 0 // earlier statements may call the function
		}
		s.walker.Walk(statement)
	}
	s.reads.probes = nil
	s.resolve()
	for _, v := range s.walker.variables {
		if v.block == top && len(s.declared) < maxDeclared {
			s.declared = append(s.declared, v.name)
		}
	}
	return s.Outline
}

// maxDeclared is the maximum number of reported declarations.
const maxDeclared = 100

// surveyor builds the outline of a program. While it walks the program, it records expressions with their blocks. At
// the end, it resolves the names in these expressions.
type surveyor struct {
	*Outline
	recordsWords bool
	walker       Walker
	handlers     map[*ast.CallExpression]*handler // recorded before the calls are visited
	statement    int                              // number of the current top-level statement, as in [engine.Site]
	called       []calledExpression
	members      []scopedExpression
	texts        []scopedExpression // expressions whose values may be member names
	targets      []writeTarget
}

// scopedExpression is an expression and the block around it.
type scopedExpression struct {
	expression ast.Expression
	block      *block
}

// calledExpression is the callee of a call or of new.
type calledExpression struct {
	scopedExpression
	arguments []ast.Expression
	isNew     bool
	statement int      // number of the top-level statement with the call, as in [engine.Site]
	handler   *handler // the handler of the call's error, or nil
}

func (s *surveyor) visit(n ast.Node) {
	s.probing(n)
	switch n := n.(type) {
	case *ast.Identifier:
		s.word(n.Name.String(), n.Idx)
	case *ast.AwaitExpression:
		s.Awaits = s.Awaits || s.walker.functions == 0
		s.handle(n.Argument, s.walker.block.try)
	case *ast.ReturnStatement:
		s.Returns = s.Returns || n.Argument != nil && s.walker.functions == 0
	case *ast.UnaryExpression:
		s.unary(n)
	case *ast.BinaryExpression:
		s.in(n)
	case *ast.AssignExpression:
		s.write(n.Left, Conditional(n.Operator))
	case *ast.ForIntoExpression:
		s.write(n.Expression, false)
	case *ast.ObjectPattern:
		s.destructure(n)
	case *ast.CallExpression:
		s.call(n)
	case *ast.NewExpression:
		s.called = append(s.called, calledExpression{scopedExpression: s.here(n.Callee), isNew: true})
	case *ast.DotExpression:
		s.dot(n)
	case *ast.BracketExpression:
		s.members = append(s.members, s.here(n))
		s.text(n.Member)
		s.element(n)
	case *ast.PropertyKeyed:
		s.text(n.Key)
	case *ast.RegExpLiteral:
		s.regexp(n)
	case *ast.WithStatement:
		s.With = n.With
	}
}

func (s *surveyor) here(e ast.Expression) scopedExpression {
	return scopedExpression{e, s.walker.block}
}

func (s *surveyor) word(name string, at file.Idx) {
	if s.recordsWords {
		s.words = append(s.words, occurrence{name, at})
	}
}

// text records an expression whose value may be a member name.
func (s *surveyor) text(e ast.Expression) {
	if s.recordsWords {
		s.texts = append(s.texts, s.here(e))
	}
}

func (s *surveyor) unary(n *ast.UnaryExpression) {
	id, isName := n.Operand.(*ast.Identifier)
	switch n.Operator {
	case token.TYPEOF:
		if isName {
			engine.Put(&s.guarded, id.Name.String(), true)
		}
	case token.INCREMENT, token.DECREMENT:
		s.write(n.Operand, false)
	case token.DELETE:
		if !isName { // for delete name, the compiler reports an error
			s.targets = append(s.targets, writeTarget{scopedExpression: s.here(n.Operand), delete: true})
		}
	}
}

// element records the read of a member with brackets.
func (s *surveyor) element(n *ast.BracketExpression) {
	named := ""
	if name, ok := n.Member.(*ast.StringLiteral); ok {
		named = name.Value.String()
	}
	s.read(named, n.LeftBracket, s.reads.probes[n])
}

func (s *surveyor) dot(n *ast.DotExpression) {
	s.members = append(s.members, s.here(n))
	s.word(n.Identifier.Name.String(), n.Identifier.Idx)
	s.read(n.Identifier.Name.String(), n.Identifier.Idx, s.reads.probes[n])
	if global, ok := n.Left.(*ast.Identifier); ok && global.Name == "globalThis" {
		engine.Put(&s.guarded, n.Identifier.Name.String(), true)
	}
}

// in records a test with the operator in.
func (s *surveyor) in(n *ast.BinaryExpression) {
	if name, isText := n.Left.(*ast.StringLiteral); isText && n.Operator == token.IN {
		if global, ok := n.Right.(*ast.Identifier); ok && global.Name == "globalThis" {
			engine.Put(&s.guarded, name.Value.String(), true)
			return
		}
		s.members = append(s.members, s.here(&ast.BracketExpression{Left: n.Right, Member: n.Left}))
	}
}

// unicodeClass matches a property escape that is not itself escaped.
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

// NeverMatches reports whether a regular expression has a property escape. goja accepts property escapes, but they
// match nothing.
func NeverMatches(pattern, flags string) bool {
	return strings.Contains(flags, "u") && unicodeClass.MatchString(pattern)
}

func (s *surveyor) arrowInDefault(f *ast.FunctionLiteral) {
	s.findings = append(s.findings, engine.Finding{
		Message: "an arrow function in the default of a parameter cannot use arguments",
		Hint:    "use a parameter instead, such as ...list",
		Pos:     s.pos(f.Function),
	})
}

// call records a call.
func (s *surveyor) call(n *ast.CallExpression) {
	s.callback(n)
	s.called = append(s.called, calledExpression{
		scopedExpression: s.here(n.Callee), arguments: n.ArgumentList,
		statement: s.statement, handler: s.handlers[n],
	})
	switch of := n.Callee.(type) {
	case *ast.Identifier:
		s.Callees = append(s.Callees, Callee{n.LeftParenthesis, of.Idx})
	case *ast.DotExpression:
		if of.Identifier.Name == "catch" {
			s.handle(of.Left, &handler{n.Idx0(), n.Idx1()})
		}
		s.Callees = append(s.Callees, Callee{n.LeftParenthesis, of.Identifier.Idx})
	case *ast.BracketExpression:
		if name, ok := of.Member.(*ast.StringLiteral); ok {
			s.Callees = append(s.Callees, Callee{n.LeftParenthesis, name.Idx})
		}
	}
}
