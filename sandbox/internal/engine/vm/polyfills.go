package vm

import (
	"embed"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

// polyfillFiles are the functions and classes that goja lacks, written in
// JavaScript: the limits of time, memory and call depth hold in them, too. Each file
// is one expression. A program pays for those that it names.
//
//go:embed polyfills/*.js
var polyfillFiles embed.FS

// polyfills are the compiled files by their names, each compiled when it is first
// used.
var polyfills = sync.OnceValue(func() map[string]func() *goja.Program {
	entries, err := polyfillFiles.ReadDir("polyfills")
	must(err)
	compiled := map[string]func() *goja.Program{}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".js")
		compiled[name] = sync.OnceValue(func() *goja.Program {
			source, err := polyfillFiles.ReadFile("polyfills/" + entry.Name())
			must(err)
			return goja.MustCompile("", string(source), true)
		})
	}
	return compiled
})

// addition evaluates a file. If helpers are given, the file is a factory that takes
// them.
func (r *run) polyfill(name string, helpers ...func(goja.FunctionCall) goja.Value) goja.Value {
	value, err := r.vm.RunProgram(polyfills()[name]())
	if err != nil {
		r.rethrow(err) // the program took away what it needs
	}
	if len(helpers) == 0 {
		return value
	}
	arguments := make([]goja.Value, len(helpers))
	for i, helper := range helpers {
		arguments[i] = r.vm.ToValue(helper)
	}
	return r.apply(value, arguments...)
}

func (r *run) apply(function goja.Value, arguments ...goja.Value) goja.Value {
	callable, _ := goja.AssertFunction(function)
	return r.call(callable, goja.FunctionCall{This: goja.Undefined(), Arguments: arguments})
}

// addStatic adds a function to a class of the language.
func (r *run) addStatic(class, name string, function goja.Value) {
	if holder, ok := r.vm.Get(class).(*goja.Object); ok { // the session may have another now
		_ = holder.DefineDataProperty(name, function, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

func (r *run) addGroupBy() {
	functions := r.apply(r.polyfill("groupBy")).ToObject(r.vm)
	r.addStatic("Object", "groupBy", functions.Get("0"))
	r.addStatic("Map", "groupBy", functions.Get("1"))
}

func (r *run) addWithResolvers() {
	r.addStatic("Promise", "withResolvers", r.polyfill("withResolvers"))
}

func (r *run) structuredClone() goja.Value { return r.polyfill("structuredClone", r.kindOf) }

// kindOf names what an object is to structuredClone.
func (r *run) kindOf(c goja.FunctionCall) goja.Value {
	kind := "Object"
	if o, ok := c.Argument(0).(*goja.Object); ok {
		kind = convert.CloneKind(o)
	}
	return r.vm.ToValue(kind)
}
