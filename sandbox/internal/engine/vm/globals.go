package vm

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

// maxCallStack bounds the call depth of programs. Larger values are dangerous, because
// unwinding nested native callbacks takes quadratic time.
const maxCallStack = 1000

// ownGlobals are the globals that goja does not have.
var ownGlobals = map[string]func(*machine) goja.Value{
	"console":       (*machine).console,
	"setTimeout":    func(r *machine) goja.Value { return r.function("setTimeout", r.setTimeout) },
	"setInterval":   func(r *machine) goja.Value { return r.function("setInterval", r.setInterval) },
	"clearTimeout":  func(r *machine) goja.Value { return r.function("clearTimeout", r.clearTimer) },
	"clearInterval": func(r *machine) goja.Value { return r.function("clearInterval", r.clearTimer) },
	"sleep":         func(r *machine) goja.Value { return r.function("sleep", r.sleep) },
	"crypto":        (*machine).crypto,
	"ToolError":     (*machine).toolErrorClass,

	"structuredClone": (*machine).structuredClone,
	"queueMicrotask":  func(r *machine) goja.Value { return r.polyfill("queueMicrotask") },
	"atob":            func(r *machine) goja.Value { return r.function("atob", r.atob) },
	"btoa":            func(r *machine) goja.Value { return r.function("btoa", r.btoa) },
	"URLSearchParams": (*machine).urlSearchParams,
}

// globalNames are the globals that every program sees.
var globalNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{"arguments": true} // bound inside functions
	for _, name := range goja.New().GlobalObject().GetOwnPropertyNames() {
		names[name] = true
	}
	for name := range ownGlobals {
		names[name] = true
	}
	delete(names, "eval")
	return names
})

// inherited are the members that every object has, and inheritedByFunctions are the members that every function
// has.
var (
	inherited = sync.OnceValue(func() map[string]bool {
		return namesOf(goja.New().NewObject().Prototype())
	})
	inheritedByFunctions = sync.OnceValue(func() map[string]bool {
		vm := goja.New()
		names := namesOf(vm.Get("Function").ToObject(vm).Get("prototype").ToObject(vm))
		maps.Copy(names, inherited())
		return names
	})
)

func namesOf(o *goja.Object) map[string]bool {
	names := map[string]bool{}
	for _, name := range o.GetOwnPropertyNames() {
		names[name] = true
	}
	return names
}

// prepare sets the limits and the globals of the VM. The globals of the job are in the
// prototype of the global object and are created when they are first used, so that
// unused tools cost nothing.
func (r *machine) prepare(job *engine.Job) *engine.Failure {
	r.watchRejections()
	if r.globals != nil { // one of the session's earlier programs has prepared the VM
		r.globals.renew(job)
		r.guard(job)
		return r.hideEarlier()
	}
	r.vm.SetMaxCallStackSize(maxCallStack)
	if job.Session != nil {
		r.intrinsics = convert.NewIntrinsics(r.vm)
	}
	r.vm.SetParserOptions(parser.WithDisableSourceMaps) // goja would open the files that source maps name
	r.globals = &globals{run: r, job: job, made: map[string]goja.Value{}}
	global := r.vm.GlobalObject()
	behind := r.vm.NewDynamicObject(r.globals)
	must(behind.SetPrototype(r.vm.NewObject().Prototype()))
	must(global.SetPrototype(behind))
	kinds := r.program.functionKinds
	named := strings.Contains(job.Source, "constructor") || strings.Contains(job.Source, "Function")
	if job.Session != nil || job.Prelude != nil { // later programs or the prelude may have other kinds of functions
		kinds, named = []*goja.Program{asyncFunction, generatorFunction}, true
	}
	r.disableEval(global, kinds, named)
	r.guard(job)
	return nil
}

// renew removes the globals of the session's last program, except for the session's inputs, so that the next program
// gets its own globals.
func (g *globals) renew(job *engine.Job) {
	g.job = job
	maps.DeleteFunc(g.made, func(name string, _ goja.Value) bool {
		return !g.run.isSessionInput(name) && (ownGlobals[name] == nil || g.jobNames[name] || g.run.scope.has(name))
	})
	g.jobNames = nil
}

func (r *machine) isSessionInput(name string) bool {
	return slices.ContainsFunc(r.sessionInputs, func(in engine.Input) bool { return in.Name == name })
}

// must panics if err is not nil. Use it for errors that cannot occur before guest code has run.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// disableEval removes the ways to create code from strings: eval, Function, and the constructor
// that every kind of function inherits. A program can reach only the kinds of functions that
// occur in it. If named is true, Function and the constructors are replaced with a function
// that throws an explanation; otherwise they become undefined, which is faster.
func (r *machine) disableEval(global *goja.Object, kinds []*goja.Program, named bool) {
	function := r.vm.Get("Function").ToObject(r.vm)
	refuse := goja.Undefined()
	if named {
		refusal := r.function("Function", func(goja.FunctionCall) goja.Value {
			panic(r.typeError("code cannot be created from strings"))
		})
		must(refusal.Set("prototype", function.Get("prototype")))
		refuse = refusal
	}
	must(global.Delete("eval"))
	must(global.Set("Function", refuse))
	r.refuseConstructor(function.Get("prototype"), refuse)
	for _, sample := range kinds {
		f, err := r.vm.RunProgram(sample)
		must(err)
		r.refuseConstructor(f.ToObject(r.vm).Prototype(), refuse)
	}
}

func (r *machine) refuseConstructor(prototype, refuse goja.Value) {
	object := prototype.ToObject(r.vm)
	must(object.DefineDataProperty("constructor", refuse, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
}

// Samples of the kinds of functions that have a constructor other than Function.
var (
	asyncFunction     = goja.MustCompile("", `(async () => {})`, true)
	generatorFunction = goja.MustCompile("", `(function* () {})`, true)
)

// globals creates the globals of a job on demand. It implements [goja.DynamicObject].
type globals struct {
	run  *machine
	job  *engine.Job
	made map[string]goja.Value // the globals that programs have used

	jobNames map[string]bool // the names in made that are tools and inputs
}

// Get implements [goja.DynamicObject].
func (g *globals) Get(name string) goja.Value {
	v, ok := g.made[name]
	if !ok {
		if v = g.make(name); name != check.ExportName {
			g.made[name] = v
		}
	}
	return v
}

func (g *globals) make(name string) goja.Value {
	r := g.run
	if name == engine.PreludeName && r.prelude != nil {
		return r.prelude
	}
	if name == check.ExportName && g.job.Session != nil && !r.exported {
		return r.function(name, r.export)
	}
	if r.scope.has(name) {
		engine.Put(&g.jobNames, name, true)
		r.useGlobal(name)
	}
	if r.scope.objects[name] != nil {
		return r.namespace(name)
	}
	if _, ok := r.scope.globals[name]; ok {
		return r.tool("", name)
	}
	if input, ok := r.scope.inputs[name]; ok {
		return r.input(g.job.Inputs[input])
	}
	if name == "submit" && g.job.Submit {
		return r.function(name, r.submit)
	}
	if build, ok := ownGlobals[name]; ok {
		return build(r)
	}
	return nil
}

// Has implements [goja.DynamicObject].
func (g *globals) Has(name string) bool { return g.Get(name) != nil }

// Set implements [goja.DynamicObject]: the globals of a job are constants.
func (g *globals) Set(string, goja.Value) bool { return false }

// Delete implements [goja.DynamicObject].
func (g *globals) Delete(string) bool { return false }

// Keys implements [goja.DynamicObject]: for…in does not list the globals of a job.
func (g *globals) Keys() []string { return nil }
