package tools

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"
)

// Call is one call of one tool by a running program.
type Call struct {
	ID      int             // 1, 2, … in the order in which the program made its calls
	Tool    *Binding        // what is called
	Args    json.RawMessage // the argument, valid against the tool's InputSchema and with its defaults; not to be modified
	Repeat  *Repeat         // what the program says about a repeated effect; usually nil
	Line    int             // where the program calls; from 1, 0 if unknown
	Column  int
	Program string // the source of that program; "" if unknown

	flight *flight // nil outside of a Dispatcher
}

// Performed returns the arguments with which the tool was called last, which policies
// further in may have changed; nil if it was not called.
func (c Call) Performed() json.RawMessage {
	if c.flight == nil {
		return nil
	}
	return c.flight.args()
}

// SourceLine returns the line of the program that makes the call, as far as it
// is known.
func (c Call) SourceLine() string {
	line := 1
	for text := range lines(c.Program) {
		if line == c.Line {
			return text
		}
		line++
	}
	return ""
}

// lines splits a program as JavaScript does.
func lines(program string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := strings.ReplaceAll(program, "\r\n", "\n"); ; {
			end := strings.IndexAny(rest, "\n\r\u2028\u2029")
			if end < 0 {
				yield(rest)
				return
			}
			if !yield(rest[:end]) {
				return
			}
			_, size := utf8.DecodeRuneInString(rest[end:])
			rest = rest[end+size:]
		}
	}
}

// Repeat is what a program says about a call that resembles an earlier one, as the
// second argument of the call. Entries are named as the journal names them: "E7".
type Repeat struct {
	Same     string   `json:"same,omitempty"`     // it is that call: take its recorded result
	Again    EntryIDs `json:"again,omitempty"`    // do these effects once more, on purpose
	Distinct EntryIDs `json:"distinct,omitempty"` // it is another effect than these; "all" is every one that is done
	Fresh    bool     `json:"fresh,omitempty"`    // this unclassified tool only reads
}

// EntryIDs are names of entries. As JSON they are one name or a list.
type EntryIDs []string

// UnmarshalJSON implements [json.Unmarshaler].
func (e *EntryIDs) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*e = EntryIDs{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(e))
}

// Caller performs calls. Implementations are safe for concurrent use.
type Caller interface {
	// Call returns the result as JSON, nil for undefined. An error becomes a
	// [ToolError] in the program unless it is [Fatal], which ends the run.
	Call(ctx context.Context, c Call) (json.RawMessage, error)
}

// CallerFunc is a function as a [Caller].
type CallerFunc func(ctx context.Context, c Call) (json.RawMessage, error)

// Call calls f.
func (f CallerFunc) Call(ctx context.Context, c Call) (json.RawMessage, error) { return f(ctx, c) }

// Policy stands around every call that reaches a tool: it may refuse it, change
// its arguments, delay it, retry it, or look at its result.
//
// To refuse, return a [ToolError] of kind [KindDenied] without calling next:
// the model reads the message. What next returns is a *ToolError or [Fatal].
// Arguments that a policy changes are validated again; nothing else of the Call
// can be changed. A policy cannot make a call undone: what it returns instead
// of a result that next gave is recorded, and told, as the failure of a call
// that was made.
type Policy func(next Caller) Caller
