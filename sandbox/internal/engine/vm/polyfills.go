package vm

import (
	"embed"
	"sync"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

// polyfillFiles are functions and classes that goja lacks, written in JavaScript, so that the limits on time,
// memory and call depth apply to them. Each file is one expression. A program gets only the polyfills that it
// names.
//
//go:embed polyfills/*.js
var polyfillFiles embed.FS

// polyfills are the compiled files that programs have used, by name.
var polyfills sync.Map

// compilePolyfill compiles a file, unless it has been compiled before.
func compilePolyfill(name string) *goja.Program {
	if compiled, ok := polyfills.Load(name); ok {
		return compiled.(*goja.Program)
	}
	source, err := polyfillFiles.ReadFile("polyfills/" + name + ".js")
	must(err)
	compiled := goja.MustCompile("", string(source), true)
	polyfills.Store(name, compiled)
	return compiled
}

// polyfill evaluates a file. If there are helpers, the file is a function that takes them.
func (r *machine) polyfill(name string, helpers ...func(goja.FunctionCall) goja.Value) goja.Value {
	value, err := r.vm.RunProgram(compilePolyfill(name))
	if err != nil {
		r.rethrow(err) // the program removed built-ins that the file uses
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

func (r *machine) apply(function goja.Value, arguments ...goja.Value) goja.Value {
	callable, _ := goja.AssertFunction(function)
	return r.call(callable, goja.FunctionCall{This: goja.Undefined(), Arguments: arguments})
}

// addStatic adds a function to a built-in class.
func (r *machine) addStatic(class, name string, function goja.Value) {
	if holder, ok := r.vm.Get(class).(*goja.Object); ok { // the program may have replaced the class
		_ = holder.DefineDataProperty(name, function, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

func (r *machine) addGroupBy() {
	functions := r.apply(r.polyfill("groupBy")).ToObject(r.vm)
	r.addStatic("Object", "groupBy", functions.Get("0"))
	r.addStatic("Map", "groupBy", functions.Get("1"))
}

func (r *machine) addWithResolvers() {
	r.addStatic("Promise", "withResolvers", r.polyfill("withResolvers"))
}

func (r *machine) structuredClone() goja.Value { return r.polyfill("structuredClone", r.kindOf) }

// kindOf returns the kind of an object for structuredClone.
func (r *machine) kindOf(c goja.FunctionCall) goja.Value {
	kind := "Object"
	if o, ok := c.Argument(0).(*goja.Object); ok {
		kind = convert.CloneKind(o)
	}
	return r.vm.ToValue(kind)
}
