package check

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/unistring"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// goja's parser refuses programs with
//
//	class Route { get = "/"; static async }
//	const {size: [w = 1, h = w] = []} = box
//
// Such a field is renamed to a name of the same length. Such a pattern is replaced with
// spaces and parsed by itself. The syntax tree is repaired afterwards, so that all
// positions are right.

// maxAttempts bounds how often a text is parsed again, and how deeply such patterns are
// nested in each other's defaults.
const maxAttempts = 8

type tolerantParser struct {
	text     string                         // of the wrapped program
	other    string                         // the text with renamed fields
	patterns map[file.Idx]*ast.ArrayPattern // by the index of their opening bracket
	renamed  int                            // the number of renamed bytes that have not been restored
	fields   []int                          // the offsets of the renamed bytes
	walker   Walker
	awaits   file.Idx // the position of an await that is not allowed, or 0
}

// parseTolerantly parses a wrapped program that goja's parser refuses. renamed is the text
// with renamed fields.
func parseTolerantly(name, text, renamed string) (*ast.Program, error) {
	m := tolerantParser{text: text, other: renamed, patterns: map[file.Idx]*ast.ArrayPattern{}}
	for i := range len(text) {
		if text[i] != renamed[i] {
			m.renamed++
		}
	}
	tree, err := m.parse(name, renamed, 0)
	if err != nil {
		return nil, err
	}
	m.walker.Visit = m.restore
	for _, statement := range tree.Body {
		m.walker.Walk(statement)
	}
	switch {
	case m.renamed > 0: // something was renamed that only looks like a field
		return parseTolerantly(name, text, m.onlyFields())
	case m.awaits > 0:
		return nil, m.misplaced()
	}
	return tree, nil
}

// onlyFields returns the text in which only fields are renamed.
func (m *tolerantParser) onlyFields() string {
	text := []byte(m.text)
	for _, at := range m.fields {
		text[at] = m.other[at]
	}
	return string(text)
}

// misplaced returns the error for an await in a parameter, which the parser missed because
// it saw the pattern without its function.
func (m *tolerantParser) misplaced() error {
	var list parser.ErrorList
	list.Add(file.NewFile("", m.text, 1).Position(int(m.awaits)-1), AwaitMessage)
	return list
}

// parse parses a text, and empties refused patterns as long as that helps. Those in the
// parameters of arrow functions may be found last.
func (m *tolerantParser) parse(name, text string, depth int) (*ast.Program, error) {
	tree, err := parseByGoja(name, text)
	for range maxAttempts {
		if !onlyBadTargets(err) || depth == maxAttempts {
			break
		}
		emptied := m.empty(text, tree, depth+1)
		if emptied == text {
			break
		}
		text = emptied
		tree, err = parseByGoja(name, text)
	}
	return tree, err
}

// empty removes the elements of the refused patterns.
func (m *tolerantParser) empty(text string, tree *ast.Program, depth int) string {
	for _, p := range refusedPatterns(tree) {
		if m.pattern(text, p, depth) {
			text = text[:p.LeftBracket] + blank(text[p.LeftBracket:p.RightBracket-1]) + text[p.RightBracket-1:]
		}
	}
	return text
}

// pattern parses a pattern by itself, as the target of an assignment.
func (m *tolerantParser) pattern(text string, p *ast.ArrayPattern, depth int) bool {
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

// restore repairs a node before its children are walked.
func (m *tolerantParser) restore(n ast.Node) {
	switch n := n.(type) {
	case *ast.AwaitExpression:
		if !m.walker.Awaits() && m.awaits == 0 {
			m.awaits = n.Await
		}
	case *ast.Identifier:
		m.identifier(n)
	case *ast.FieldDefinition:
		m.name(n.Key)
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

// name restores the name of a field.
func (m *tolerantParser) name(key ast.Expression) {
	switch key := key.(type) {
	case *ast.StringLiteral:
		if name := m.slice(key.Idx, len(key.Literal)); name != key.Literal {
			key.Literal, key.Value = name, unistring.String(strings.Trim(name, `"'`))
			m.restored(key.Idx)
		}
	case *ast.PrivateIdentifier:
		if name := m.slice(key.Idx+1, len("get")); key.Name == "Get" && name == "get" || key.Name == "Set" && name == "set" {
			key.Name = unistring.String(name)
			m.restored(key.Idx + 1)
		}
	}
}

// identifier restores the name of a rest target.
func (m *tolerantParser) identifier(id *ast.Identifier) {
	length, start := len(id.Name), int(id.Idx)-1
	name := string(id.Name)
	if !plain.MatchString(name) || start+length > len(m.text) ||
		m.text[start:start+length] == name || m.other[start:start+length] != name {
		return
	}
	id.Name = unistring.NewFromString(m.text[start : start+length])
	for at := start; at < start+length; at++ {
		if m.text[at] != m.other[at] {
			m.restored(file.Idx(at + 1))
		}
	}
}

var (
	plain = regexp.MustCompile(`^[\w$]+$`)
	rest  = regexp.MustCompile(`\.\.\.\s*[\pL\pM\pN_$]+\s*[\]}]`)
)

// renameRests gives possible rest targets ASCII names. goja's parser panics on other names,
// because it looks for a comma at the wrong position behind them.
func renameRests(text string) string {
	return rest.ReplaceAllStringFunc(text, func(target string) string {
		other := []byte(target)
		for i, c := range other {
			if c >= utf8.RuneSelf {
				other[i] = 'x'
			}
		}
		return string(other)
	})
}

func (m *tolerantParser) restored(at file.Idx) {
	m.renamed--
	m.fields = append(m.fields, int(at)-1)
}

func (m *tolerantParser) slice(at file.Idx, length int) string {
	return m.text[int(at)-1 : int(at)-1+length]
}

// onlyBadTargets reports whether all errors of a parser are refused patterns.
func onlyBadTargets(err error) bool {
	var refused parser.ErrorList
	return errors.As(err, &refused) && !slices.ContainsFunc(refused, func(e *parser.Error) bool {
		return e.Message != "Invalid destructuring binding target"
	})
}

// refusedPatterns returns the outermost array patterns that have lost elements.
func refusedPatterns(tree *ast.Program) []*ast.ArrayPattern {
	var list []*ast.ArrayPattern
	end := file.Idx(0)
	for _, statement := range tree.Body {
		Walk(statement, func(n ast.Node) {
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

// blank replaces a text with spaces, except for its line terminators.
func blank(text string) string {
	blanks := bytes.Repeat([]byte{' '}, len(text))
	for i := range blanks {
		if engine.EndsLine(text, i) {
			start := i
			if text[i] >= utf8.RuneSelf { // the last of three bytes
				start -= 2
			}
			copy(blanks[start:], text[start:i+1])
		}
	}
	return string(blanks)
}
