package engine

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// outline is what the source of a program says of it, whatever is bound when it
// runs.
type outline struct {
	findings []Finding
	names    []*usedName     // that nothing declares, in order of first use
	guarded  map[string]bool // names whose presence is tested, as in typeof x or "x" in globalThis
	writes   []writeSite     // assignments to names that nothing declares, and to their members
	early    []place         // variables that their own initialiser reads
	smells   []Finding       // what runs, but hardly does what its author means
	calls    []callSite      // of what may be a tool
	tested   []mention       // of members, called or not, as in if (fs.stat) …
	words    []place         // every name and member, if rules forbid some
	with     file.Idx        // where a with statement stands, which strict mode does not have; 0 if there is none
	depth    int             // how deep the source is nested
	gives    bool            // whether the program says what its value is
	awaits   bool            // whether it does so at top level
	broken   bool            // whether there is a regular expression without an end, which goja takes
}

// usedName is a name, where it is first used.
type usedName struct {
	place
	used, assigned bool   // there
	declared       int    // how often, in any scope
	uses           int    // how often, declarations and assignments among them
	misread        int    // how often as if it were no promise
	property       string // what is read of it first, if it is a promise
}

// place is a name and where it stands.
type place struct {
	name string
	at   file.Idx
}

type member struct{ object, name string }

// mention is what a member counts for: a call does not count.
type mention struct {
	member
	times int
}

// callSite is a call of a name, or of a member of a name.
type callSite struct {
	member
	at        file.Idx
	arguments []ast.Expression
	deeper    bool // what is called is a member of it
	looseCall
}

// survey makes the outline of a program. Words says whether it lists every name.
//
// A name that the program declares anywhere is not judged: it is not known which
// of them is meant where.
func (p *program) survey(body []ast.Statement, words bool) {
	s := surveyor{program: p, words: words, known: map[unistring.String]*usedName{}}
	s.walker.visit = s.visit
	for _, statement := range body {
		s.walker.node(statement)
	}
	p.depth = s.walker.deepest
	s.hold()
	declares := func(name string) bool { return s.name(unistring.NewFromString(name)).declared > 0 }
	p.names = slices.DeleteFunc(p.names, func(n *usedName) bool { return n.declared > 0 })
	p.writes = slices.DeleteFunc(p.writes, func(w writeSite) bool { return declares(w.base()) })
	p.calls = slices.DeleteFunc(p.calls, func(c callSite) bool { return declares(c.base()) })
	if declares("Function") {
		p.findings = slices.DeleteFunc(p.findings, func(f Finding) bool { return f.Message == fromText })
	}
	p.source.callees = s.callees
}

// base is the name that a member is of, or the name itself.
func (m member) base() string { return cmp.Or(m.object, m.name) }

// surveyor walks a program for its outline.
type surveyor struct {
	*program
	walker  walker
	words   bool
	known   map[unistring.String]*usedName
	loose   map[*ast.CallExpression]looseCall // before they are visited
	callees []callee
}

func (s *surveyor) visit(n ast.Node) {
	s.declare(n)
	defer unfold(n) // when it has been looked at
	switch n := n.(type) {
	case *ast.Identifier:
		s.identifier(n)
	case *ast.AwaitExpression:
		s.awaits = s.awaits || s.walker.functions == 0
	case *ast.ReturnStatement:
		s.gives = s.gives || n.Argument != nil && s.walker.functions == 0
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
		s.write(n.Left)
	case *ast.ForIntoExpression:
		s.write(n.Expression)
	case *ast.VariableStatement:
		s.held(n.List)
	case *ast.LexicalDeclaration:
		s.declaration(n)
	case *ast.ForLoopInitializerLexicalDecl:
		s.declaration(&n.LexicalDeclaration)
	case *ast.ForOfStatement:
		s.loop(n.Into, n.Source)
	case *ast.ForInStatement:
		s.loop(n.Into, n.Source)
	case *ast.ClassLiteral:
		s.class(n)
	case *ast.CallExpression:
		s.call(n)
	case *ast.NewExpression:
		s.textual(n.Callee)
	case *ast.DotExpression:
		s.dot(n)
	case *ast.BracketExpression:
		s.mention(n, 1)
		s.named(n.Member)
		s.misread(n.Left, "its elements")
	case *ast.PropertyKeyed:
		s.named(n.Key)
	case *ast.RegExpLiteral:
		s.regexp(n)
	case *ast.WithStatement:
		s.with = n.With
	}
}

// declare notes the names that a node declares.
func (s *surveyor) declare(n ast.Node) {
	switch n := n.(type) {
	case *ast.Binding:
		bind(n.Target, s.declared)
	case *ast.ForDeclaration:
		bind(n.Target, s.declared)
	case *ast.TryStatement:
		if n.Catch != nil && n.Catch.Parameter != nil {
			bind(n.Catch.Parameter, s.declared)
		}
	case *ast.ClassLiteral:
		if n.Name != nil {
			s.declared(n.Name.Name)
		}
	case *ast.FunctionLiteral:
		if n.Name != nil {
			s.declared(n.Name.Name)
		}
		bind(n.ParameterList.Rest, s.declared)
	case *ast.ArrowFunctionLiteral:
		bind(n.ParameterList.Rest, s.declared)
	}
}

func (s *surveyor) declared(name unistring.String) { s.name(name).declared++ }

func (s *surveyor) name(name unistring.String) *usedName {
	known := s.known[name]
	if known == nil {
		known = &usedName{place: place{name: name.String()}}
		s.known[name] = known
	}
	return known
}

// use notes a name that is used.
func (s *surveyor) use(id *ast.Identifier) *usedName {
	n := s.name(id.Name)
	n.uses++
	if !n.used {
		n.used, n.at = true, id.Idx
		s.names = append(s.names, n)
	}
	n.at = min(n.at, id.Idx)
	return n
}

func (s *surveyor) identifier(id *ast.Identifier) {
	s.use(id)
	s.word(id.Name.String(), id.Idx)
}

func (s *surveyor) word(name string, at file.Idx) {
	if s.words {
		s.outline.words = append(s.outline.words, place{name, at})
	}
}

// named notes a name that is written as a text, or as the key of a property.
func (s *surveyor) named(e ast.Expression) {
	if text, ok := e.(*ast.StringLiteral); ok && s.words {
		s.word(text.Value.String(), text.Idx)
	}
}

func (s *surveyor) unary(n *ast.UnaryExpression) {
	id, isName := n.Operand.(*ast.Identifier)
	switch n.Operator {
	case token.TYPEOF:
		if isName {
			put(&s.guarded, id.Name.String(), true)
		}
	case token.INCREMENT, token.DECREMENT:
		s.write(n.Operand)
	case token.DELETE:
		s.writeMember(n.Operand, true)
	}
}

func (s *surveyor) dot(n *ast.DotExpression) {
	s.mention(n, 1)
	s.word(n.Identifier.Name.String(), n.Identifier.Idx)
	if global, ok := n.Left.(*ast.Identifier); ok && global.Name == "globalThis" {
		s.look("globalThis", n.Identifier.Name.String())
	}
	switch name := n.Identifier.Name.String(); name {
	case "then", "catch", "finally":
	default:
		s.misread(n.Left, name)
	}
}

// in notes what is looked for in an object by name.
func (s *surveyor) in(n *ast.BinaryExpression) {
	name, isText := n.Left.(*ast.StringLiteral)
	object, isName := n.Right.(*ast.Identifier)
	if isText && isName && n.Operator == token.IN {
		s.look(object.Name.String(), name.Value.String())
	}
}

// look notes that the program looks whether an object has a member.
func (s *surveyor) look(object, name string) {
	if object == "globalThis" {
		put(&s.guarded, name, true)
		return
	}
	s.tested = append(s.tested, mention{member{object, name}, 1})
}

func (s *surveyor) mention(e ast.Expression, times int) {
	if object, name, _, ok := calleeOf(e); ok && object != "" {
		s.tested = append(s.tested, mention{member{object, name}, times})
	}
}

// unicodeClass is a property escape that is not itself escaped.
var unicodeClass = regexp.MustCompile(`(^|[^\\])(\\\\)*\\[pP]\{`)

func (s *surveyor) regexp(n *ast.RegExpLiteral) {
	s.broken = s.broken || !strings.HasPrefix(n.Literal, "/"+n.Pattern+"/")
	if neverMatches(n) {
		s.findings = append(s.findings, Finding{
			Message: `\p{…} never matches in this engine`,
			Hint:    `write the characters as a range, such as [A-Za-zÀ-ɏ]`,
			Pos:     s.source.fromIdx(n.Idx),
		})
	}
}

func neverMatches(n *ast.RegExpLiteral) bool {
	return strings.Contains(n.Flags, "u") && unicodeClass.MatchString(n.Pattern)
}

// call notes a call.
func (s *surveyor) call(n *ast.CallExpression) {
	object, name, at, ok := calleeOf(n.Callee)
	loose := s.loose[n]
	s.callback(n)
	s.textual(n.Callee)
	if at != 0 {
		s.callees = append(s.callees, callee{n.LeftParenthesis, at})
	}
	if !ok {
		s.deeper(n.Callee)
		return
	}
	if object != "" {
		s.mention(n.Callee, -1)
	}
	s.calls = append(s.calls, callSite{member: member{object, name}, at: at, arguments: n.ArgumentList, looseCall: loose})
}

// deeper notes a call of a member of a member, as in tools.orders.list().
func (s *surveyor) deeper(callee ast.Expression) {
	var of ast.Expression
	switch e := callee.(type) {
	case *ast.DotExpression:
		of = e.Left
	case *ast.BracketExpression:
		of = e.Left
	}
	if object, name, at, ok := calleeOf(of); ok && object != "" {
		s.mention(of, -1)
		s.calls = append(s.calls, callSite{member: member{object, name}, at: at, deeper: true})
	}
}

const fromText = "Function cannot be called: code cannot be made from text here"

// textual notes code that is to be made from text. Function as such is known, for
// the sake of instanceof.
func (s *surveyor) textual(callee ast.Expression) {
	if id, ok := callee.(*ast.Identifier); ok && id.Name == "Function" {
		s.findings = append(s.findings, Finding{Message: fromText, Hint: "write the function itself", Pos: s.source.fromIdx(id.Idx)})
	}
}

// calleeOf reads f, object.name and object["name"]; at is where the name stands,
// also if what it is a member of is not a name.
func calleeOf(e ast.Expression) (object, name string, at file.Idx, ok bool) {
	switch e := e.(type) {
	case *ast.Identifier:
		return "", e.Name.String(), e.Idx, true
	case *ast.DotExpression:
		left, ok := e.Left.(*ast.Identifier)
		if !ok {
			return "", "", e.Identifier.Idx, false
		}
		return left.Name.String(), e.Identifier.Name.String(), e.Identifier.Idx, true
	case *ast.BracketExpression:
		left, isName := e.Left.(*ast.Identifier)
		member, isText := e.Member.(*ast.StringLiteral)
		if isName && isText {
			return left.Name.String(), member.Value.String(), member.Idx, true
		}
	}
	return "", "", 0, false
}
