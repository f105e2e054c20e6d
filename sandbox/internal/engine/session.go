package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

const (
	// MaxSessions is how many sessions an engine keeps a VM for. Others are rebuilt
	// from their log.
	MaxSessions = 8
	// MaxPreludes is how many compiled preludes an engine keeps.
	MaxPreludes = 8
)

// SessionJob says what a program follows on.
type SessionJob struct {
	Key  string `json:"key"`
	Step int    `json:"step"`           // how many programs have run before
	Kept bool   `json:"kept"`           // only for an engine that has a VM of the session: nothing else is told
	List bool   `json:"list,omitempty"` // of a program that is refused, list the session's variables

	// Log is what they were, for an engine that has no VM of the session.
	Log []Step `json:"log,omitempty"`

	// Inputs are constants of every program of the session, for such an engine.
	Inputs []Input `json:"inputs,omitempty"`
}

// Step is a program of a session that has ended well, and what is needed to run
// it again exactly.
type Step struct {
	Source string `json:"source"`
	// Prelude is what ran before it. Its text is only with the first program that
	// had it.
	Prelude *Prelude  `json:"prelude,omitempty"`
	Inputs  []Input   `json:"inputs,omitempty"`
	Tools   []Binding `json:"tools,omitempty"` // those that it has seen
	Submit  bool      `json:"submit,omitempty"`

	// Limits whose errors the program may have caught.
	Output   int `json:"output,omitempty"`
	Argument int `json:"argument,omitempty"`

	Clock *Clock `json:"clock,omitempty"`

	Calls     []Answered      `json:"calls,omitempty"`
	Turns     []Turn          `json:"turns,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Submitted bool            `json:"submitted,omitempty"`
}

// Answered is a call that was made, and its reply.
type Answered struct {
	Tool  string          `json:"tool"` // as the program writes it
	Args  json.RawMessage `json:"args"` // their [Digest]
	More  json.RawMessage `json:"more,omitempty"`
	Reply Reply           `json:"reply"`
}

// longArgs is how many bytes of arguments are recorded as they are.
const longArgs = 512

// Digest is what is recorded of a call's arguments: all that is needed to tell
// them from others.
func Digest(args json.RawMessage) json.RawMessage {
	if len(args) <= longArgs {
		return args
	}
	return fmt.Appendf(nil, `"%d bytes, SHA-256 %x"`, len(args), sha256.Sum256(args))
}

// Turn is one thing for which the loop woke the program.
type Turn struct {
	Call  int   `json:"call,omitempty"`  // the reply to this call came
	Timer int64 `json:"timer,omitempty"` // this timer fired
	At    int64 `json:"at"`              // what the clock showed from then on, in ms since 1970
}

// MaxTurns bounds the record of one program; one more ends it.
const MaxTurns = 100_000

// Clock pins what a program sees of time and chance: Date starts at Start,
// stands still while the program computes, and moves when it is woken;
// Math.random and crypto repeat themselves.
type Clock struct {
	Start int64 `json:"start"` // ms since 1970
	Seed  int64 `json:"seed"`
	Fixed bool  `json:"fixed,omitempty"` // it moves by sleeping alone, not as time really goes by
}

// Prelude is the body of a function that is called before a program, in the same
// VM and within its limits. What it returns is a constant of the program, by the
// name of [PreludeName]. What it declares is its own.
type Prelude struct {
	Hash string `json:"hash"`           // of the text
	Text string `json:"text,omitempty"` // "" for an engine that knows it
}

// NewPrelude makes a prelude of a text; nil of none.
func NewPrelude(text string) *Prelude {
	if text == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	return &Prelude{Hash: hex.EncodeToString(sum[:]), Text: text}
}

// First returns a prelude with its text, which is only with the first one of those
// that have the hash.
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

// PreludeName is what a program calls the value of its prelude.
const PreludeName = "__writ_library__"
