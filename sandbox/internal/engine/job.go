// Package engine describes one run of a JavaScript program: the job, the host that the program can reach, and the
// result. Jobs, calls, replies and results are plain data that can cross a pipe. Package vm runs jobs in goja VMs,
// package check parses and checks programs, and package convert converts values between JSON and the VM.
package engine

import (
	"encoding/json"
	"errors"
	"time"
)

// Job is one program and everything it can see.
type Job struct {
	Source string    `json:"source"`
	Inputs []Input   `json:"inputs,omitempty"`
	Tools  []Binding `json:"tools,omitempty"`
	Submit bool      `json:"submit,omitempty"` // whether submit(value) is bound

	Prelude *Prelude `json:"prelude,omitempty"` // runs before the program; may be nil

	// RunClean means that the host allows every program whose report is clean (see [Report.Clean]). Such a program
	// does not wait for the verdict.
	RunClean bool `json:"runClean,omitempty"`

	// Forbidden are names that are reported wherever they occur in the source.
	Forbidden []string `json:"forbidden,omitempty"`

	Limits Limits `json:"limits"`

	Clock   *Clock      `json:"clock,omitempty"`   // fixes time and random numbers; nil for the real clock
	Session *SessionJob `json:"session,omitempty"` // nil for a program outside of a session

	// Record means that turns are recorded. They are recorded for every program in a session.
	Record bool `json:"record,omitempty"`

	// Turns are the recorded turns of an earlier run, which had the same Clock. The program is resumed by exactly these
	// turns, in this order, before it goes on by itself. If a turn is impossible, or the program ends before the last
	// one, the run ends with KindDiverged.
	Turns []Turn `json:"turns,omitempty"`

	// Stop is the result of the earlier run if that was stopped after the last of Turns, and otherwise nil. The program
	// is then stopped when it next waits, and has this result even if it ends before that.
	Stop *Result `json:"stop,omitempty"`
}

// Recorded reports whether turns are recorded.
func (j *Job) Recorded() bool { return j.Record || j.Session != nil }

// Input is a constant that the program can read.
type Input struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// Binding is one tool and its names in the program. Calls identify a tool by its index
// in [Job.Tools].
type Binding struct {
	Namespace string   `json:"ns,omitempty"` // the global object that holds the tool; "" for a global function
	Names     []string `json:"names"`        // its names in the namespace, or the one global name

	// Params are the parameter names of a tool that takes several arguments, which are combined into one object. It is
	// nil for a tool that takes one object.
	Params []string `json:"params,omitempty"`
}

// Path returns the path by which programs call the tool, such as mail.send.
func (b Binding) Path() string {
	if b.Namespace == "" {
		return b.Names[0]
	}
	return b.Namespace + "." + b.Names[0]
}

// Limits bounds one run. The host enforces the limits on calls and their concurrency.
type Limits struct {
	Time    time.Duration `json:"time"`    // total time
	Compute time.Duration `json:"compute"` // the part of Time that is CPU time
	Memory  int64         `json:"memory"`  // bytes that the program may use; the caller of the engine enforces it
	Output  int           `json:"output"`  // bytes of the value, and bytes of each console stream that are kept

	Argument int `json:"argument"` // bytes of one tool argument
}

// ErrMemory is the cause of a context that was canceled because the program used too much memory.
var ErrMemory = errors.New("out of memory")

// Host connects a program to the outside. Its methods are called on the goroutine of the engine, in the order in which
// the program acts. They must not block, with two exceptions: Allowed, and Call of the host that reads package files
// for the bundler.
type Host interface {
	// Report receives the check's results.
	Report(Report)

	// Allowed reports whether the program may run. The engine calls it after Report, once it
	// has compiled the program. If the result is false, the program does not run.
	Allowed() bool

	// Call receives a tool call, and must perform it on another goroutine. It must call reply once, on any
	// goroutine. A reply that arrives after the run has ended is dropped.
	Call(c Call, reply func(Reply))

	// Clock receives the clock of the run, before the program runs.
	Clock(RunClock)

	// Waiting is called, possibly on another goroutine, when the program has only waited for calls for 10 ms. The
	// argument is the number of replies that the program has received. Waiting is not called after the run has ended.
	// It must not call the methods of the RunClock.
	Waiting(replies int)
}

// PassiveHost implements the methods of [Host] except Call. It lets every program run.
type PassiveHost struct{}

// Report implements [Host].
func (PassiveHost) Report(Report) {}

// Allowed implements [Host].
func (PassiveHost) Allowed() bool { return true }

// Clock implements [Host].
func (PassiveHost) Clock(RunClock) {}

// Waiting implements [Host].
func (PassiveHost) Waiting(int) {}

// RunClock is the clock of Limits.Time.
type RunClock interface {
	// SetStill stops (true) or starts (false) the clock. Even a stopped clock stands still only while the program does
	// nothing but wait for calls. SetStill may be called on any goroutine, even after the run.
	SetStill(bool)
}

// Supervisor is a [Host] that can stop the program, and is notified when the program does not react to being stopped.
type Supervisor interface {
	Host

	// Begin is called before the program runs. stop ends the program.
	Begin(stop func(error))

	// Patience returns how long a stopped program may take to react. A program in a native function, which goja
	// cannot interrupt, may never react. Any other program reacts as soon as it gets processor time.
	Patience() time.Duration

	// Stuck is called on another goroutine if a stopped program is still running after
	// Patience. In that case, Run may never return.
	Stuck(*Failure)
}

// Call is one tool call as the program made it.
type Call struct {
	ID   int             `json:"id"`   // 1, 2, … in order of issue
	Tool int             `json:"tool"` // index into Job.Tools
	Args json.RawMessage `json:"args"`
	More json.RawMessage `json:"more,omitempty"` // the second argument, or nil if the program passed only one

	Turns []Turn `json:"turns,omitempty"` // the turns since the previous call, if turns are recorded
	Pos
}

// Reply is the reply to a Call: a value or an error. A nil value means undefined.
type Reply struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error *ToolError      `json:"error,omitempty"`
}

// ToolError is thrown into the program.
type ToolError struct {
	Tool    string          `json:"tool"`
	Kind    string          `json:"kind"`
	Message string          `json:"message"`
	ID      string          `json:"id,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Result is a run's result.
type Result struct {
	Value     json.RawMessage `json:"value,omitempty"` // nil is undefined
	Submitted bool            `json:"submitted,omitempty"`
	Failure   *Failure        `json:"failure,omitempty"`
	Stdout    Output          `json:"stdout"`
	Stderr    Output          `json:"stderr"`
	Computed  time.Duration   `json:"computed,omitempty"`
	Waited    time.Duration   `json:"waited,omitempty"`
	Lost      []string        `json:"lost,omitempty"`  // values in the answer without a JSON form: "total is NaN"
	Turns     []Turn          `json:"turns,omitempty"` // the turns since the last call, if turns are recorded
	// the sorted indices of the tools that a program in a session used
	Used           []int           `json:"used,omitempty"`
	Variables      []Variable      `json:"variables,omitempty"` // the session's variables; see SessionJob.List
	PromiseMisuses []PromiseMisuse `json:"strays,omitempty"`
	Misses         []Miss          `json:"misses,omitempty"`
}

// Output is what the program wrote to one stream of the console. Text is cut at Limits.Output,
// and Tail is the end of the stream.
type Output struct {
	Text  string `json:"text,omitempty"`
	Tail  string `json:"tail,omitempty"`
	Bytes int    `json:"bytes,omitempty"` // written in total
}

// Failure says why a program failed.
type Failure struct {
	Kind    string     `json:"kind"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	Stack   []Pos      `json:"stack,omitempty"` // innermost first
	Tool    *ToolError `json:"tool,omitempty"`  // the tool's error, if the program did not catch it
	Call    int        `json:"call,omitempty"`  // the ID of the call that failed with Tool
	Calls   []int      `json:"calls,omitempty"` // the IDs of the calls that KindUnawaited is about
	Pos
}

// Kinds of Failure that the engine reports.
const (
	KindSyntax       = "syntax"        // the source is not JavaScript that this engine runs
	KindRefused      = "refused"       // Host.Allowed returned false
	KindThrown       = "thrown"        // an exception was not caught
	KindTimeout      = "timeout"       // Limits.Time passed
	KindComputeLimit = "compute_limit" // Limits.Compute passed
	KindStale        = "stale"         // the engine lacks the VM of the session and has not received its log
	KindLost         = "lost"          // the session's earlier programs cannot be run again with the same result
	KindDiverged     = "diverged"      // the program did not behave as Job.Turns say
	KindStopped      = "stopped"       // the context was cancelled
	KindDeadlock     = "deadlock"      // the program awaits a promise that nothing can settle
	KindUnawaited    = "unawaited"     // submitted before all calls had settled, or with a promise as text
	KindTooLarge     = "output_limit"  // the value exceeds Limits.Output
	KindBadValue     = "bad_value"     // the value has no JSON form
	KindMemory       = "memory_limit"  // the program used too much memory
	KindCrashed      = "crashed"       // the worker died, or the engine failed
)

// Stopped returns the failure of a program that the caller stopped.
func Stopped() *Failure { return &Failure{Kind: KindStopped, Message: "the program was stopped"} }

// OutOfMemory returns the failure of a program that used too much memory.
func OutOfMemory() *Failure {
	return &Failure{
		Kind: KindMemory, Message: "the program ran out of memory",
		Hint: "keep less data at once: process it in parts, and do not build huge strings or arrays",
	}
}

// SameTools reports whether two tool lists are the same slice. The elements of such a slice never change.
func SameTools(a, b []Binding) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Put sets a key's value, and creates the map if it is nil.
func Put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}
