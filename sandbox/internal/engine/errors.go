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
		r.locate(f, framesOf(&overflow.Exception))
		return f
	case errors.As(err, &exception):
		f := r.rejectionOf(exception.Value())
		if f.Line == 0 {
			r.locate(f, framesOf(exception))
		}
		return f
	default:
		return &Failure{Kind: Thrown, Message: err.Error()}
	}
}

func framesOf(e *goja.Exception) []frame {
	var frames []frame
	for _, f := range e.Stack() {
		if f.SrcName() == fileName {
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
	f.Message = wordError(r.text(object, "name"), r.text(object, "message"))
	r.locate(f, parseStack(r.text(object, "stack")))
	if by, ok := r.thrownBy[object]; ok {
		f.Pos, f.Stack, f.Tool, f.Call = by.call.Pos, nil, by.ToolError, by.call.ID
		f.Message = fmt.Sprintf("ToolError: %s: %s", by.Tool, r.text(object, "message"))
	}
	return f
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

var (
	noMember    = regexp.MustCompile(`^Object has no member '(.*)'$`)
	ofUndefined = regexp.MustCompile(`^Cannot read property '(.*)' of undefined( or null)?$`)
)

// wordError says an error in the words that a JavaScript programmer knows.
func wordError(name, message string) string {
	if m := noMember.FindStringSubmatch(message); m != nil {
		message = m[1] + " is not a function"
	}
	if m := ofUndefined.FindStringSubmatch(message); m != nil { // goja does not tell them apart
		message = "Cannot read properties of undefined or null (reading '" + m[1] + "')"
	}
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

var stackFrame = regexp.MustCompile(regexp.QuoteMeta(fileName) + `:(\d+):(\d+)`)

func parseStack(stack string) []frame {
	var frames []frame
	for line := range strings.Lines(stack) {
		m := stackFrame.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		l, _ := strconv.Atoi(m[1])
		c, _ := strconv.Atoi(m[2])
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
	return &Failure{Kind: BadValue, Message: "the value of the program has no JSON form: " + err.Error()}
}
