package vm

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

// Built-in functions that goja lacks, or implements differently, are installed here. A program
// gets only the functions whose names it contains.
//
// Built-in functions that could bring the process down, or would silently return wrong results, are replaced with
// functions that throw, because goja cannot interrupt a built-in function. A program can avoid the replacements by
// composing the functions' names: the replacements stop accidents, and the worker process contains attacks.

// guards are the functions that install replacements. A function is called only if the program contains its word.
var guards = []struct {
	word    string
	install func(*machine)
}{
	{"repeat", func(r *machine) { r.guardLength("repeat", repeated) }},
	{"padStart", func(r *machine) { r.guardLength("padStart", padded) }},
	{"padEnd", func(r *machine) { r.guardLength("padEnd", padded) }},
	{"flat", (*machine).guardFlat},
	{"parse", (*machine).guardParse},
	{"stringify", (*machine).watchStringify},
	{"getPrototypeOf", (*machine).guardPrototypes},
	{"RegExp", (*machine).guardRegExp},
	{"captureStackTrace", func(r *machine) { // every error has a stack
		r.addStatic("Error", "captureStackTrace", r.function("captureStackTrace", undefined))
	}},
	{"toLocale", (*machine).addLocales},
	{"localeCompare", (*machine).addLocaleCompare},
	{"groupBy", (*machine).addGroupBy},
	{"withResolvers", (*machine).addWithResolvers},
}

// guard installs the guards that a program needs, or all of them if it has a prelude, whose
// source may not be available.
func (r *machine) guard(job *engine.Job) {
	for _, g := range guards {
		if !r.guarded[g.word] && (job.Prelude != nil || strings.Contains(job.Source, g.word)) {
			engine.Put(&r.guarded, g.word, true)
			g.install(r)
		}
	}
}

// replace replaces a method with the function guard, which gets the original method as its first argument.
func (r *machine) replace(holder *goja.Object, name string, guard func(goja.Callable, goja.FunctionCall) goja.Value) {
	next, ok := goja.AssertFunction(holder.Get(name))
	if !ok {
		return // one of the session's earlier programs removed it
	}
	f := r.function(name, func(c goja.FunctionCall) goja.Value { return guard(next, c) })
	_ = holder.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// call calls one of the VM's functions, and rethrows its exception.
func (r *machine) call(next goja.Callable, c goja.FunctionCall) goja.Value {
	v, err := next(c.This, c.Arguments...)
	if err != nil {
		r.rethrow(err)
	}
	return v
}

// rewordParseError replaces the message of an error from JSON.parse. It does not change errors from a reviver.
func (r *machine) rewordParseError(err error, argument goja.Value) error {
	exception, ok := err.(*goja.Exception)
	if !ok {
		return err
	}
	object, ok := exception.Value().(*goja.Object)
	if !ok || r.convert.Text(object, "name") != "SyntaxError" {
		return err
	}
	message := ""
	if text, ok := argument.(goja.String); ok {
		if message = convert.JSONError(text.String()); message == "" {
			message = "a number in the JSON text is out of range" // other engines read it as Infinity
		}
	} else {
		_ = r.vm.Try(func() { message = fmt.Sprintf("%q is not valid JSON", argument.String()) })
		if o, ok := argument.(*goja.Object); ok && (convert.ClassOf(o) == "Object" || convert.ClassOf(o) == "Array") {
			message += ": the argument is a value, not text; " +
				"leave out JSON.parse, or parse the member that has the text"
		}
	}
	if message != "" {
		_ = object.DefineDataProperty("message", r.vm.ToValue(message), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return err
}

// watchStringify makes JSON.stringify record the values that a short result lost, for example NaN. It skips long
// arrays: they are not answers, and calling a function for each member takes time.
func (r *machine) watchStringify() {
	const maxTexts, maxText, maxItems = 20, 64 << 10, 1000
	r.replace(r.vm.Get("JSON").ToObject(r.vm), "stringify", func(next goja.Callable, c goja.FunctionCall) goja.Value {
		replacer := c.Argument(1)
		array, _ := c.Argument(0).(*goja.Object)
		long := array != nil && array.ClassName() == "Array" && array.Get("length").ToInteger() > maxItems
		if long || len(c.Arguments) == 0 || !goja.IsUndefined(replacer) && !goja.IsNull(replacer) {
			return r.call(next, c)
		}
		var lost []string
		note := r.vm.ToValue(func(member goja.FunctionCall) goja.Value {
			lost = convert.AppendLost(lost, member.Argument(0).String(), member.Argument(1))
			return member.Argument(1)
		})
		arguments := []goja.Value{c.Argument(0), note, c.Argument(2)}
		text := r.call(next, goja.FunctionCall{This: c.This, Arguments: arguments})
		if s, ok := text.(goja.String); ok && lost != nil && s.Length() <= maxText && len(r.texts) < maxTexts {
			quoted, _ := r.convert.Encode(s, 0)
			engine.Put(&r.texts, string(bytes.Trim(quoted, `"`)), lost)
		}
		return text
	})
}

func (r *machine) prototype(class string) *goja.Object {
	return r.vm.Get(class).ToObject(r.vm).Get("prototype").ToObject(r.vm)
}

// maxString is the maximum length of a string in other engines.
const maxString = 1<<29 - 24

// guardLength makes a method throw instead of creating a string that is too long. length returns the length of the
// string that the method would create.
func (r *machine) guardLength(name string, length func(text int, count float64) float64) {
	r.replace(r.prototype("String"), name, func(next goja.Callable, c goja.FunctionCall) goja.Value {
		if text, ok := c.This.(goja.String); ok {
			count := c.Argument(0)
			if _, isObject := count.(*goja.Object); !isObject && length(text.Length(), count.ToFloat()) > r.maxText() {
				panic(r.rangeError("Invalid string length"))
			}
		}
		return r.call(next, c)
	})
}

func repeated(text int, count float64) float64 { return float64(text) * count }

func padded(_ int, length float64) float64 { return length }

// maxText returns the maximum length of a string.
func (r *machine) maxText() float64 {
	if r.memory > 0 {
		return min(maxString, float64(r.memory)/2)
	}
	return maxString
}

func (r *machine) rangeError(message string) goja.Value { return r.error("RangeError", message) }

// maxFlat bounds the depth of flat, which recurses on the Go stack.
const maxFlat = 1000

func (r *machine) guardFlat() {
	r.replace(r.prototype("Array"), "flat", func(next goja.Callable, c goja.FunctionCall) goja.Value {
		if depth := c.Argument(0); !goja.IsUndefined(depth) && depth.ToFloat() > maxFlat {
			c.Arguments = []goja.Value{r.vm.ToValue(maxFlat)}
		}
		return r.call(next, c)
	})
}

// maxParse bounds the nesting of strings that are passed to JSON.parse.
const maxParse = 10_000

// guardParse bounds the depth of JSON.parse, which recurses on the Go stack.
func (r *machine) guardParse() {
	r.replace(r.vm.Get("JSON").ToObject(r.vm), "parse", func(next goja.Callable, c goja.FunctionCall) goja.Value {
		if v := r.parseResult(c); v != nil {
			return v
		}
		text, ok := c.Argument(0).(goja.String)
		if ok && engine.Nesting(text.String()) > maxParse {
			panic(r.rangeError("JSON.parse: the string is nested too deeply"))
		}
		v, err := next(c.This, c.Arguments...)
		if err != nil {
			r.rethrow(r.rewordParseError(err, c.Argument(0)))
		}
		return v
	})
}

// guardRegExp throws a SyntaxError for patterns that would never match.
func (r *machine) guardRegExp() {
	original := r.vm.Get("RegExp").ToObject(r.vm)
	prototype := original.Get("prototype").ToObject(r.vm)
	guarded := r.vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
		r.checkPattern(c.Argument(0), c.Argument(1))
		made, err := r.vm.New(original, c.Arguments...)
		if err != nil {
			r.rethrow(err)
		}
		if c.NewTarget != nil {
			_ = made.SetPrototype(c.This.Prototype())
		}
		return made
	}).ToObject(r.vm)
	_ = guarded.Set("prototype", prototype)
	_ = guarded.DefineDataProperty("name", r.vm.ToValue("RegExp"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = prototype.DefineDataProperty("constructor", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = r.vm.GlobalObject().DefineDataProperty("RegExp", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// checkPattern throws if a pattern would never match. Patterns that are objects were
// checked when they were created.
func (r *machine) checkPattern(pattern, flags goja.Value) {
	text, isText := pattern.(goja.String)
	options, hasFlags := flags.(goja.String)
	if isText && hasFlags && check.NeverMatches(text.String(), options.String()) {
		message := `Invalid regular expression: \p{…} never matches in this engine; write the characters as a range`
		panic(r.error("SyntaxError", message))
	}
}

// rethrow throws an exception of the VM again.
func (r *machine) rethrow(err error) {
	if exception, ok := err.(*goja.Exception); ok {
		panic(exception.Value())
	}
	panic(err) // an interrupt
}

// error returns an error with a built-in class.
func (r *machine) error(class, message string) *goja.Object {
	e, err := r.vm.New(r.vm.Get(class), r.vm.ToValue(message))
	if err != nil {
		return r.typeError(message)
	}
	return e
}
