// Package engine runs one JavaScript program in one goja VM: parse, report,
// compile, bind, loop, convert. It knows nothing of schemas, policies or
// processes; whatever lies outside the VM is reached through [Host]. Everything
// that passes between the two is plain data, so that it may cross a pipe.
package engine

import (
	"encoding/json"
	"errors"
	"time"
)

// Job is one program and what it may see.
type Job struct {
	Source string    `json:"source"`
	Inputs []Input   `json:"inputs,omitempty"`
	Tools  []Binding `json:"tools,omitempty"`
	Submit bool      `json:"submit,omitempty"` // whether submit(value) is bound

	Prelude *Prelude `json:"prelude,omitempty"` // runs before the program; nil for none

	// Forbidden are names that are reported wherever they occur.
	Forbidden []string `json:"forbidden,omitempty"`

	Limits Limits `json:"limits"`

	Clock   *Clock      `json:"clock,omitempty"`   // pins time and chance; nil does not
	Session *SessionJob `json:"session,omitempty"` // nil for a program that stands alone
}

// Input is a constant of the program.
type Input struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// Binding is one tool: the names it has in the program. Its place in
// [Job.Tools] is the number by which calls name it.
type Binding struct {
	Namespace string   `json:"ns,omitempty"` // a global object; "" for a global function
	Names     []string `json:"names"`        // as a member of the namespace, or the one global name

	// Params names the parameters of a tool that takes several arguments: they
	// become one object. Nil is a tool that takes an object.
	Params []string `json:"params,omitempty"`
}

// Path is the tool as a program writes it.
func (b Binding) Path() string {
	if b.Namespace == "" {
		return b.Names[0]
	}
	return b.Namespace + "." + b.Names[0]
}

// Limits bounds one run. The engine keeps those that only it can keep; calls
// and their concurrency are counted by the host.
type Limits struct {
	Time    time.Duration `json:"time"`    // from start to end
	Compute time.Duration `json:"compute"` // of that, computing
	Wait    time.Duration `json:"wait"`    // of that, waiting for tools and timers
	Memory  int64         `json:"memory"`  // bytes that the program may use; who runs the engine sees to it
	Output  int           `json:"output"`  // bytes of each console stream that are kept, and of the value

	Argument int `json:"argument"` // bytes of an argument of a tool
}

// ErrMemory, as the cause of a cancelled context, says that memory ran short.
var ErrMemory = errors.New("out of memory")

// Host is what lies outside the VM. Its methods are called on the engine's
// goroutine, in the order in which the program acts, and must not block.
type Host interface {
	// Report receives what the parse found. The engine goes on to compile and
	// calls the returned function before the first instruction runs; if that
	// returns false the program is refused and nothing has run.
	Report(Report) (allowed func() bool)

	// Call takes in a tool call, in the order in which the program makes them, and
	// returns soon. What it returns performs the call, on any goroutine, and must be
	// called once; nil if there is nothing to perform. reply is called once, on any
	// goroutine; a late reply, after the run has ended, is dropped.
	Call(c Call, reply func(Reply)) (perform func())
}

// Stucker is a [Host] that wants to know of a program that does not react to
// being stopped, and may stop it for reasons of its own.
type Stucker interface {
	// Begin is called before the program, with what stops it.
	Begin(stop func(error))

	// Patience is how long a program may take to react to being stopped. One in a
	// native function, which goja cannot interrupt, takes longer; any other needs
	// but a processor.
	Patience() time.Duration

	// Stuck is called, on another goroutine, when the program was stopped and after
	// Patience still goes on: Run may never return.
	Stuck(*Failure)
}

// Call is one tool call as the program made it.
type Call struct {
	ID   int             `json:"id"`   // 1, 2, … in order of issue
	Tool int             `json:"tool"` // index into Job.Tools
	Args json.RawMessage `json:"args"`
	More json.RawMessage `json:"more,omitempty"` // the second argument; nil where there is none
	Pos
}

// Reply is the answer to a Call: a value (nil is undefined) or an error.
type Reply struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error *ToolError      `json:"error,omitempty"`
}

// ToolError is thrown into the program.
type ToolError struct {
	Tool    string          `json:"tool"`
	Kind    string          `json:"kind"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Result is how a run ended.
type Result struct {
	Value     json.RawMessage `json:"value,omitempty"` // nil is undefined
	Submitted bool            `json:"submitted,omitempty"`
	Failure   *Failure        `json:"failure,omitempty"`
	Stdout    Output          `json:"stdout"`
	Stderr    Output          `json:"stderr"`
	Computed  time.Duration   `json:"computed,omitempty"`
	Waited    time.Duration   `json:"waited,omitempty"`
	Turns     []Turn          `json:"turns,omitempty"`     // of a session's program
	Used      []int           `json:"used,omitempty"`      // which of Job.Tools a session's program has seen, in order
	Variables []Variable      `json:"variables,omitempty"` // of a session; see SessionJob.List
	Strays    []Stray         `json:"strays,omitempty"`
}

// Output is one stream of the console, cut at Limits.Output. Tail is how it ended.
type Output struct {
	Text  string `json:"text,omitempty"`
	Tail  string `json:"tail,omitempty"`
	Bytes int    `json:"bytes,omitempty"` // what was written, kept or not
}

// Failure is why a program did not end well.
type Failure struct {
	Kind    string     `json:"kind"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	Stack   []Pos      `json:"stack,omitempty"` // innermost first
	Tool    *ToolError `json:"tool,omitempty"`  // the tool's error that was not caught
	Call    int        `json:"call,omitempty"`  // the call that it answered
	Calls   []int      `json:"calls,omitempty"` // of Unawaited: the calls that it is about
	Pos
}

// Kinds of Failure that the engine reports.
const (
	Syntax       = "syntax"        // the source is not JavaScript that this engine runs
	Refused      = "refused"       // Host.Report said no
	Thrown       = "thrown"        // an exception was not caught
	Timeout      = "timeout"       // Limits.Time passed
	ComputeLimit = "compute_limit" // Limits.Compute passed
	WaitLimit    = "wait_limit"    // Limits.Wait passed
	Stale        = "stale"         // the engine has no VM of the session, and no log
	Diverged     = "diverged"      // a program of a session, made again, did something else
	Stopped      = "stopped"       // the context was cancelled
	Deadlock     = "deadlock"      // it awaits something that can never happen
	Unawaited    = "unawaited"     // it submitted while calls were unsettled, or had failed unnoticed, or the text of a promise
	TooLarge     = "output_limit"  // the value exceeds Limits.Output
	BadValue     = "bad_value"     // the value has no JSON form
	Memory       = "memory_limit"  // the worker ran out of memory
	Crashed      = "crashed"       // the worker died or the engine failed
)
