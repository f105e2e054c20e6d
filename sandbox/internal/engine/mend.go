package engine

import (
	"errors"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/unistring"
)

// Goja's parser refuses programs that have
//
//	class Route { get = "/"; static async }
//	const {size: [w = 1, h = w] = []} = box
//
// For it, such a field gets another name, as long; and such a pattern is emptied,
// and parsed by itself. Both are put right in the syntax tree, where everything
// stands at its place.

// maxMends bounds how deep patterns are that are parsed by themselves, in one
// another's defaults, as each costs another parse of what is in it.
const maxMends = 8

type mending struct {
	text     string // of the wrapped program
	fields   map[file.Idx]bool
	patterns map[file.Idx]*ast.ArrayPattern // where they open
}

// parseMended parses a wrapped program. The fields are those that goja may not
// know.
func parseMended(name, text string, fields []file.Idx) (*ast.Program, error) {
	m := mending{text, map[file.Idx]bool{}, map[file.Idx]*ast.ArrayPattern{}}
	renamed := []byte(text)
	for _, at := range fields {
		m.fields[at] = true
		renamed[at-1] -= 'a' - 'A'
	}
	tree, err := m.parse(name, string(renamed), 0)
	if err != nil {
		return nil, err
	}
	for _, statement := range tree.Body {
		walk(statement, m.restore)
	}
	return tree, nil
}

// parse parses a text, emptying the patterns that are refused. What is in the
// parameters of an arrow function may only then be seen.
func (m *mending) parse(name, text string, depth int) (*ast.Program, error) {
	for range maxMends {
		tree, err := parseByGoja(name, text)
		if !onlyBadTargets(err) || depth == maxMends {
			return tree, err
		}
		refused := refusedPatterns(tree)
		if len(refused) == 0 {
			return nil, err
		}
		for _, p := range refused {
			if !m.pattern(text, p, depth+1) {
				return nil, err
			}
			text = text[:p.LeftBracket] + blank(text[p.LeftBracket:p.RightBracket-1]) + text[p.RightBracket-1:]
		}
	}
	return nil, errors.New("its patterns are too complicated")
}

// pattern parses a pattern by itself, as that of an assignment.
func (m *mending) pattern(text string, p *ast.ArrayPattern, depth int) bool {
	before := len(prologue)
	alone := prologue + blank(text[before:p.LeftBracket-1]) + text[p.LeftBracket-1:p.RightBracket] + "=0" + epilogue
	tree, err := m.parse("", alone, depth)
	if err != nil {
		return false
	}
	list := wrapperOf(tree).Body.(*ast.BlockStatement).List
	statement, _ := list[len(list)-1].(*ast.ExpressionStatement)
	if statement == nil {
		return false
	}
	assignment, _ := statement.Expression.(*ast.AssignExpression)
	if assignment == nil {
		return false
	}
	whole, ok := assignment.Left.(*ast.ArrayPattern)
	m.patterns[p.LeftBracket] = whole
	return ok
}

// restore puts a node right that is to be walked.
func (m *mending) restore(n ast.Node) {
	switch n := n.(type) {
	case *ast.FieldDefinition:
		if key, ok := n.Key.(*ast.StringLiteral); ok && m.fields[key.Idx] {
			name := m.slice(key.Idx, len(key.Literal))
			n.Key = &ast.StringLiteral{Idx: key.Idx, Literal: name, Value: unistring.String(name)}
		}
	case *ast.ArrayPattern:
		if whole := m.patterns[n.LeftBracket]; whole != nil {
			n.Elements, n.Rest = whole.Elements, whole.Rest
		}
	case *ast.FunctionLiteral:
		n.Source = m.slice(n.Function, len(n.Source))
	case *ast.ArrowFunctionLiteral:
		n.Source = m.slice(n.Start, len(n.Source))
	case *ast.ClassLiteral:
		n.Source = m.slice(n.Class, len(n.Source))
	case *ast.ClassStaticBlock:
		n.Source = m.slice(n.Block.LeftBrace, len(n.Source))
	}
}

func (m *mending) slice(at file.Idx, length int) string {
	return m.text[int(at)-1 : int(at)-1+length]
}

// onlyBadTargets reports whether a parse failed, and for patterns alone.
func onlyBadTargets(err error) bool {
	var list parser.ErrorList
	if !errors.As(err, &list) {
		return false
	}
	for _, e := range list {
		if e.Message != "Invalid destructuring binding target" {
			return false
		}
	}
	return true
}

// refusedPatterns lists the array patterns that have lost elements, but not those
// within one another.
func refusedPatterns(tree *ast.Program) []*ast.ArrayPattern {
	var list []*ast.ArrayPattern
	end := file.Idx(0)
	for _, statement := range tree.Body {
		walk(statement, func(n ast.Node) {
			p, ok := n.(*ast.ArrayPattern)
			if ok && p.LeftBracket > end && slices.ContainsFunc(p.Elements, isBad) {
				list, end = append(list, p), p.RightBracket
			}
		})
	}
	return list
}

func isBad(e ast.Expression) bool {
	_, bad := e.(*ast.BadExpression)
	return bad
}

// blank is a text of nothing but space, whose lines are those of another.
func blank(text string) string {
	space := []byte(text)
	for i := range space {
		if c := space[i]; c != '\n' && c != '\r' {
			space[i] = ' '
		}
	}
	return string(space)
}
