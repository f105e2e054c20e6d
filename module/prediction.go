package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Prediction is a module's answer. There is none beside an error.
type Prediction[Out any] struct {
	// Output is the answer, valid against the signature.
	Output Out

	// Trajectory is how the module came to it.
	Trajectory Trajectory
}

// Trajectory is what a module did, step by step.
type Trajectory struct {
	Steps []Step

	// Effects are the tool calls of the whole run, as the journal has them.
	Effects []journal.Entry

	// Orphans are those effects that no accepted program asked for: an attempt
	// made them, failed, and was rewritten without them.
	Orphans []journal.Entry

	// Attempts are the runs of other modules that this one was made of, such as
	// those among which the best was chosen, in the order in which they ended.
	Attempts []Trajectory

	// Chosen is which of the attempts the answer is of, from 1, and Score what its
	// reward was, where there was one. It is 0 if the answer is of none of them.
	Chosen int
	Score  float64

	// Spent is what was paid besides the steps and the attempts: calls of models
	// that programs made, or modules which tools, rewards and modules of yours ran
	// with the context that they were given. A call that was still under way when
	// the run was cancelled is counted, without its tokens.
	Spent Usage
}

// last is the step under way.
func (t *Trajectory) last() *Step { return &t.Steps[len(t.Steps)-1] }

// Usage is what all of it cost together, attempts included.
func (t *Trajectory) Usage() Usage {
	u := t.Spent
	for i := range t.Attempts {
		u.add(t.Attempts[i].Usage())
	}
	for _, s := range t.Steps {
		u.add(s.Usage)
	}
	return u
}

// Step is one question to the model and what came of its reply.
type Step struct {
	Reply       string           // what the model said
	Thinking    string           // what it thought before, where it keeps that apart
	Truncated   bool             // it was cut off at the model's limit of tokens
	Reasoning   string           // the part that explains
	Code        string           // the part that is a program, or a call as a program would write it; "" if there was none
	Outcome     *sandbox.Outcome // of running it; nil if there was nothing to run
	Observation string           // what the model is told of it; "" if it was the answer
	Extracted   bool             // the steps were used up, and it was asked for an answer from what was known
	Usage       Usage
	Duration    time.Duration // of the model's reply

	answer json.RawMessage // that was taken from it
}

// replied reports whether there was a reply, even an empty one.
func (s *Step) replied() bool {
	return s.Reply != "" || s.Truncated || s.Observation != "" || s.Outcome != nil
}

// Usage counts what models charge for, as far as the provider says.
type Usage struct {
	Calls          int `json:"calls"`                     // of the model, but for hits and what was never sent
	Hits           int `json:"hits,omitempty"`            // calls that a cache answered; they cost nothing
	InputTokens    int `json:"input_tokens"`              // all of them
	CachedTokens   int `json:"cached_tokens,omitempty"`   // of the input, those that the provider had cached
	OutputTokens   int `json:"output_tokens"`             // all of them
	ThinkingTokens int `json:"thinking_tokens,omitempty"` // of the output, those that the model thought with
}

// add adds up. What a provider claims cannot make it overflow.
func (u *Usage) add(o Usage) {
	u.each(o, plus)
}

// sub takes away, down to nothing.
func (u *Usage) sub(o Usage) {
	u.each(o, func(a, b int) int { return max(a-b, 0) })
}

func (u *Usage) each(o Usage, f func(a, b int) int) {
	u.Calls = f(u.Calls, o.Calls)
	u.Hits = f(u.Hits, o.Hits)
	u.InputTokens = f(u.InputTokens, o.InputTokens)
	u.CachedTokens = f(u.CachedTokens, o.CachedTokens)
	u.OutputTokens = f(u.OutputTokens, o.OutputTokens)
	u.ThinkingTokens = f(u.ThinkingTokens, o.ThinkingTokens)
}

// plus adds counts. What does not fit is as much as fits.
func plus(a, b int) int {
	if b = max(b, 0); a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// IncompleteError says that a module did not come to an answer. What it did is
// in the trajectory: effects may have happened, and money was spent. Run of every
// module returns it, once the model was asked.
type IncompleteError struct {
	// Err is why: [ErrMaxIters], [ErrNoAnswer], the context's error, the
	// model's, the sandbox's, a tool's fatal one, a *[journal.UnknownError] or a
	// *[PanicError].
	Err error

	// Trajectory is everything that was done.
	Trajectory Trajectory

	batch bool // of runs, of which others may have come to answers
}

// Error returns after how many steps there is no answer, and why. A question to
// which the model did not reply is no step. Of a module that is made of attempts
// it counts those; of a batch of runs it says how many have none.
func (e *IncompleteError) Error() string {
	if e == nil {
		return "module: no answer"
	}
	why := shorten(fmt.Sprint(e.Err), maxReason)
	if e.batch {
		return "module: " + why
	}
	steps, attempts := len(e.Trajectory.Steps), len(e.Trajectory.Attempts)
	if steps == 0 && attempts > 0 {
		return fmt.Sprintf("module: no answer after %s: %s", plural(attempts, "attempt"), why)
	}
	if steps > 0 && !e.Trajectory.last().replied() && !errors.Is(e.Err, ErrNoAnswer) {
		steps--
	}
	return fmt.Sprintf("module: no answer after %s: %s", plural(steps, "step"), why)
}

// maxReason is how many bytes of a reason are in the text of an error. A tool's
// may be as long as it likes.
const maxReason = 2000

// Unwrap returns Err.
func (e *IncompleteError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// partOf returns the account of a run that came to no answer, or nil.
func partOf(err error) *IncompleteError {
	part, _ := errors.AsType[*IncompleteError](err)
	return part
}

// MayHaveActed implements [tools.Acted]: a module that is run by a tool is not run
// again as if nothing had happened.
func (e *IncompleteError) MayHaveActed() bool { return e != nil && e.Trajectory.acted() }

// acted reports whether there are effects that were made, or may have been.
func (t *Trajectory) acted() bool {
	for _, e := range t.Effects {
		switch e.State {
		case journal.OK, journal.Unknown, journal.Dispatched:
			if e.Class != tools.Read {
				return true
			}
		}
	}
	return slices.ContainsFunc(t.Attempts, func(a Trajectory) bool { return a.acted() })
}

// ErrMaxIters is the reason of an [IncompleteError] when the steps are used up;
// the message goes on to say how the last one ended. Options.MaxIters allows more.
var ErrMaxIters = errors.New("the steps are used up")

// ErrNoAnswer is the reason of an [IncompleteError] when a reply could not be
// read, also after the model was told why. What is wrong with it is wrapped too.
var ErrNoAnswer = errors.New("the model's reply cannot be read")

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// chosen is the attempt that the answer is of, or nil.
func (t *Trajectory) chosen() *Trajectory {
	if t.Chosen < 1 || t.Chosen > len(t.Attempts) {
		return nil
	}
	return &t.Attempts[t.Chosen-1]
}

// Answer returns the outputs of the last step, or of that of the attempt that was
// chosen, as an object: what was taken as the answer, or what was submitted, valid
// or not. It is nil if the step had none.
func (t *Trajectory) Answer() json.RawMessage {
	if c := t.chosen(); c != nil {
		return c.Answer()
	}
	if len(t.Steps) == 0 {
		return nil
	}
	last := t.last()
	if last.answer == nil && last.Outcome != nil && last.Outcome.Submitted {
		return last.Outcome.Value
	}
	return last.answer
}
