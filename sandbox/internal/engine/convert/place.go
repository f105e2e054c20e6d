package convert

import (
	"regexp"

	"github.com/dop251/goja"
)

// Place identifies the objects at one path in the results of a tool, such as .rows[]. All these objects have
// the same prototype. A nil Place stands for an unknown path, whose objects are plain objects.
type Place struct {
	Tool, Path string

	makePrototype func(*Place) *goja.Object
	left          *int // the number of further places that the VM may have
	prototype     *goja.Object
	inner         map[string]*Place // members by their names, and the elements as "[]"
}

// NewPlace returns the place of the results of a tool, or nil if *left is 0. Each new place, even within this
// place, decrements *left. makePrototype returns the prototype of the objects at a place.
func NewPlace(tool string, left *int, makePrototype func(*Place) *goja.Object) *Place {
	if *left == 0 {
		return nil
	}
	*left--
	return &Place{Tool: tool, left: left, makePrototype: makePrototype}
}

// placeName matches the names of members that may be part of a path. Other names are data.
var placeName = regexp.MustCompile(`^[a-zA-Z_$][\w$]{0,63}$`)

// at returns the place of a member, or of the elements if step is "[]". It returns nil if the name is data or
// if there are too many places.
func (p *Place) at(step string) *Place {
	if p == nil {
		return nil
	}
	if known, ok := p.inner[step]; ok {
		return known
	}
	path := p.Path + step
	if step != "[]" {
		if *p.left == 0 || !placeName.MatchString(step) {
			return nil
		}
		path = p.Path + "." + step
	}
	inner := NewPlace(p.Tool, p.left, p.makePrototype)
	if inner != nil {
		inner.Path = path
		if p.inner == nil {
			p.inner = map[string]*Place{}
		}
		p.inner[step] = inner
	}
	return inner
}

// object returns a new object at the place.
func (p *Place) object(vm *goja.Runtime) *goja.Object {
	if p == nil {
		return vm.NewObject()
	}
	if p.prototype == nil {
		p.prototype = p.makePrototype(p)
	}
	return vm.CreateObject(p.prototype)
}
