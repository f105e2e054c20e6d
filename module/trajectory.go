package module

import (
	"cmp"
	"encoding/json"
	"iter"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools/journal"
)

// Trajectory is what a module did, step by step. Its JSON also has the total usage and the answer. In a Trajectory that
// was read from JSON, errors have only their text.
type Trajectory struct {
	// ID is the Run in the Origin of the run's events. It is 0 for a group of runs.
	ID uint64 `json:"id,string,omitempty"`

	// Module is the kind of module, such as "CodeAct". It is empty for a group of runs.
	Module string `json:"module,omitempty"`

	// Name is the module's path within the enclosing module, such as "Sort". It is set only if the enclosing module was
	// passed to a function that runs it, such as [Start] or [Parallel]. The run of a [Tool] has the tool's name.
	Name string `json:"name,omitempty"`

	// CalledBy is the ID of the call that made the run, in the Calls of the enclosing run. It is empty if no call did.
	CalledBy string `json:"called_by,omitempty"`

	// Began is when the run began, and Duration is how long it took.
	Began    time.Time     `json:"began,omitzero"`
	Duration time.Duration `json:"duration_ns,omitempty"`

	// Resumed is how often the durable run to which the run belongs was resumed, for example after a pause. What was
	// done before is part of the trajectory, with the times of the last resumption.
	Resumed int `json:"resumed,omitempty"`

	// Err is why there is no answer, or nil. Its JSON is the error's text.
	Err error `json:"-"`

	// Inputs are the inputs of the question. The JSON leaves out those with more than 64 KiB.
	Inputs signature.Values `json:"inputs,omitempty"`

	// Steps are the model calls of the module itself. In a [Program], the compiled program is a step, too.
	Steps []Step `json:"steps,omitempty"`

	// Calls are the module's own tool calls, including reads, from its journal. AllCalls includes the calls in Runs.
	Calls []journal.Entry `json:"calls,omitempty"`

	// Orphans are the effects that no accepted program asked for: those effects of a failed program that the rewritten
	// program did not request again.
	Orphans []journal.Entry `json:"orphans,omitempty"`

	// Evidence has the facts of the run that contradict the answer, the most serious first. If free turns were left,
	// the model was asked about these facts, and gave the answer nevertheless. If there is no answer, the facts are
	// about the last program.
	Evidence []sandbox.Finding `json:"evidence,omitempty"`

	// Runs are the runs of other modules within this run, in the order in which they began: attempts, and the runs that
	// rewards and tools started with the context that they got.
	Runs []Trajectory `json:"runs,omitempty"`

	// Fallback is why the compiled program of a [Program] did not give the answer, or not alone, so that the model was
	// asked. It is empty if the model was not asked.
	Fallback string `json:"fallback,omitempty"`

	// Chosen is the number of the run that gave the answer, from 1, or 0 if none of them did.
	Chosen int `json:"chosen,omitempty"`

	// Score is this attempt's score in a [BestOfN] or [Refine].
	Score *Score `json:"score,omitempty"`

	// Spent is the usage of the models that programs called with llm, by model name. Of those calls, only Samples are
	// kept, since there may be thousands.
	Spent event.ModelUsage `json:"spent,omitempty"`

	// Samples are up to four runs for calls of llm, which Spent counts.
	Samples []Trajectory `json:"samples,omitempty"`

	answer json.RawMessage // the answer from a module without steps
}

func (t *Trajectory) last() *Step { return &t.Steps[len(t.Steps)-1] }

// Usage returns the total usage, including Runs. A request that has no response because the run was canceled counts as
// one call.
func (t Trajectory) Usage() event.Usage { return t.UsageByModel().Total() }

// UsageByModel returns each model's usage, including Runs.
func (t Trajectory) UsageByModel() event.ModelUsage {
	var all event.ModelUsage
	t.addUsage(&all)
	return all
}

func (t *Trajectory) addUsage(all *event.ModelUsage) {
	all.Merge(t.Spent)
	for i := range t.Steps {
		all.Merge(event.ModelUsage{t.Steps[i].Model: t.Steps[i].Usage})
	}
	for i := range t.Runs {
		t.Runs[i].addUsage(all)
	}
}

// empty reports whether nothing was done.
func (t Trajectory) empty() bool {
	return len(t.Steps)+len(t.Runs)+len(t.Calls)+len(t.Spent) == 0
}

// AllCalls yields the module's tool calls and then those of its runs.
func (t Trajectory) AllCalls() iter.Seq[journal.Entry] {
	return func(yield func(journal.Entry) bool) {
		for _, e := range t.Calls {
			if !yield(e) {
				return
			}
		}
		for _, run := range t.Runs {
			for e := range run.AllCalls() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// chosen returns the run that gave the answer, or nil.
func (t Trajectory) chosen() *Trajectory {
	if t.Chosen < 1 || t.Chosen > len(t.Runs) {
		return nil
	}
	return &t.Runs[t.Chosen-1]
}

// Answer returns the outputs from the last step, or from the chosen attempt, as an object: the accepted answer or, if
// none was accepted, the submitted one, even if it is invalid. It returns nil if there are no outputs.
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

// Reasoning returns what the model said to explain the last step, or the last step of the chosen attempt: the
// reasoning of a [ChainOfThought] or the thought of a [ReAct]. If the model said nothing, Reasoning returns
// its thinking, if the provider reports it.
func (t Trajectory) Reasoning() string {
	if c := t.chosen(); c != nil {
		return c.Reasoning()
	}
	if len(t.Steps) == 0 {
		return ""
	}
	return cmp.Or(t.last().Reasoning, t.last().Thinking)
}

// Step is one model call and what followed from its reply, or a compiled program and what followed from it.
type Step struct {
	// Began is when the model was called.
	Began time.Time `json:"began,omitzero"`

	// Predictor is the path of the Predictor that asked.
	Predictor string `json:"predictor,omitempty"`

	// Prompt has the messages of the step's last request. Its parts include models.Message, which is a reply as its
	// provider wrote it. The JSON of a Trajectory has the text of each message and the type and size of its images and
	// files; "shared_messages" is the number of messages at the beginning that are the same as in the previous step's
	// prompt, and "shared_tools" says that Tools are those of that step.
	Prompt []llms.MessageContent `json:"-"`

	// Tools are the tools that the model could call through the provider's protocol. Schema is the JSON Schema that
	// its reply was constrained to, or nil.
	Tools  []llms.Tool     `json:"-"`
	Schema json.RawMessage `json:"schema,omitempty"`

	// Model is the model's name, if the provider reports it or the call options contain it.
	Model string `json:"model,omitempty"`

	FinishReason string           `json:"finish_reason,omitempty"` // in the provider's words
	Reply        string           `json:"reply"`
	Failed       string           `json:"failed,omitempty"`      // errors of earlier attempts: models.Retry, Fallback
	Thinking     string           `json:"thinking,omitempty"`    // before the reply, if the provider reports it
	Truncated    bool             `json:"truncated,omitempty"`   // the reply was truncated at the token limit
	Reasoning    string           `json:"reasoning,omitempty"`   // the explanation in the reply
	Code         string           `json:"code,omitempty"`        // the program, or a ReAct's calls written as one
	Outcome      *sandbox.Outcome `json:"outcome,omitempty"`     // how the program ended, or nil
	Observation  string           `json:"observation,omitempty"` // the message to the model about the step
	Compiled     bool             `json:"compiled,omitempty"`    // Code is from a [Program], not from the model
	Extracted    bool             `json:"extracted,omitempty"`   // the prompt asked for an answer without further steps
	Answer       json.RawMessage  `json:"answer,omitempty"`      // the outputs, if the step gave the answer
	Usage        event.Usage      `json:"usage"`
	Duration     time.Duration    `json:"duration_ns"` // how long the model call took

	before int // the number of calls in the journal when the step began
}

// Sent returns the whole request for people to read: the messages under their roles, the tools, and the reply's schema.
func (s Step) Sent() string { return lm.Transcript(s.Prompt, s.Tools, s.Schema) }

// replied reports whether there was a reply, even an empty one.
func (s *Step) replied() bool {
	return s.Reply != "" || s.Truncated || s.Observation != "" || s.Outcome != nil
}
