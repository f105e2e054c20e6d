package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// thrown makes the object that a failed tool call throws, and remembers where
// the call was made: the error comes into being outside any stack.
func (r *run) thrown(e *ToolError, by Call) goja.Value {
	data, err := r.decode(e.Data)
	if err != nil {
		data = goja.Undefined()
	}
	var object *goja.Object
	exception := r.vm.Try(func() {
		object, err = r.vm.New(r.globals.Get("ToolError"), r.vm.ToValue(e.Message), r.vm.ToValue(e.Tool), r.vm.ToValue(e.Kind), data)
	})
	if exception != nil || err != nil { // the program broke what the class is made of
		object = r.typeError(e.Message)
	}
	if r.thrownBy == nil {
		r.thrownBy = map[*goja.Object]toolFailure{}
	}
	r.thrownBy[object] = toolFailure{e, by}
	return object
}

// toolFailure is what is known of an error that a tool call threw.
type toolFailure struct {
	*ToolError
	call Call
}

// toolErrorSource is the class of what a failed tool call throws.
var toolErrorSource = goja.MustCompile("", `(class ToolError extends Error {
	constructor(message, tool, kind, data) {
		super(message);
		Object.defineProperty(this, "name", {value: "ToolError"});
		this.tool = tool;
		this.kind = kind;
		if (data !== undefined) this.data = data;
	}
})`, true)

func (r *run) toolErrorClass() goja.Value {
	class, err := r.vm.RunProgram(toolErrorSource)
	if err != nil {
		panic(r.typeError("ToolError: " + err.Error())) // the program took away what it needs
	}
	return class
}

// failure describes what RunProgram or a callback returned.
func (r *run) failure(err error) *Failure {
	var exception *goja.Exception
	var overflow *goja.StackOverflowError
	switch {
	case errors.As(err, &overflow):
		f := &Failure{
			Kind: Thrown, Message: "RangeError: too much recursion",
			Hint: fmt.Sprintf("functions can be nested %d calls deep; use a loop", maxCallStack),
		}
		r.locate(f, framesOf(&overflow.Exception, r.program.name))
		return f
	case errors.As(err, &exception):
		f := r.rejectionOf(exception.Value())
		if f.Line == 0 {
			r.locate(f, framesOf(exception, r.program.name))
		}
		return f
	default:
		return &Failure{Kind: Thrown, Message: err.Error()}
	}
}

func framesOf(e *goja.Exception, name string) []frame {
	var frames []frame
	for _, f := range e.Stack() {
		if f.SrcName() == name {
			frames = append(frames, frame{f.Position().Line, f.Position().Column})
		}
	}
	return frames
}

// rejection describes a thrown value.
func (r *run) rejection(v goja.Value) *Failure {
	f := &Failure{Kind: Thrown, Message: "uncaught " + r.inspect(v)}
	object, ok := v.(*goja.Object)
	if !ok || object.ClassName() != "Error" {
		return f
	}
	if by, ok := r.thrownBy[object]; ok {
		f.Pos, f.Tool, f.Call = by.call.Pos, by.ToolError, by.call.ID
		f.Message = r.describe(object, "")
		return f
	}
	stack := r.text(object, "stack")
	frames := parseStack(stack, r.program.name)
	if len(frames) > 1 && !r.builtinError(object) {
		frames = r.program.source.beyondSuper(frames)
	}
	f.Message = r.describe(object, r.reword(r.text(object, "message"), stack, frames))
	r.locate(f, frames)
	if f.Line == 0 {
		r.locateFirst(f, object)
	}
	return f
}

// locateFirst locates an error without a place, as Promise.any throws it, by the
// first of those that it consists of.
func (r *run) locateFirst(f *Failure, object *goja.Object) {
	if errs := r.errorsOf(object); len(errs) > 0 {
		if first, ok := errs[0].(*goja.Object); ok {
			r.locate(f, parseStack(r.text(first, "stack"), r.program.name))
		}
	}
}

// builtinError reports whether an error's class is the language's.
func (r *run) builtinError(object *goja.Object) bool {
	builtin := false
	_ = r.vm.Try(func() {
		class := object.Get("constructor")
		for _, name := range []string{"Error", "TypeError", "RangeError", "ReferenceError", "SyntaxError", "EvalError", "URIError", "AggregateError"} {
			builtin = builtin || class != nil && class.SameAs(r.vm.Get(name))
		}
	})
	return builtin
}

// text reads a property of a thrown object, whose getter may throw in turn.
func (r *run) text(o *goja.Object, name string) (text string) {
	_ = r.vm.Try(func() {
		if v := o.Get(name); v != nil && !goja.IsUndefined(v) {
			text = v.String()
		}
	})
	return text
}

// wordings are what goja says otherwise than other engines, whatever the place.
var wordings = []struct {
	goja *regexp.Regexp
	v8   string
}{
	{re(`^Object has no member '(.*)'$`), "$1 is not a function"},
	{re(`^Cannot read property '(.*)' of undefined( or null)?$`), "Cannot read properties of undefined or null (reading '$1')"}, // goja does not tell them apart
	{re(`^Value is not (?:an object|callable): (.*)$`), "$1 is not a function or an object"},
	{re(`^Dynamic object is not callable$`), "a tools' object is not a function"},
	{re(`^Value is not object coercible$`), "Cannot destructure undefined or null"},
	{re(`^'Set' on a dynamic object returned false$`), "Cannot assign to a tool: tools are constants"},
	{re(`^Could not convert (?s:.*) to primitive$`), "Cannot convert object to primitive value"},
	{re(`^Value is not a number: %!(?s:.*)$`), "Value is not a number"},
	{re(`^No initial value$`), "Reduce of empty array with no initial value"},
	{re(`^radix must be an integer between`), "toString() radix argument must be between"},
	{re(`^RegExp doesn't have global flag set$`), "String.prototype.matchAll called with a non-global RegExp argument"},
	{re(`^invalid flags supplied to RegExp constructor '(.*)'`), "Invalid flags supplied to RegExp constructor '$1': this engine knows g, i, m, s, u, y"},
	{re(`^(invalid character .*|unexpected EOF|Unexpected token at the end: .*|Unexpected end of JSON input \(.*)$`), "the text is not valid JSON"},
	{re(`^toFixed\(\) precision must`), "toFixed() digits argument must"},
}

// wordMessage says an error's message in the words that a JavaScript programmer
// knows.
func wordMessage(message string) string {
	for _, w := range wordings {
		if w.goja.MatchString(message) {
			return w.goja.ReplaceAllString(message, w.v8)
		}
	}
	return message
}

// wordError says an error in these words.
func wordError(name, message string) string {
	message = wordMessage(message)
	switch {
	case name == "":
		return message
	case message == "":
		return name
	}
	return name + ": " + message
}

// frame is a place in the wrapped program.
type frame struct{ line, column int }

var stackFrame = regexp.MustCompile(`(program[-\d]*\.js):(\d+):(\d+)`)

func parseStack(stack, name string) []frame {
	var frames []frame
	for line := range strings.Lines(stack) {
		m := stackFrame.FindStringSubmatch(line)
		if m == nil || m[1] != name {
			continue
		}
		l, _ := strconv.Atoi(m[2])
		c, _ := strconv.Atoi(m[3])
		frames = append(frames, frame{l, c})
	}
	return frames
}

// maxStack is how many places of a stack are kept.
const maxStack = 10

// locate translates frames into places in the source.
func (r *run) locate(f *Failure, frames []frame) {
	for _, at := range frames {
		if pos := r.program.source.fromFrame(at.line, at.column); pos.Line != 0 && len(f.Stack) < maxStack {
			f.Stack = append(f.Stack, pos)
		}
	}
	if len(f.Stack) > 0 {
		f.Pos = f.Stack[0]
	}
}

func encodeFailure(err error) *Failure {
	if errors.Is(err, errTooLarge) {
		return &Failure{
			Kind: TooLarge, Message: err.Error(),
			Hint: "return a summary, or only the part that is needed",
		}
	}
	return &Failure{Kind: BadValue, Message: "the value of the program cannot be written as JSON: " + err.Error()}
}
