package check

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// arguments returns the part of a call's argument that is known from the source, or nil if nothing is known.
func arguments(list []ast.Expression, in *block) *engine.Literal {
	if len(list) == 0 || isUndefined(list[0], in) {
		return &engine.Literal{JSON: json.RawMessage(`{}`)}
	}
	l := literal{block: in}
	if l.value(list[0], ""); slices.Contains(l.unknown, "") {
		return unknownText(list[0], in)
	}
	return &engine.Literal{JSON: l.buf.Bytes(), Unknown: l.unknown}
}

// gathered is like arguments, but for a tool that takes several arguments, which are combined into one object.
func gathered(list []ast.Expression, in *block, params []string) *engine.Literal {
	l := literal{block: in}
	l.buf.WriteByte('{')
	for i, e := range list[:min(len(list), len(params))] {
		if _, spread := e.(*ast.SpreadElement); spread {
			l.unknown = append(l.unknown, "/...")
			break
		}
		if isDropped(e, in) {
			continue
		}
		l.comma(l.buf.Len() - 1)
		l.text(params[i])
		l.buf.WriteByte(':')
		l.value(e, "/"+escapePointer(params[i]))
	}
	l.buf.WriteByte('}')
	return &engine.Literal{JSON: l.buf.Bytes(), Unknown: l.unknown}
}

// literal encodes an expression as JSON. It writes null for the parts that are not known before the program
// runs.
type literal struct {
	block     *block
	variables int // the number of variables that have been followed to the current expression
	buf       bytes.Buffer
	unknown   []string
}

// isUndefined reports whether an expression is undefined: the global, or void 0.
func isUndefined(e ast.Expression, in *block) bool {
	if unary, ok := e.(*ast.UnaryExpression); ok {
		return unary.Operator == token.VOID
	}
	id, ok := e.(*ast.Identifier)
	return ok && id.Name == "undefined" && in.find(id.Name) == nil
}

// isDropped reports whether JSON omits a member with this value.
func isDropped(e ast.Expression, in *block) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return isUndefined(e, in)
}

// unknownText returns a literal that stands for an unknown string, or nil if the expression may be something
// other than a string.
func unknownText(e ast.Expression, in *block) *engine.Literal {
	if isText(e, in, maxPath) {
		return &engine.Literal{JSON: json.RawMessage(`""`), Unknown: []string{""}}
	}
	return nil
}

func isText(e ast.Expression, in *block, steps int) bool {
	if steps--; steps < 0 {
		return false
	}
	switch e := e.(type) {
	case *ast.StringLiteral:
		return true
	case *ast.TemplateLiteral:
		return e.Tag == nil
	case *ast.BinaryExpression:
		return e.Operator == token.PLUS && (isText(e.Left, in, steps) || isText(e.Right, in, steps))
	case *ast.Identifier:
		v := in.find(e.Name)
		return v != nil && v.constant() && len(v.path) == 0 && isText(v.value, v.block, steps)
	}
	return false
}

func (l *literal) value(e ast.Expression, path string) {
	switch e := e.(type) {
	case *ast.StringLiteral:
		l.text(e.Value.String())
	case *ast.NumberLiteral:
		l.number(e.Value, "", path)
	case *ast.BooleanLiteral:
		l.buf.WriteString(strconv.FormatBool(e.Value))
	case *ast.NullLiteral:
		l.buf.WriteString("null")
	case *ast.ObjectLiteral:
		l.object(e, path)
	case *ast.ArrayLiteral:
		l.array(e, path)
	case *ast.UnaryExpression:
		n, ok := e.Operand.(*ast.NumberLiteral)
		if !ok || e.Operator != token.MINUS {
			l.guess(path)
			return
		}
		l.number(n.Value, "-", path)
	case *ast.Identifier:
		l.variable(e, path)
	default:
		text, ok := constantText(e, l.block)
		if !ok {
			l.guess(path)
			return
		}
		l.text(text)
	}
}

// variable encodes a variable's value, or null if the value is unknown or may change.
func (l *literal) variable(id *ast.Identifier, path string) {
	v := l.block.find(id.Name)
	if v == nil || !v.constant() || len(v.path) > 0 || l.variables == maxPath {
		l.guess(path)
		return
	}
	value := v.value
	switch value.(type) {
	case *ast.ObjectLiteral, *ast.ArrayLiteral:
		if v.reads > 1 { // the program may have changed the object
			value = nil
		}
	case *ast.StringLiteral, *ast.TemplateLiteral:
		if _, ok := constantText(id, l.block); !ok {
			value = nil
		}
	case *ast.Identifier: // the other variable may hold an object that the program changes
		value = nil
	}
	outer := l.block
	l.block = v.block
	l.variables++
	l.value(value, path)
	l.variables--
	l.block = outer
}

func (l *literal) guess(path string) {
	l.buf.WriteString("null")
	l.unknown = append(l.unknown, path)
}

func (l *literal) text(s string) {
	quoted, err := json.Marshal(s)
	if err != nil {
		quoted = []byte(`""`) // unreachable: every string has a JSON form
	}
	l.buf.Write(quoted)
}

func (l *literal) number(v any, sign, path string) {
	switch v := v.(type) {
	case int64:
		l.buf.WriteString(sign + strconv.FormatInt(v, 10))
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			l.guess(path)
			return
		}
		l.buf.WriteString(sign + strconv.FormatFloat(v, 'g', -1, 64))
	default: // a BigInt
		l.guess(path)
	}
}

func (l *literal) array(e *ast.ArrayLiteral, path string) {
	l.buf.WriteByte('[')
	for i, item := range e.Value {
		if _, spread := item.(*ast.SpreadElement); spread || item == nil {
			l.unknown = append(l.unknown, path+"/...") // the positions of the other items are not known either
			break
		}
		l.comma(i)
		l.value(item, path+"/"+strconv.Itoa(i))
	}
	l.buf.WriteByte(']')
}

func (l *literal) object(e *ast.ObjectLiteral, path string) {
	if slices.ContainsFunc(e.Value, isToJSON) {
		l.guess(path)
		return
	}
	l.buf.WriteByte('{')
	var keys []string // in the order of the source, so that the order of l.unknown does not vary
	open, seen := false, map[string]bool{}
	for _, property := range e.Value {
		key, value, ok := keyed(property)
		if ok && key == "__proto__" && value != nil {
			continue // the property sets the prototype
		}
		if !ok || seen[key] { // the property may replace earlier members
			open = true
			for _, earlier := range keys {
				l.unknown = append(l.unknown, path+"/"+escapePointer(earlier))
			}
			continue
		}
		if isDropped(value, l.block) {
			continue
		}
		l.comma(len(keys))
		keys, seen[key] = append(keys, key), true
		l.text(key)
		l.buf.WriteByte(':')
		l.value(value, path+"/"+escapePointer(key))
	}
	l.buf.WriteByte('}')
	if open {
		l.unknown = append(l.unknown, path+"/...")
	}
}

func (l *literal) comma(n int) {
	if n > 0 {
		l.buf.WriteByte(',')
	}
}

// keyed returns a property's name and value. ok is false for spreads, computed names and accessors.
func keyed(p ast.Property) (key string, value ast.Expression, ok bool) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name.String(), &p.Name, true
	case *ast.PropertyKeyed:
		name, isText := p.Key.(*ast.StringLiteral)
		if isText && !p.Computed && (p.Kind == ast.PropertyKindValue || p.Kind == ast.PropertyKindMethod) {
			return name.Value.String(), p.Value, true
		}
	}
	return "", nil, false
}

func isToJSON(p ast.Property) bool {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name == "toJSON"
	case *ast.PropertyKeyed:
		key, ok := p.Key.(*ast.StringLiteral)
		return ok && key.Value == "toJSON"
	}
	return false
}

func escapePointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
