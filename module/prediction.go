package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Prediction is a module's answer. There is none beside an error.
type Prediction[Out any] struct {
	// Output is the answer, valid against the signature.
	Output Out `json:"output"`

	// Trajectory is how the module came to it.
	Trajectory Trajectory `json:"trajectory"`
}

// Trajectory is what a module did, step by step. As JSON it has the whole usage and the
// answer too; what is read back lacks the kinds of the errors, which are text then.
type Trajectory struct {
	// ID is the Run of its events. It is 0 of several runs together.
	ID uint64 `json:"id,string,omitempty"`

	// Module is the kind of module, such as "CodeAct", or the name that [Compose] has for
	// it. It is empty for several runs together.
	Module string `json:"module,omitempty"`

	// Name is the path of the module within the one that it is part of, such as "Sort",
	// if that was run by [Compose], [Start], [Parallel] or another function that was
	// given the whole.
	Name string `json:"name,omitempty"`

	// Began is when it began, and Duration how long it took.
	Began    time.Time     `json:"began,omitzero"`
	Duration time.Duration `json:"duration_ns,omitempty"`

	// Err is why it came to no answer, and nil if it did. As JSON it is its text.
	Err error `json:"-"`

	Steps []Step `json:"steps,omitempty"`

	// Calls are the tool calls of the module itself, reads too, as the journal has
	// them. Those of Runs are there; AllCalls goes through all of them.
	Calls []journal.Entry `json:"calls,omitempty"`

	// Orphans are those effects that no accepted program asked for: an attempt
	// made them, failed, and was rewritten without them.
	Orphans []journal.Entry `json:"orphans,omitempty"`

	// Runs are the runs of other modules within this one, in the order in which they
	// began: those among which the best was chosen, those of rewards, and those that its
	// tools made with their context.
	Runs []Trajectory `json:"runs,omitempty"`

	// Chosen is which of the runs the answer is of, from 1. It is 0 if the answer is of
	// none of them.
	Chosen int `json:"chosen,omitempty"`

	// Score is what the reward of [BestOfN] or [Refine] returned for its answer, if it
	// was one of their attempts.
	Score *Score `json:"score,omitempty"`

	// Spent is the usage of models that programs asked by llm, by the name of the model:
	// of those runs, which may be thousands, nothing else is kept.
	Spent ModelUsage `json:"spent,omitempty"`

	answer json.RawMessage // of a module that has no steps
}

// last is the step under way.
func (t *Trajectory) last() *Step { return &t.Steps[len(t.Steps)-1] }

// Usage is what all of it cost together, runs included. A request without a response, since
// the run was cancelled, counts as one call.
func (t Trajectory) Usage() Usage { return t.UsageByModel().Total() }

// UsageByModel is what each model cost together, runs included.
func (t Trajectory) UsageByModel() ModelUsage {
	var all ModelUsage
	t.usage(&all)
	return all
}

func (t *Trajectory) usage(all *ModelUsage) {
	all.merge(t.Spent)
	for i := range t.Steps {
		all.add(t.Steps[i].Model, t.Steps[i].Usage)
	}
	for i := range t.Runs {
		t.Runs[i].usage(all)
	}
}

// empty reports whether nothing was done.
func (t Trajectory) empty() bool {
	return len(t.Steps)+len(t.Runs)+len(t.Calls)+len(t.Spent) == 0
}

// AllCalls goes through the tool calls of the module, and then of its runs.
func (t Trajectory) AllCalls() iter.Seq[journal.Entry] {
	return func(yield func(journal.Entry) bool) { t.eachCall(yield) }
}

func (t *Trajectory) eachCall(yield func(journal.Entry) bool) bool {
	for _, e := range t.Calls {
		if !yield(e) {
			return false
		}
	}
	for i := range t.Runs {
		if !t.Runs[i].eachCall(yield) {
			return false
		}
	}
	return true
}

// Step is one question to the model and what came of its reply.
type Step struct {
	// Began is when the model was asked.
	Began time.Time `json:"began,omitzero"`

	// Predictor is the path of the Predictor that asked.
	Predictor string `json:"predictor,omitempty"`

	// Prompt is the messages that the model was sent, the last time if it was asked again with
	// less. Among the parts are models.Message, replies as their provider wrote them. In the
	// JSON of a Trajectory it has the text of each message, and the type and the size of its
	// pictures and files; "shared_messages" says with how many messages of the step before it
	// begins, and "shared_tools" that its Tools are those of that step.
	Prompt []llms.MessageContent `json:"-"`

	// Tools are the tools that the model was given by the provider's protocol, and Schema is
	// the JSON Schema to which its reply was constrained, or nil.
	Tools  []llms.Tool     `json:"-"`
	Schema json.RawMessage `json:"schema,omitempty"`

	// Model is the model that replied, as far as the provider or the call options say.
	Model string `json:"model,omitempty"`

	FinishReason string           `json:"finish_reason,omitempty"` // why the reply ended, in the provider's words
	Reply        string           `json:"reply"`                   // what the model said
	Thinking     string           `json:"thinking,omitempty"`      // what it thought before, where it keeps that apart
	Truncated    bool             `json:"truncated,omitempty"`     // it was cut off at the model's limit of tokens
	Reasoning    string           `json:"reasoning,omitempty"`     // the part that explains
	Code         string           `json:"code,omitempty"`          // the part that is a program, or a call as a program would write it; "" if there was none
	Outcome      *sandbox.Outcome `json:"outcome,omitempty"`       // of running it; nil if there was nothing to run
	Observation  string           `json:"observation,omitempty"`   // what the model is told of it; "" if it was the answer
	Extracted    bool             `json:"extracted,omitempty"`     // the steps were used up, and it was asked for an answer from what was known
	Answer       json.RawMessage  `json:"answer,omitempty"`        // the outputs that were taken from it, as an object; nil if there were none
	Usage        Usage            `json:"usage"`
	Duration     time.Duration    `json:"duration_ns"` // of the model's reply

	before int // how many calls the journal had when it began
}

// Sent is everything that the model was sent, for people: the messages under their roles, the
// tools, and the schema of the reply.
func (s Step) Sent() string { return lm.Transcript(s.Prompt, s.Tools, s.Schema) }

// replied reports whether there was a reply, even an empty one.
func (s *Step) replied() bool {
	return s.Reply != "" || s.Truncated || s.Observation != "" || s.Outcome != nil
}

// Usage counts what models charge for, as far as the provider says.
type Usage struct {
	Calls          int `json:"calls"`                     // questions to the model, without cache hits; a models.Retry that asks again is one
	Hits           int `json:"hits,omitempty"`            // calls that a cache answered; they cost nothing
	InputTokens    int `json:"input_tokens"`              // all of them
	CachedTokens   int `json:"cached_tokens,omitempty"`   // of the input, those that the provider had cached
	OutputTokens   int `json:"output_tokens"`             // all of them
	ThinkingTokens int `json:"thinking_tokens,omitempty"` // of the output, those that the model thought with
}

// ModelUsage is usage by the name of the model; "" stands for those whose provider does not
// say which model it was.
type ModelUsage map[string]Usage

// Total is the usage of all models together.
func (m ModelUsage) Total() (sum Usage) {
	for _, u := range m {
		sum.add(u)
	}
	return sum
}

func (m *ModelUsage) merge(o ModelUsage) {
	for model, u := range o {
		m.add(model, u)
	}
}

func (m *ModelUsage) add(model string, u Usage) {
	if u == (Usage{}) {
		return
	}
	if *m == nil {
		*m = ModelUsage{}
	}
	u.add((*m)[model])
	(*m)[model] = u
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
// which the model did not reply is no step. Of a module that is made of runs
// it counts those; of a batch of runs it says how many have none.
func (e *IncompleteError) Error() string {
	if e == nil {
		return "module: no answer"
	}
	why := shorten(bare(e.Err), maxReason)
	if e.batch {
		return "module: " + why
	}
	steps, runs := len(e.Trajectory.Steps), len(e.Trajectory.Runs)
	if steps > 0 && !e.Trajectory.last().replied() && !errors.Is(e.Err, ErrNoAnswer) {
		steps--
	}
	switch {
	case steps > 0:
		return fmt.Sprintf("module: no answer after %s: %s", plural(steps, "step"), why)
	case runs == 0 || len(e.Trajectory.Steps) > 0:
		return "module: no answer: " + why
	}
	if last, all := strings.CutPrefix(why, plural(runs, "attempt")+" failed; "); all {
		return fmt.Sprintf("module: no answer after %s; %s", plural(runs, "attempt"), last)
	}
	return fmt.Sprintf("module: no answer after %s: %s", plural(runs, "run"), why)
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

// MayHaveActed implements [tools.PartialError]: a module that is run by a tool is not run
// again as if nothing had happened.
func (e *IncompleteError) MayHaveActed() bool { return e != nil && e.Trajectory.acted() }

// acted reports whether there are effects that were made, or may have been.
func (t *Trajectory) acted() bool {
	for e := range t.AllCalls() {
		switch e.State {
		case journal.OK, journal.Unknown, journal.Dispatched:
			if e.Class != tools.Read {
				return true
			}
		}
	}
	return false
}

// ErrMaxIters is the reason of an [IncompleteError] when the steps are used up;
// the message goes on to say how the last one ended. Options.MaxIters allows more.
var ErrMaxIters = errors.New("the steps are used up")

// ErrNoAnswer is the reason of an [IncompleteError] when a reply could not be read,
// or violates the signature, also after the model was told why. What is wrong with
// it is wrapped too.
var ErrNoAnswer = errors.New("the model's reply cannot be used")

// chosen is the attempt that the answer is of, or nil.
func (t Trajectory) chosen() *Trajectory {
	if t.Chosen < 1 || t.Chosen > len(t.Runs) {
		return nil
	}
	return &t.Runs[t.Chosen-1]
}

// Answer returns the outputs of the last step, or of that of the attempt that was
// chosen, as an object: what was taken as the answer, or what was submitted, valid
// or not. It is nil if the step had none.
func (t Trajectory) Answer() json.RawMessage {
	if c := t.chosen(); c != nil {
		return c.Answer()
	}
	if len(t.Steps) == 0 {
		return t.answer
	}
	last := t.last()
	if last.Answer == nil && last.Outcome != nil && last.Outcome.Submitted {
		return last.Outcome.Value
	}
	return last.Answer
}
