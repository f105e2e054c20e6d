package engine

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// writeSite is an assignment to a name, or to a member of one.
type writeSite struct {
	member // object is "" for a name by itself
	at     file.Idx
	delete bool
}

// write notes what is assigned to: names that nothing declares, and members of
// such. It is visited before the name itself.
func (s *surveyor) write(target ast.Expression) {
	switch t := target.(type) {
	case *ast.Identifier:
		s.writeName(t)
	case *ast.DotExpression, *ast.BracketExpression:
		s.writeMember(t, false)
	case *ast.ArrayPattern:
		for _, element := range t.Elements {
			s.write(element)
		}
		s.write(t.Rest)
	case *ast.ObjectPattern:
		for _, property := range t.Properties {
			switch p := property.(type) {
			case *ast.PropertyShort:
				s.writeName(&p.Name)
			case *ast.PropertyKeyed:
				s.write(p.Value)
			}
		}
		s.write(t.Rest)
	}
}

func (s *surveyor) writeName(id *ast.Identifier) {
	name := s.use(id)
	name.assigned = name.assigned || name.at == id.Idx
	s.writes = append(s.writes, writeSite{member: member{name: name.name}, at: id.Idx})
}

func (s *surveyor) writeMember(e ast.Expression, deleted bool) {
	object, name, at, ok := calleeOf(e)
	if ok && object != "" {
		s.writes = append(s.writes, writeSite{member{object, name}, at, deleted})
	}
}
