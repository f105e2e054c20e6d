package check

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// A program's top-level declarations are local to the function around the program. To make them visible to a session's
// later programs, Parse adds a statement at the beginning of the program. The statement passes a getter and a setter
// for each declaration to a function, which makes the declaration a property of the global object:
//
//	__writ_export__({rows:[()=>rows,0],total:[()=>total,_=>{total=_}],});

// ExportName is the function that this statement calls. It can be called once per program.
const ExportName = "__writ_export__"

// declaration is a program's top-level declaration.
type declaration struct {
	name     string
	constant bool
}

// exporter returns the statement that calls ExportName for a list of declarations.
func exporter(list []declaration) string {
	var b strings.Builder
	b.WriteString(ExportName + "({")
	for _, d := range list {
		key, value, set := d.name, "_", "0"
		if key == "__proto__" {
			key = `["__proto__"]` // without brackets it would set the prototype
		}
		if d.name == value {
			value = "$"
		}
		if !d.constant {
			set = value + "=>{" + d.name + "=" + value + "}"
		}
		b.WriteString(key + ":[()=>" + d.name + "," + set + "],")
	}
	b.WriteString("});")
	return b.String()
}

// declarations lists a program's top-level declarations.
func declarations(tree *js.AST) []declaration {
	constants := names{}
	for _, statement := range tree.List {
		if d, ok := statement.(*js.VarDecl); ok && d.TokenType == js.ConstToken {
			for _, element := range d.List {
				js.Walk(constants, element.Binding)
			}
		}
	}
	var list []declaration
	for _, v := range tree.Scope.Declared {
		switch name := string(v.Name()); v.Decl {
		case js.VariableDecl, js.FunctionDecl, js.LexicalDecl:
			list = append(list, declaration{name, constants[name]})
		}
	}
	return list
}

// names is the set of names in a syntax tree.
type names map[string]bool

// Enter implements [js.IVisitor].
func (s names) Enter(n js.INode) js.IVisitor {
	if v, ok := n.(*js.Var); ok {
		s[string(v.Name())] = true
	}
	return s
}

// Exit implements [js.IVisitor].
func (names) Exit(js.INode) {}
