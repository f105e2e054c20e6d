package convert

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// Converter converts between JSON and one VM's values, and prints values. It belongs to one goroutine.
type Converter struct {
	VM *goja.Runtime

	// OnPromise is called for each promise that is printed.
	OnPromise func(*goja.Object)

	// ToolOf returns the path of the tool whose failed call threw an error, or "".
	ToolOf func(*goja.Object) string

	// Lost describes the values that the last [Converter.Encode] left out or wrote as null because they have no
	// JSON form: "total is NaN".
	Lost []string

	nesting int // number of calls to Encode in progress; see maxEncoding
}

// Text reads a property of a thrown object. It returns "" if the getter throws.
func (c *Converter) Text(o *goja.Object, name string) (text string) {
	_ = c.VM.Try(func() {
		if v := o.Get(name); v != nil && !goja.IsUndefined(v) {
			text = v.String()
		}
	})
	return text
}

// PromiseOf returns o as a promise. It returns false if o is another object, such as a proxy of a promise.
func PromiseOf(o *goja.Object) (*goja.Promise, bool) {
	if o.ExportType() != typeOfPromise {
		return nil, false
	}
	p, ok := o.Export().(*goja.Promise)
	return p, ok
}

// promiseError says where a value contains a promise.
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
	return where + " is a promise; await it first, and await several with Promise.all"
}

// maxPath is the maximum size in bytes of the path in an error about a promise.
const maxPath = 100

// inMember adds a member to the beginning of the path in an error about a promise.
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
