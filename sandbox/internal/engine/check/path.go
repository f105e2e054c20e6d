package check

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// path has the name of a global and the names of the members that are read from it in turn, such as mail.send. A
// variable with a fixed value is replaced with that value.
type path struct {
	names    []string
	at       []file.Idx // the position of each name, or of the variable that stands for it
	optional int        // bit n is set if ?. follows the first n names
}

// maxPath is the maximum number of members and variables that are resolved for one expression.
const maxPath = 12

// pathOf returns the path of f, object.name, object["name"] or object?.name, or nil if the
// expression does not begin with a global.
func pathOf(e ast.Expression, in *block) *path { return follow(e, in, maxPath) }

func namesIn(e ast.Expression, in *block) []string {
	if p := pathOf(e, in); p != nil {
		return p.names
	}
	return nil
}

func follow(e ast.Expression, in *block, steps int) *path {
	if steps--; steps < 0 {
		return nil
	}
	switch e := e.(type) {
	case *ast.Identifier:
		v := in.find(e.Name)
		if v == nil {
			return &path{names: []string{e.Name.String()}, at: []file.Idx{e.Idx}}
		}
		if v.fixed() == nil {
			return nil
		}
		p := follow(v.value, v.block, steps)
		for _, name := range v.path {
			p = p.member(name, e.Idx)
		}
		return p.movedTo(e.Idx)
	case *ast.DotExpression:
		return follow(e.Left, in, steps).member(e.Identifier.Name.String(), e.Identifier.Idx)
	case *ast.BracketExpression:
		if name, ok := textOf(e.Member, in, steps); ok {
			return follow(e.Left, in, steps).member(name, e.Member.Idx0())
		}
	case *ast.Optional:
		p := follow(e.Expression, in, steps)
		if p != nil {
			p.optional |= 1 << len(p.names)
		}
		return p
	case *ast.OptionalChain:
		return follow(e.Expression, in, steps)
	}
	return nil
}

func (p *path) member(name string, at file.Idx) *path {
	if p != nil {
		p.names, p.at = append(p.names, name), append(p.at, at)
	}
	return p
}

// movedTo sets the position of each name to at, the position of the variable that stands for the path.
func (p *path) movedTo(at file.Idx) *path {
	if p != nil {
		for i := range p.at {
			p.at[i] = at
		}
	}
	return p
}

func (p *path) end() file.Idx { return p.at[len(p.at)-1] }

// pathKey is the first three names of a path, used as the key of a map.
type pathKey [3]string

func keyOf(names []string) (k pathKey) {
	copy(k[:], names)
	return k
}

func (p *path) is(names ...string) bool { return p != nil && slices.Equal(p.names, names) }

// maxText is the maximum size of a string that results from concatenations and variables.
const maxText = 1000

// constantText returns the string that an expression always evaluates to.
func constantText(e ast.Expression, in *block) (string, bool) { return textOf(e, in, maxPath) }

func textOf(e ast.Expression, in *block, steps int) (string, bool) {
	if steps--; steps < 0 {
		return "", false
	}
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value.String(), true
	case *ast.TemplateLiteral:
		return templateText(e, in, steps)
	case *ast.BinaryExpression:
		left, isText := textOf(e.Left, in, steps)
		right, areTexts := textOf(e.Right, in, steps)
		return left + right, isText && areTexts && e.Operator == token.PLUS && len(left)+len(right) <= maxText
	case *ast.Identifier:
		if v := in.find(e.Name); v != nil && v.constant() && len(v.path) == 0 {
			text, ok := textOf(v.value, v.block, steps)
			return text, ok && len(text) <= maxText
		}
	}
	return "", false
}

func templateText(e *ast.TemplateLiteral, in *block, steps int) (string, bool) {
	if e.Tag != nil {
		return "", false
	}
	var text strings.Builder
	for i, element := range e.Elements {
		text.WriteString(element.Parsed.String())
		if i == len(e.Expressions) {
			break
		}
		part, ok := textOf(e.Expressions[i], in, steps)
		if !ok || text.Len()+len(part) > maxText {
			return "", false
		}
		text.WriteString(part)
	}
	return text.String(), true
}
