package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/tools"
)

// format is the version of the records. A log of another version is refused.
const format = 1

// Kinds of operations. The module and its programs cause the active ones, in the same order whenever they are repeated.
// The others happen at any time between them: for example, a tool returns.
const (
	opRun       = "run"       // the first record of a log
	opAttempt   = "attempt"   // active: a program begins
	opBegin     = "begin"     // active: what the program is, and its seed and time
	opTurns     = "turns"     // the order in which the program got its replies
	opIssue     = "issue"     // active: a call, and what the rules decided about it
	opDispatch  = "dispatch"  // the call is about to reach its tool
	opSettle    = "settle"    // the call has ended
	opLook      = "look"      // somebody looks at the entries while tools are working
	opReconcile = "reconcile" // Options.Reconcile was called
	opResolve   = "resolve"   // somebody decided about an unknown entry
	opEnd       = "end"       // the program has ended, or was interrupted: it may go on when it is repeated
	opAccept    = "accept"    // active: the step has ended
	opNextTurn  = "next_turn" // active: the next turn of a conversation begins
	opContinue  = "continue"  // active: a repeated call of a module begins another run
	opRollback  = "rollback"  // active: the effects are undone; not repeated
)

// operation is a change of a journal. Its JSON is a record of the log.
type operation struct {
	Op     string `json:"op"`
	Format int    `json:"format,omitempty"` // of a run
	Run    string `json:"run,omitempty"`    // of a run: its ID; of a continue: the call

	Source  []byte   `json:"source,omitempty"`  // of a begin: the hash of the program
	Instead int      `json:"instead,omitempty"` // of a begin: the attempt's number that had another program before
	Start   []byte   `json:"start,omitempty"`
	Turns   [][]byte `json:"turns,omitempty"`

	ID     string          `json:"id,omitempty"` // of the entry; of an issue: new, or the one that has the result
	Tool   string          `json:"tool,omitempty"`
	Server string          `json:"server,omitempty"`
	Name   string          `json:"name,omitempty"`
	Class  tools.Class     `json:"class,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"` // of a dispatch: nil if no policy has changed them
	Repeat *tools.Repeat   `json:"repeat,omitempty"`
	Answer *tools.Repeat   `json:"answer,omitempty"` // of an issue: what OnRepeat said instead of Repeat
	Key    []byte          `json:"key,omitempty"`    // of a new entry, or of changed arguments
	Again  []string        `json:"again,omitempty"`
	Named  []string        `json:"named,omitempty"` // of an end: the calls that wait for a person
	Labels uint64          `json:"labels,omitempty"`

	Reverts string `json:"reverts,omitempty"` // of an issue: the entry that the call undoes

	Repeatable  bool `json:"repeatable,omitempty"`
	Destructive bool `json:"destructive,omitempty"`
	Told        bool `json:"told,omitempty"`   // of a hold: because its entries failed
	Unseen      bool `json:"unseen,omitempty"` // of a hold: because nothing that was read shows the effect

	State    State            `json:"state,omitempty"`
	Result   json.RawMessage  `json:"result,omitempty"`
	Error    *tools.ToolError `json:"error,omitempty"`
	Hold     *tools.HoldError `json:"hold,omitempty"`
	Fatal    string           `json:"fatal,omitempty"`    // any other error
	Decision string           `json:"decision,omitempty"` // of a settle: see [dispatch.Decided]
	Pending  bool             `json:"pending,omitempty"`  // of a settle: a try is still in progress
	Unheard  bool             `json:"unheard,omitempty"`  // of a settle: the program was over and did not get the reply

	number  int      // of the record
	err     error    // the error of a settle, if it was not read from a log
	attempt *Attempt // of an attempt; nil if it was read from a log
}

// active reports whether the module or its program causes the operation.
func (op *operation) active() bool {
	switch op.Op {
	case opAttempt, opBegin, opIssue, opAccept, opNextTurn, opContinue, opRollback:
		return true
	}
	return false
}

func (op *operation) setError(err error) {
	op.err = err
	switch e := err.(type) {
	case nil:
	case *tools.ToolError:
		op.Error = e
	case *tools.HoldError:
		op.Hold = e
	default:
		op.Fatal = err.Error()
	}
}

func (op *operation) failure() error {
	switch {
	case op.err != nil:
		return op.err
	case op.Error != nil:
		return op.Error
	case op.Hold != nil:
		return op.Hold
	case op.Fatal != "":
		return errors.New(op.Fatal)
	}
	return nil
}

// sameCall reports whether two issues are the same call.
func (op *operation) sameCall(o *operation) bool {
	return op.Server == o.Server && op.Name == o.Name && bytes.Equal(op.Args, o.Args) && op.second() == o.second()
}

// second returns the second argument of a call as JSON, or "".
func (op *operation) second() string {
	if op.Repeat == nil {
		return ""
	}
	text, _ := json.Marshal(op.Repeat) // strings and a bool
	return string(text)
}

// String says what the program or the module did.
func (op *operation) String() string {
	switch op.Op {
	case opIssue:
		text := describe(op.Tool, op.Args)
		if second := op.second(); second != "" {
			text += " with the second argument " + cut(second, 200)
		}
		return "called " + text
	case opAttempt:
		return "ended, and another program began"
	case opBegin:
		return "began to run in a sandbox"
	case opEnd:
		return "ended"
	case opAccept:
		return "ended, and its step was closed"
	case opNextTurn:
		return "ended, and the next turn of the conversation began"
	case opContinue:
		return "ended, and the call of its module was repeated"
	}
	return op.Op
}

// DivergedError ends a run that is repeated from its log, but does not do what the log says. Nothing was done that is
// not in the log. It is a [tools.Fatal] error.
type DivergedError struct {
	Step, Attempt int    // the program that is repeated; 0 if no program runs
	Call          int    // the number of the recorded call in the program, or of the call after the last recorded one
	Recorded, Now string // what the program did then, and what it did now
}

// Error describes both.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("journal: the repeated run differs from its log in step %d, program %d, at call %d: "+
		"then the program %s; now it %s; repeat the run with the versions of Writ, of its tools and of its inputs "+
		"with which it was recorded, or start a new run", e.Step, e.Attempt, e.Call, e.Recorded, e.Now)
}

// compact returns JSON without insignificant space, as a record has it.
func compact(raw json.RawMessage) json.RawMessage {
	if !bytes.ContainsAny(raw, " \t\r\n") {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
