package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

const (
	// MaxSessions is the maximum number of sessions whose VMs an engine keeps. The engine rebuilds other sessions
	// from their logs.
	MaxSessions = 8
	// MaxPreludes is the maximum number of compiled preludes that an engine keeps.
	MaxPreludes = 8
)

// SessionJob is the session that a job belongs to.
type SessionJob struct {
	Key  string `json:"key"`
	Step int    `json:"step"`           // number of earlier programs
	Kept bool   `json:"kept"`           // the engine has the VM of the session; Log and Inputs are empty
	List bool   `json:"list,omitempty"` // list the session's variables if the program is rejected

	// Log is the record of the earlier programs.
	Log []Step `json:"log,omitempty"`

	// Inputs are constants in each of the session's programs.
	Inputs []Input `json:"inputs,omitempty"`
}

// Step records a program in a session that succeeded, with everything that is needed to run it again with the same
// result.
type Step struct {
	Source string `json:"source"`
	// Prelude ran before the program. Only the first step with a given prelude has the prelude's source.
	Prelude *Prelude  `json:"prelude,omitempty"`
	Inputs  []Input   `json:"inputs,omitempty"`
	Tools   []Binding `json:"tools,omitempty"` // the tools that the program used
	Submit  bool      `json:"submit,omitempty"`

	// The program's limits. A rerun needs them because the program may have caught the error for exceeding a limit.
	Output   int `json:"output,omitempty"`
	Argument int `json:"argument,omitempty"`

	Clock *Clock `json:"clock,omitempty"`

	Replies   []RecordedReply `json:"calls,omitempty"` // to all of the program's calls, in order of issue
	Turns     []Turn          `json:"turns,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Submitted bool            `json:"submitted,omitempty"`
}

// RecordedReply is the reply to a call, with the parts of the call that a rerun of the program must repeat.
type RecordedReply struct {
	Tool  string          `json:"tool"` // the path by which the program called the tool
	Args  json.RawMessage `json:"args"` // the [Digest] of the arguments
	More  json.RawMessage `json:"more,omitempty"`
	Reply Reply           `json:"reply"`
}

// longArgs is the size in bytes above which only a digest of the arguments is recorded.
const longArgs = 512

// Digest returns a call's arguments as they are recorded: unchanged if they are short, and otherwise their size and
// hash.
func Digest(args json.RawMessage) json.RawMessage {
	if len(args) <= longArgs {
		return args
	}
	return fmt.Appendf(nil, `"%d bytes, SHA-256 %x"`, len(args), sha256.Sum256(args))
}

// Turn is one event after which the event loop resumed the program.
type Turn struct {
	Call  int   `json:"call,omitempty"`  // the call whose reply arrived
	Timer int64 `json:"timer,omitempty"` // the timer that fired
	At    int64 `json:"at"`              // the time that the program's clock then shows, in ms since 1970
}

// MaxTurns bounds the recorded turns of one program. The program ends with the turn that exceeds the bound.
const MaxTurns = 100_000

// CheckTurns returns an error if a turn refers to a call that a program with the given number of calls did not make.
func CheckTurns(turns []Turn, calls int) error {
	for _, t := range turns {
		if t.Call < 0 || t.Call > calls {
			return fmt.Errorf("a turn refers to call %d, which does not exist", t.Call)
		}
	}
	return nil
}

// Clock fixes the time and the random numbers that a program sees. Date starts at
// Start, stands still while the program computes, and moves when the program is
// resumed. Seed determines Math.random and crypto.
type Clock struct {
	Start int64 `json:"start"` // ms since 1970
	Seed  int64 `json:"seed"`
}

// Prelude is the body of a function that is called before a program, in the same VM and within the same limits. The
// program can read the function's result as the constant [PreludeName], but cannot see the function's declarations.
type Prelude struct {
	Hash string `json:"hash"`           // SHA-256 of Text
	Text string `json:"text,omitempty"` // "" if the engine already has the prelude
}

// NewPrelude returns a prelude, or nil if text is empty.
func NewPrelude(text string) *Prelude {
	if text == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	return &Prelude{Hash: hex.EncodeToString(sum[:]), Text: text}
}

// First returns the prelude with its text. Among the preludes of a session that have the same hash, only the first has
// the text: First stores it in texts, and returns it for the later preludes.
func (p *Prelude) First(texts map[string]*Prelude) *Prelude {
	switch {
	case p == nil:
		return nil
	case p.Text != "":
		texts[p.Hash] = p
	case texts[p.Hash] != nil:
		return texts[p.Hash]
	}
	return p
}

// PreludeName is the name of the constant that holds the prelude's value.
const PreludeName = "__writ_library__"
