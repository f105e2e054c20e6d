package module

import (
	"encoding/json"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// Event is something that happens in a run: a [RunStart], [ModelRequest], [TextDelta], [ModelResponse],
// [ReplyRejected], [ProgramStart], [ToolCallStart], [ToolCallEnd], [ProgramEnd], [FellBack], [Scored],
// [Answered] or [Failed]. Everything that this package reports about a run, such as its [Trajectory] and
// [Usage], is made of its events.
type Event interface {
	// From returns when and in which run it happened.
	From() Origin
	event()
}

// Origin is when and where an event happened. It is part of every event.
type Origin struct {
	Time   time.Time
	Module string // the kind of module, such as "CodeAct"
	Name   string // the path of the module in the enclosing one, such as "Sort"
	Run    uint64 // a random number for each run of a module
	Parent uint64 // the enclosing run, or 0
	Step   int    // from 1; 0 for the run as a whole
}

// From returns o.
func (o Origin) From() Origin { return o }

func (Origin) event() {}

// RunStart reports that a run of a module begins.
type RunStart struct{ Origin }

// ModelRequest reports a request to the model. Observers must not modify what it holds.
type ModelRequest struct {
	Origin

	// Predictor is the path of the [Predictor] that asks, as in [Predictors].
	Predictor string

	// Inputs are the inputs of the question.
	Inputs signature.Values

	// Messages is the whole prompt.
	Messages []llms.MessageContent

	// Model is the name of the model, or "" if it is unknown.
	Model string

	// Options are the call options, applied.
	Options llms.CallOptions

	// Schema is the JSON Schema that the reply is constrained to, or nil.
	Schema json.RawMessage

	// Rollout is [Predictor].Rollout.
	Rollout int

	extract bool // the steps are used up
}

// Text returns everything that the model is sent, for people: the messages under their roles, the tools, and
// the schema of the reply.
func (e ModelRequest) Text() string { return lm.Transcript(e.Messages, e.Options.Tools, e.Schema) }

// Question returns the text of the last message: the question, or the observation on the last step.
func (e ModelRequest) Question() string { return lm.LastText(e.Messages) }

// TextDelta is a piece of the model's reply in a [Stream]. Only models that support streaming send it. With
// the adapters of this package it is text of the value of one field, without the markers, keys and escapes
// around it. If the reply is rejected, a [ReplyRejected] follows and the next reply begins again: discard the
// pieces.
type TextDelta struct {
	Origin
	Field    string // the output that the text belongs to; "" for text outside of outputs
	Text     string
	Thinking bool // the text belongs to the model's thinking, not to its reply
}

// ModelResponse reports the reply of the model, or that the request failed.
type ModelResponse struct {
	Origin
	Text         string
	Thinking     string // if the provider reports it
	Model        string // the model that replied, if the provider reports it
	ID           string // the provider's ID of the reply
	FinishReason string
	Failed       string // how the models that a models.Fallback tried first failed
	Truncated    bool   // the reply was cut off at the token limit
	Usage        Usage
	Duration     time.Duration
	Err          error
}

// ReplyRejected reports that a reply cannot be used, and what the model is told about it.
type ReplyRejected struct {
	Origin
	Observation string
}

// ProgramStart reports that a program is about to be checked and run, or that a [ReAct] is about to make a
// call.
type ProgramStart struct {
	Origin
	Code      string
	Reasoning string // the part of the reply that explains
	Compiled  bool   // the program of a [Program], which no model wrote in this run
}

// FellBack reports that the compiled program of a [Program] gave no answer, and that the model is about to be asked.
type FellBack struct {
	Origin
	Reason string // one line
}

// ToolCallStart reports that a tool is about to be called, or that the journal is about to answer the call.
// An observer cannot prevent the call; policies can.
type ToolCallStart struct {
	Origin
	Call sandbox.Call // without a result
}

// ToolCallEnd reports that a tool call has ended or, if it is Pending, that the program no longer waits for
// it.
type ToolCallEnd struct {
	Origin
	Call sandbox.Call
}

// ProgramEnd reports how a program ended and what the model is told about it. The observation is empty if the
// program submitted the answer or the run ends.
type ProgramEnd struct {
	Origin
	Outcome     *sandbox.Outcome
	Observation string
}

// Scored reports the answer of an attempt of a [BestOfN] or [Refine], and its score. Its Step is the number of
// the attempt.
type Scored struct {
	Origin
	Score Score

	attempt *recorder
}

// Answered reports that a run found its answer.
type Answered struct {
	Origin
	Output    json.RawMessage // the object of all outputs
	Reasoning string
}

// Failed reports that a run ended without an answer.
type Failed struct {
	Origin
	Err error
}
