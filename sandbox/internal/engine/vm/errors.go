package vm

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/check"
	"github.com/writ-go/writ/sandbox/internal/engine/convert"
)

// thrown returns the error that a failed tool call throws. It records the failed call, which has the position: an error
// that is created here has no stack.
func (r *machine) thrown(c callPromise) goja.Value {
	e := c.reply.Error
	data, err := r.convert.Decode(e.Data, nil)
	if err != nil {
		data = goja.Undefined()
	}
	var object *goja.Object
	exception := r.vm.Try(func() {
		class, value := r.globals.Get("ToolError"), r.vm.ToValue
		object, err = r.vm.New(class, value(e.Message), value(e.Tool), value(e.Kind), data, value(e.ID))
	})
	if exception != nil || err != nil { // the program replaced built-ins that the class uses
		object = r.typeError(e.Message)
	}
	engine.Put(&r.thrownBy, object, c)
	return object
}

// toolErrorSource is the class of the errors that failed tool calls throw.
var toolErrorSource = goja.MustCompile("", `(class ToolError extends Error {
	constructor(message, tool, kind, data, id) {
		super(message);
		Object.defineProperty(this, "name", {value: "ToolError"});
		this.tool = tool;
		this.kind = kind;
		if (id) this.id = id;
		if (data !== undefined) this.data = data;
	}
})`, true)

func (r *machine) toolErrorClass() goja.Value {
	class, err := r.vm.RunProgram(toolErrorSource)
	if err != nil {
		panic(r.typeError("ToolError: " + err.Error())) // the program removed built-ins that the class uses
	}
	return class
}

// failure describes an error from RunProgram or from a callback.
func (r *machine) failure(err error) *engine.Failure {
	var exception *goja.Exception
	var overflow *goja.StackOverflowError
	switch {
	case errors.As(err, &overflow):
		f := &engine.Failure{
			Kind: engine.KindThrown, Message: "RangeError: too much recursion",
			Hint: fmt.Sprintf("functions can be nested %d calls deep; use a loop", maxCallStack),
		}
		r.locate(f, framesOf(&overflow.Exception, r.program.Name))
		return f
	case errors.As(err, &exception):
		f := r.rejectionOf(exception.Value())
		if f.Line == 0 {
			r.locate(f, framesOf(exception, r.program.Name))
		}
		return f
	default:
		return &engine.Failure{Kind: engine.KindThrown, Message: err.Error()}
	}
}

func framesOf(e *goja.Exception, name string) []check.Frame {
	var frames []check.Frame
	for _, f := range e.Stack() {
		if f.SrcName() == name {
			frames = append(frames, check.Frame{Line: f.Position().Line, Column: f.Position().Column})
		}
	}
	return frames
}

// rejection describes a thrown value.
func (r *machine) rejection(v goja.Value) *engine.Failure {
	f := &engine.Failure{Kind: engine.KindThrown, Message: "uncaught " + r.convert.Inspect(v)}
	object, ok := v.(*goja.Object)
	if !ok || object.ClassName() != "Error" {
		return f
	}
	if c, ok := r.thrownBy[object]; ok {
		f.Pos, f.Stack, f.Tool, f.Call = c.Pos, c.stack, c.reply.Error, c.ID
		f.Message = r.convert.Describe(object, r.convert.Text(object, "message"))
		return f
	}
	stack := r.convert.Text(object, "stack")
	frames := r.program.Source.SkipSuper(parseStack(stack, r.program.Name))
	message := r.convert.Text(object, "message")
	if uncallable.MatchString(message) && len(frames) > 0 &&
		!strings.Contains(firstFrame.FindString(stack), "(native)") {
		if name := r.program.Source.Callee(frames[0]); name != "" {
			message = name + " is not a function"
		}
	}
	f.Message = r.convert.Describe(object, message)
	r.locate(f, frames)
	if f.Line == 0 {
		r.locateFirst(f, object)
	}
	return f
}

// locateFirst gives an AggregateError, which has no position, its first error's position.
func (r *machine) locateFirst(f *engine.Failure, object *goja.Object) {
	if errs := r.convert.ErrorsOf(object); len(errs) > 0 {
		if first, ok := errs[0].(*goja.Object); ok {
			r.locate(f, parseStack(r.convert.Text(first, "stack"), r.program.Name))
		}
	}
}

// uncallable matches goja's messages for calling a value that is not a function.
var uncallable = regexp.MustCompile(`^(Value is not (an object|callable): |Dynamic object is not callable$)`)

var firstFrame = regexp.MustCompile(`(?m)^\tat .*`)

var stackFrame = regexp.MustCompile(`(program[-\d]*\.js):(\d+):(\d+)`)

func parseStack(stack, name string) []check.Frame {
	var frames []check.Frame
	for line := range strings.Lines(stack) {
		m := stackFrame.FindStringSubmatch(line)
		if m == nil || m[1] != name {
			continue
		}
		l, _ := strconv.Atoi(m[2])
		c, _ := strconv.Atoi(m[3])
		frames = append(frames, check.Frame{Line: l, Column: c})
	}
	return frames
}

// maxStack is the maximum number of positions in a stack.
const maxStack = 10

// locate sets the positions of a failure from stack frames.
func (r *machine) locate(f *engine.Failure, frames []check.Frame) {
	for _, at := range frames {
		if pos := r.program.Source.FromFrame(at.Line, at.Column); pos.Line != 0 && len(f.Stack) < maxStack {
			f.Stack = append(f.Stack, pos)
		}
	}
	if len(f.Stack) > 0 {
		f.Pos = f.Stack[0]
	}
}

func encodeFailure(err error) *engine.Failure {
	if errors.Is(err, convert.ErrTooLarge) {
		return &engine.Failure{
			Kind: engine.KindTooLarge, Message: err.Error(),
			Hint: "return a summary, or only the part that is needed",
		}
	}
	message := "the value of the program cannot be written as JSON: " + err.Error()
	return &engine.Failure{Kind: engine.KindBadValue, Message: message}
}
