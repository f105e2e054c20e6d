package check

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// writeSite is an assignment to an undeclared name, or to a member of an object with an undeclared name.
type writeSite struct {
	member // object is "" if the name itself is assigned to
	at     file.Idx
	delete bool
}

// member is a member of an object, or a name.
type member struct{ object, name string }

// writeTarget is an expression that the program assigns to or deletes.
type writeTarget struct {
	scopedExpression
	delete      bool
	conditional bool // the assignment is conditional, such as ||=
}

// write records the target of an assignment.
func (s *surveyor) write(target ast.Expression, conditional bool) {
	switch t := target.(type) {
	case *ast.Identifier, *ast.DotExpression, *ast.BracketExpression:
		s.targets = append(s.targets, writeTarget{scopedExpression: s.here(t), conditional: conditional})
	case *ast.ArrayPattern:
		for _, element := range t.Elements {
			s.write(element, conditional)
		}
		s.write(t.Rest, conditional)
	case *ast.ObjectPattern:
		for _, property := range t.Properties {
			switch p := property.(type) {
			case *ast.PropertyShort:
				s.write(&p.Name, conditional)
			case *ast.PropertyKeyed:
				s.write(p.Value, conditional)
			}
		}
		s.write(t.Rest, conditional)
	}
}
