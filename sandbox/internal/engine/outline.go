package engine

import (
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
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
	tested   map[member]int  // how often members are mentioned and not called, as in if (fs.stat) …
	words    []place         // every name and member, if rules forbid some
	with     file.Idx        // where a with statement stands, which strict mode does not have; 0 if there is none
	depth    int             // how deep the source is nested
	gives    bool            // whether the program says what its value is
}

// usedName is a name that nothing declares, where it is first used.
type usedName struct {
	place
	assigned bool // there
}

// place is a name and where it stands.
type place struct {
	name string
	at   file.Idx
}

type member struct{ object, name string }

// callSite is a call of a name, or of a member of a name.
type callSite struct {
	member
	at        file.Idx
	arguments []ast.Expression
	discarded bool   // its promise is
	property  string // read from its promise, "" if none is
}

// survey makes the outline of a program. Words says whether it lists every name.
func (p *program) survey(body []ast.Statement, words bool) {
	s := surveyor{program: p, words: words, names: map[string]*usedName{}, loose: map[ast.Node]string{}}
	p.tested = map[member]int{}
	for _, statement := range body {
		p.depth = max(p.depth, walk(statement, s.visit))
	}
}

// surveyor walks a program for its outline.
type surveyor struct {
	*program
	words bool
	names map[string]*usedName
	loose map[ast.Node]string // calls that nothing awaits, and what is read of their promise
}

// discarded stands for the property that is read of a promise which nothing
// looks at.
const discarded = "\x00"

func (s *surveyor) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.Identifier:
		s.identifier(n)
	case *ast.ExpressionStatement:
		s.discard(n.Expression)
	case *ast.UnaryExpression:
		s.unary(n)
	case *ast.BinaryExpression:
		s.in(n)
	case *ast.AssignExpression:
		s.write(n.Left)
	case *ast.ForIntoExpression:
		s.write(n.Expression)
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
		if call, ok := n.Left.(*ast.CallExpression); ok {
			s.loose[call] = "its elements"
		}
	case *ast.PropertyKeyed:
		s.named(n.Key)
	case *ast.RegExpLiteral:
		s.regexp(n)
	case *ast.WithStatement:
		s.with = n.With
	}
}

// use notes a name, unless the program declares it: elsewhere, that is, as it is
// not known which of them this is.
func (s *surveyor) use(id *ast.Identifier) *usedName {
	name := id.Name.String()
	if !s.undeclared[name] || s.declared[name] {
		return nil
	}
	known := s.names[name]
	switch {
	case known == nil:
		known = &usedName{place: place{name, id.Idx}}
		s.names[name] = known
		s.outline.names = append(s.outline.names, known)
	case id.Idx < known.at:
		known.at = id.Idx
	}
	return known
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
	call, ok := n.Left.(*ast.CallExpression)
	if !ok {
		return
	}
	switch name := n.Identifier.Name.String(); name {
	case "then", "catch", "finally":
	default:
		s.loose[call] = name
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
	s.tested[member{object, name}]++
}

func (s *surveyor) mention(e ast.Expression, times int) {
	if object, name, _, ok := callee(e); ok && object != "" {
		s.tested[member{object, name}] += times
	}
}

// unicodeClass is a property escape that is not itself escaped.
var unicodeClass = regexp.MustCompile(`(^|[^\\])(\\\\)*\\[pP]\{`)

func (s *surveyor) regexp(n *ast.RegExpLiteral) {
	if strings.Contains(n.Flags, "u") && unicodeClass.MatchString(n.Pattern) {
		s.findings = append(s.findings, Finding{
			Message: `\p{…} never matches in this engine`,
			Hint:    `write the characters as a range, such as [A-Za-zÀ-ɏ]`,
			Pos:     s.source.fromIdx(n.Idx),
		})
	}
}

// call notes a call. A name that the program declares anywhere is not looked at:
// it may shadow the tool here.
func (s *surveyor) call(n *ast.CallExpression) {
	object, name, at, ok := callee(n.Callee)
	s.callback(n)
	s.textual(n.Callee)
	if at != 0 {
		s.source.called(n.LeftParenthesis, at)
	}
	if !ok || !s.resolved {
		return
	}
	base := object
	if base == "" {
		base = name
	} else {
		s.mention(n.Callee, -1)
	}
	if !s.undeclared[base] || s.declared[base] {
		return
	}
	property := s.loose[n]
	site := callSite{member: member{object, name}, at: at, arguments: n.ArgumentList, discarded: property == discarded}
	if !site.discarded {
		site.property = property
	}
	s.calls = append(s.calls, site)
}

// textual notes code that is to be made from text. Function as such is known, for
// the sake of instanceof.
func (s *surveyor) textual(callee ast.Expression) {
	if id, ok := callee.(*ast.Identifier); ok && id.Name == "Function" && !s.declared["Function"] {
		s.findings = append(s.findings, Finding{
			Message: "Function cannot be called: code cannot be made from text here",
			Hint:    "write the function itself",
			Pos:     s.source.fromIdx(id.Idx),
		})
	}
}

// callee reads f, object.name and object["name"]; at is where the name stands,
// also if what it is a member of is not a name.
func callee(e ast.Expression) (object, name string, at file.Idx, ok bool) {
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
