package tools

import (
	"context"
	"encoding/json"
	"slices"
)

// Call is one call to one tool by a running program.
type Call struct {
	ID      int             // 1, 2, … in the order in which the program made its calls
	Tool    *Binding        // the tool that is called
	Args    json.RawMessage // valid for the tool's InputSchema, with its defaults; must not be modified
	Repeat  *Repeat         // the call's second argument, about a repeated effect; usually nil
	Line    int             // of the call in the program, from 1; 0 if unknown
	Column  int
	Program string // the program's source; "" if unknown
}

// Repeat is a call's second argument. It says how the call relates to earlier calls that it resembles. The strings are
// IDs of entries in the journal, such as "E7".
type Repeat struct {
	Same     string   `json:"same,omitempty"`     // the call is this entry: return its recorded result
	Again    []string `json:"again,omitempty"`    // repeat these effects on purpose
	Distinct []string `json:"distinct,omitempty"` // the effect differs from these; "all" means every entry that is done
	Fresh    bool     `json:"fresh,omitempty"`    // this unclassified tool only reads
}

// Caller performs calls. Implementations are safe for concurrent use.
type Caller interface {
	// Call returns the result as JSON; nil means undefined. An error becomes a
	// [ToolError] in the program, unless it is [Fatal] and ends the run.
	Call(ctx context.Context, c Call) (json.RawMessage, error)
}

// CallerFunc is a function that implements [Caller].
type CallerFunc func(ctx context.Context, c Call) (json.RawMessage, error)

// Call calls f.
func (f CallerFunc) Call(ctx context.Context, c Call) (json.RawMessage, error) { return f(ctx, c) }

// Policy wraps the Caller of every call that reaches a tool. It may refuse the call, change
// its arguments, delay it, retry it, or look at its result.
//
// The context that a policy passes to next must derive from its own. Otherwise, the call is not made and the run ends.
//
// To refuse a call, return a [ToolError] of kind [KindDenied] without calling next. The model reads its message. The
// errors from next are *ToolError or [Fatal]. Arguments that a policy changes are validated again; changes to other
// fields of the Call have no effect. If a policy returns an error after next has returned a result, the error is
// recorded and reported as the error of a call that was made.
type Policy func(next Caller) Caller

type policiesKey struct{}

// WithPolicies returns a context in which policies apply to all tool calls. They wrap the sets' policies, and policies
// that ctx already has wrap them. WithPolicies is for hosts that run other people's modules or programs, such as an
// evaluation that replaces tools. No policies apply to tools in the namespace tools.
func WithPolicies(ctx context.Context, policies ...Policy) context.Context {
	return context.WithValue(ctx, policiesKey{}, slices.Concat(policiesOf(ctx), policies))
}

// Policies returns the policies that apply to calls made with ctx, the outermost first: those
// of [WithPolicies], then those of the set.
func (s *Set) Policies(ctx context.Context) []Policy {
	if s == nil {
		return policiesOf(ctx)
	}
	return slices.Concat(policiesOf(ctx), s.policies)
}

func policiesOf(ctx context.Context) []Policy {
	policies, _ := ctx.Value(policiesKey{}).([]Policy)
	return policies
}
