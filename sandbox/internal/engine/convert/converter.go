package convert

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// Converter converts between JSON and the values of one VM, and prints values. It
// belongs to one goroutine.
type Converter struct {
	VM *goja.Runtime

	// OnPromise is called for each promise that is printed; it may be nil.
	OnPromise func(*goja.Object)

	// ToolOf returns the path of the tool whose failed call threw an error, or "". It may
	// be nil.
	ToolOf func(*goja.Object) string

	nesting int // values that are being encoded, within one another
}

func (c *Converter) tool(o *goja.Object) string {
	if c.ToolOf == nil {
		return ""
	}
	return c.ToolOf(o)
}

// Text reads a property of a thrown object, whose getter may throw in turn.
func (c *Converter) Text(o *goja.Object, name string) (text string) {
	_ = c.VM.Try(func() {
		if v := o.Get(name); v != nil && !goja.IsUndefined(v) {
			text = v.String()
		}
	})
	return text
}

// PromiseOf returns the promise that an object is; a proxy of one is none.
func PromiseOf(o *goja.Object) (*goja.Promise, bool) {
	if o.ExportType() != typeOfPromise {
		return nil, false
	}
	p, ok := o.Export().(*goja.Promise)
	return p, ok
}

// promiseError says that there is a promise in a value, and where.
type promiseError struct{ path string }

// Error implements error.
func (e *promiseError) Error() string {
	where := strings.TrimPrefix(e.path, ".")
	switch {
	case where == "":
		where = "it"
	case where[0] == '[':
		where = "element " + where
	}
	return where + " is a promise; await it first, several by Promise.all"
}

// maxPath is how many bytes there may be of the path to a promise.
const maxPath = 100

// inMember adds to an error about a promise the member that the promise is in.
func inMember(member string, err error) error {
	if e, ok := err.(*promiseError); ok && len(member)+len(e.path) <= maxPath {
		e.path = member + e.path
	}
	return err
}

func memberPath(name string) string {
	if plainKey.MatchString(name) {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}
