package engine

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// arguments reads as much of a tool call's argument as the source tells; nil if
// that is nothing.
func arguments(list []ast.Expression) *Literal {
	if len(list) == 0 {
		return &Literal{JSON: json.RawMessage(`{}`)}
	}
	if id, ok := list[0].(*ast.Identifier); ok && id.Name == "undefined" {
		return arguments(nil)
	}
	var l literal
	if l.value(list[0], ""); slices.Contains(l.unknown, "") {
		return nil
	}
	return &Literal{JSON: l.buf.Bytes(), Unknown: l.unknown}
}

// gathered reads the arguments of a tool that takes several, as one object.
func gathered(list []ast.Expression, params []string) *Literal {
	var l literal
	l.buf.WriteByte('{')
	for i, e := range list[:min(len(list), len(params))] {
		if _, spread := e.(*ast.SpreadElement); spread {
			l.unknown = append(l.unknown, "/...")
			break
		}
		if id, ok := e.(*ast.Identifier); ok && id.Name == "undefined" {
			continue
		}
		l.comma(l.buf.Len() - 1)
		l.text(params[i])
		l.buf.WriteByte(':')
		l.value(e, "/"+escapePointer(params[i]))
	}
	l.buf.WriteByte('}')
	return &Literal{JSON: l.buf.Bytes(), Unknown: l.unknown}
}

// literal writes an expression as JSON, with null for what only running tells.
type literal struct {
	buf     bytes.Buffer
	unknown []string
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
	case *ast.TemplateLiteral:
		if len(e.Expressions) > 0 || e.Tag != nil || len(e.Elements) != 1 {
			l.guess(path)
			return
		}
		l.text(e.Elements[0].Parsed.String())
	default:
		l.guess(path)
	}
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
			l.unknown = append(l.unknown, path+"/...") // nor is it known where the rest will stand
			break
		}
		l.comma(i)
		l.value(item, path+"/"+strconv.Itoa(i))
	}
	l.buf.WriteByte(']')
}

func (l *literal) object(e *ast.ObjectLiteral, path string) {
	l.buf.WriteByte('{')
	var keys []string // as they come, which is the order of what is unknown
	open, seen := false, map[string]bool{}
	for _, property := range e.Value {
		key, value, ok := keyed(property)
		if ok && key == "__proto__" && value != nil {
			continue // it sets the prototype, and is no member
		}
		if !ok || seen[key] { // it may replace whatever stands before it
			open = true
			for _, earlier := range keys {
				l.unknown = append(l.unknown, path+"/"+escapePointer(earlier))
			}
			continue
		}
		if undefined, ok := value.(*ast.Identifier); ok && undefined.Name == "undefined" {
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

// keyed returns a property whose name is known; ok is false for a spread, a
// computed name, an accessor.
func keyed(p ast.Property) (key string, value ast.Expression, ok bool) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name.String(), &p.Name, true
	case *ast.PropertyKeyed:
		name, isText := p.Key.(*ast.StringLiteral)
		if isText && !p.Computed && p.Kind == ast.PropertyKindValue {
			return name.Value.String(), p.Value, true
		}
	}
	return "", nil, false
}

func escapePointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
