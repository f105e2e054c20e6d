package convert

import (
	"regexp"

	"github.com/dop251/goja"
)

// ResultPath is a path in a tool's results, such as .rows[]. All objects at the path have the same prototype. A nil
// ResultPath stands for an unknown path, whose objects are plain objects.
type ResultPath struct {
	Tool, Path string

	makePrototype func(*ResultPath) *goja.Object
	left          *int // how many more paths the VM may have
	prototype     *goja.Object
	inner         map[string]*ResultPath // members by their names, and the elements as "[]"
}

// NewResultPath returns the empty path, which leads to a tool's whole result, or nil if *left is 0. Each new path, even
// one that begins with this path, decrements *left. makePrototype returns the prototype of the objects at a path.
func NewResultPath(tool string, left *int, makePrototype func(*ResultPath) *goja.Object) *ResultPath {
	if *left == 0 {
		return nil
	}
	*left--
	return &ResultPath{Tool: tool, left: left, makePrototype: makePrototype}
}

// pathName matches member names that may be part of a path. Other names count as data.
var pathName = regexp.MustCompile(`^[a-zA-Z_$][\w$]{0,63}$`)

// at returns the path to a member of the objects at p, or to the elements of the arrays at p if step is "[]". It
// returns nil if the name is data or if there are too many paths.
func (p *ResultPath) at(step string) *ResultPath {
	if p == nil {
		return nil
	}
	if known, ok := p.inner[step]; ok {
		return known
	}
	path := p.Path + step
	if step != "[]" {
		if *p.left == 0 || !pathName.MatchString(step) {
			return nil
		}
		path = p.Path + "." + step
	}
	inner := NewResultPath(p.Tool, p.left, p.makePrototype)
	if inner != nil {
		inner.Path = path
		if p.inner == nil {
			p.inner = map[string]*ResultPath{}
		}
		p.inner[step] = inner
	}
	return inner
}

// object returns a new object with the prototype of the path.
func (p *ResultPath) object(vm *goja.Runtime) *goja.Object {
	if p == nil {
		return vm.NewObject()
	}
	if p.prototype == nil {
		p.prototype = p.makePrototype(p)
	}
	return vm.CreateObject(p.prototype)
}
