package vm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

// Built-in functions that other engines have, or have otherwise, are added to the
// VM here, by the words with which a program names them.
//
// The worst of the built-in functions are replaced by ones that refuse what would
// bring the process down, or would silently go wrong: goja does in one step, which
// nothing can interrupt, what they are asked for. A function is replaced only if
// the program has its name in it. Who builds the name gets round that, so it is
// against accidents; containment is the worker's.

// guards are the replacements by the word that a program must contain.
var guards = []struct {
	word    string
	install func(*run)
}{
	{"repeat", func(r *run) { r.guardLength("repeat", repeated) }},
	{"padStart", func(r *run) { r.guardLength("padStart", padded) }},
	{"padEnd", func(r *run) { r.guardLength("padEnd", padded) }},
	{"flat", (*run).guardFlat},
	{"parse", (*run).guardParse},
	{"RegExp", (*run).guardRegExp},
	{"captureStackTrace", (*run).addCaptureStackTrace},
	{"toLocale", (*run).addLocales},
	{"localeCompare", (*run).addLocaleCompare},
	{"groupBy", (*run).addGroupBy},
	{"withResolvers", (*run).addWithResolvers},
}

// guard installs the guards that a program needs; with a prelude, of which the text
// may not be there, all of them.
func (r *run) guard(job *engine.Job) {
	for _, g := range guards {
		if !r.guarded[g.word] && (job.Prelude != nil || strings.Contains(job.Source, g.word)) {
			put(&r.guarded, g.word, true)
			g.install(r)
		}
	}
}

// replace puts a function in the place of a method.
func (r *run) replace(holder *goja.Object, name string, guard func(next goja.Callable, c goja.FunctionCall) goja.Value) {
	next, ok := goja.AssertFunction(holder.Get(name))
	if !ok {
		return // an earlier program of the session has taken it away
	}
	f := r.function(name, func(c goja.FunctionCall) goja.Value { return guard(next, c) })
	_ = holder.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// call calls the function that was replaced.
func (r *run) call(next goja.Callable, c goja.FunctionCall) goja.Value {
	v, err := next(c.This, c.Arguments...)
	if err != nil {
		r.rethrow(err)
	}
	return v
}

// unparsed puts an error of JSON.parse in V8's words. What a reviver threw stays
// as it is.
func (r *run) rewordParseError(err error, argument goja.Value) error {
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
			message = "a number in the JSON text is out of range" // to other engines it is infinite
		}
	} else {
		_ = r.vm.Try(func() { message = fmt.Sprintf("%q is not valid JSON", argument.String()) })
		if o, ok := argument.(*goja.Object); ok && (convert.ClassOf(o) == "Object" || convert.ClassOf(o) == "Array") {
			message += ": the argument is a value, not text; leave out JSON.parse, or parse the member that has the text"
		}
	}
	if message != "" {
		_ = object.DefineDataProperty("message", r.vm.ToValue(message), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return err
}

func (r *run) prototype(class string) *goja.Object {
	return r.vm.Get(class).ToObject(r.vm).Get("prototype").ToObject(r.vm)
}

// maxString is the length at which other engines refuse to make a string.
const maxString = 1<<29 - 24

// guardLength bounds what a method of strings may make.
func (r *run) guardLength(name string, length func(text int, count float64) float64) {
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

// mostText is how long a string may become.
func (r *run) maxText() float64 {
	if r.memory > 0 {
		return min(maxString, float64(r.memory)/2)
	}
	return maxString
}

func (r *run) rangeError(message string) goja.Value { return r.error("RangeError", message) }

// maxFlat is how deep flat may go.
const maxFlat = 1000

// guardFlat bounds the depth to which flat goes: it recurses on the Go stack.
func (r *run) guardFlat() {
	r.replace(r.prototype("Array"), "flat", func(next goja.Callable, c goja.FunctionCall) goja.Value {
		if depth := c.Argument(0); !goja.IsUndefined(depth) && depth.ToFloat() > maxFlat {
			if array, ok := c.This.(*goja.Object); ok && r.deeper(array, maxFlat) {
				panic(r.rangeError("flat: the array contains itself, or is nested too deep"))
			}
			c.Arguments = []goja.Value{r.vm.ToValue(maxFlat)}
		}
		return r.call(next, c)
	})
}

// deeper reports whether arrays are nested deeper than so many levels.
func (r *run) deeper(array *goja.Object, levels int) bool {
	if levels == 0 {
		return true
	}
	if array.ClassName() != "Array" {
		return false
	}
	for i := range int(array.Get("length").ToInteger()) {
		if item, ok := array.Get(strconv.Itoa(i)).(*goja.Object); ok && r.deeper(item, levels-1) {
			return true
		}
	}
	return false
}

// maxParse is how deep the text may be nested that JSON.parse gets.
const maxParse = 10_000

// guardParse bounds the depth of JSON: it recurses on the Go stack.
func (r *run) guardParse() {
	r.replace(r.vm.Get("JSON").ToObject(r.vm), "parse", func(next goja.Callable, c goja.FunctionCall) goja.Value {
		text, ok := c.Argument(0).(goja.String)
		if ok && engine.Nesting(text.String()) > maxParse {
			panic(r.rangeError("JSON.parse: the text is nested too deep"))
		}
		v, err := next(c.This, c.Arguments...)
		if err != nil {
			r.rethrow(r.rewordParseError(err, c.Argument(0)))
		}
		return v
	})
}

// addCaptureStackTrace adds what programs written for V8 call in the constructors
// of their errors; every error has its stack here.
func (r *run) addCaptureStackTrace() {
	nothing := r.function("captureStackTrace", func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	_ = r.vm.Get("Error").ToObject(r.vm).Set("captureStackTrace", nothing)
}

// guardRegExp refuses, as a syntax error, patterns that would never match.
func (r *run) guardRegExp() {
	original := r.vm.Get("RegExp").ToObject(r.vm)
	prototype := original.Get("prototype").ToObject(r.vm)
	guarded := r.vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
		r.checkPattern(c.Argument(0), c.Argument(1))
		made, err := r.vm.New(original, c.Arguments...)
		if err != nil {
			r.rethrow(r.rewordPatternError(err))
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

// unmatched takes the words of Go's packages out of an error in a pattern.
func (r *run) rewordPatternError(err error) error {
	exception, ok := err.(*goja.Exception)
	if !ok {
		return err
	}
	object, ok := exception.Value().(*goja.Object)
	if !ok || r.convert.Text(object, "name") != "SyntaxError" {
		return err
	}
	if message := patternError(r.convert.Text(object, "message")); message != "" {
		_ = object.DefineDataProperty("message", r.vm.ToValue(message), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return err
}

// parsingPattern is what goja says of a pattern that Go's packages refuse.
var parsingPattern = regexp.MustCompile(`(?s)^Invalid regular expression \((?:re2|regexp2)\): .*error parsing regexp: ([^` + "`" + `]*?)(?: in)?:? ` + "`" + `(.*?)` + "`" + `\)*$`)

func patternError(message string) string {
	if m := parsingPattern.FindStringSubmatch(message); m != nil {
		return "Invalid regular expression: /" + m[2] + "/: " + m[1]
	}
	return ""
}

// checkPattern throws where a pattern would never match. Patterns that are
// objects have been checked when they were made.
func (r *run) checkPattern(pattern, flags goja.Value) {
	text, isText := pattern.(goja.String)
	options, hasFlags := flags.(goja.String)
	if isText && hasFlags && check.NeverMatches(text.String(), options.String()) {
		panic(r.error("SyntaxError", `Invalid regular expression: \p{…} never matches in this engine; write the characters as a range`))
	}
}

// rethrow throws what a function of the VM has thrown.
func (r *run) rethrow(err error) {
	if exception, ok := err.(*goja.Exception); ok {
		panic(exception.Value())
	}
	panic(err) // an interrupt
}

// error makes an error of a built-in class.
func (r *run) error(class, message string) *goja.Object {
	e, err := r.vm.New(r.vm.Get(class), r.vm.ToValue(message))
	if err != nil {
		return r.typeError(message)
	}
	return e
}
