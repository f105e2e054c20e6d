package module

import (
	"encoding/json"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// Event is something that happened in a run, as it happens: a [RunStart], [ModelRequest],
// [TextDelta], [ModelResponse], [ReplyRejected], [ProgramStart], [ToolCallStart],
// [ToolCallEnd], [ProgramEnd], [Scored], [Answered] or [Failed]. Everything that this
// package reports about a run, such as its [Trajectory] and [Usage], is made of its events.
// As JSON an event has its type as the member "event".
type Event interface {
	// From says when and in which run it happened.
	From() Origin
	event()
}

// Origin says when and where an event happened. It is part of every event.
type Origin struct {
	Time   time.Time `json:"time"`
	Module string    `json:"module"`                  // the kind of module, such as "CodeAct", or what Compose calls it
	Name   string    `json:"name,omitempty"`          // the path of the module in the one that it is part of, such as "Sort"
	Run    uint64    `json:"run,string"`              // a random number for each run of a module
	Parent uint64    `json:"parent,string,omitempty"` // the run within which this one was made, or 0
	Step   int       `json:"step,omitempty"`          // from 1; 0 for the run as a whole
}

// From returns o.
func (o Origin) From() Origin { return o }

func (Origin) event() {}

// RunStart says that a run of a module begins.
type RunStart struct{ Origin }

// ModelRequest says that a request goes to the model. What it holds must not be changed.
type ModelRequest struct {
	Origin

	// Predictor is the path of the [Predictor] that asks, as [Predictors] has it.
	Predictor string `json:"predictor"`

	// Inputs are the inputs of the question.
	Inputs signature.Values `json:"inputs,omitempty"`

	// Messages is the whole prompt. As JSON a picture or a file is its type and size.
	Messages []llms.MessageContent `json:"-"`

	// Model is the model that is asked, or "" if it does not say its name.
	Model string `json:"model,omitempty"`

	// Options are what the call options amount to. Temperature is nil if none was asked for.
	Options     llms.CallOptions `json:"-"`
	Temperature *float64         `json:"temperature,omitempty"`

	// Schema is the JSON Schema to which the reply is constrained, or nil. As JSON, "tools" are
	// those of Options.
	Schema json.RawMessage `json:"schema,omitempty"`

	// Rollout is [Predictor].Rollout.
	Rollout int `json:"rollout,omitempty"`

	extract bool // the steps are used up
}

// Text is everything that the model is sent, for people: the messages under their roles, the
// tools, and the schema of the reply.
func (e ModelRequest) Text() string { return lm.Transcript(e.Messages, e.Options.Tools, e.Schema) }

// Question is the text of the last message: the question, or what came of the last step.
func (e ModelRequest) Question() string { return lm.LastText(e.Messages) }

// TextDelta is a piece of the model's reply, as it comes, in a [Stream]. Only models
// that stream have them. If a reply is rejected, the next one begins anew: forget the pieces
// when [ReplyRejected] comes. With the adapters of this package it is text of the value of a field
// alone, without the markers, keys and escapes around it.
type TextDelta struct {
	Origin
	Field    string `json:"field,omitempty"` // the output whose value it belongs to; "" for text outside of outputs
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"` // it belongs to what the model thinks, not to its reply
}

// ModelResponse says that the model replied, or that the request failed.
type ModelResponse struct {
	Origin
	Text         string          `json:"text"`
	Thinking     string          `json:"thinking,omitempty"` // where the model keeps that apart
	ToolCalls    []llms.ToolCall `json:"tool_calls,omitempty"`
	Model        string          `json:"model,omitempty"` // the one that answered, if the provider says
	ID           string          `json:"id,omitempty"`    // the provider's id of the reply, if it has one
	FinishReason string          `json:"finish_reason,omitempty"`
	Failed       string          `json:"failed,omitempty"`    // how the models failed that a models.Fallback asked before
	Truncated    bool            `json:"truncated,omitempty"` // it was cut off at the limit of tokens
	Usage        Usage           `json:"usage"`
	Duration     time.Duration   `json:"duration_ns"`
	Err          error           `json:"-"` // as JSON its text, "error"
}

// ReplyRejected says that a reply cannot be used, and what the model is told about it.
type ReplyRejected struct {
	Origin
	Observation string `json:"observation"`
}

// ProgramStart says that a program is about to be checked and run, or a call of [ReAct] to
// be made.
type ProgramStart struct {
	Origin
	Code      string `json:"code"`
	Reasoning string `json:"reasoning,omitempty"` // the part of the reply that explains
}

// ToolCallStart says that a tool is about to be called, or the journal to answer for it.
// An observer cannot prevent the call: that is what policies are for.
type ToolCallStart struct {
	Origin
	Call sandbox.Call `json:"call"` // without a result
}

// ToolCallEnd says that a tool call has ended, or, if it is Pending, that the program no
// longer waits for it.
type ToolCallEnd struct {
	Origin
	Call sandbox.Call `json:"call"`
}

// ProgramEnd says how a program ended, and what the model is told about it: nothing if it
// submitted the answer, or the run ends.
type ProgramEnd struct {
	Origin
	Outcome     *sandbox.Outcome `json:"outcome,omitempty"`
	Observation string           `json:"observation,omitempty"`
}

// Answered says that a run came to its answer.
type Answered struct {
	Origin
	Output    json.RawMessage `json:"output,omitempty"`    // the object of all outputs
	Reasoning string          `json:"reasoning,omitempty"` // what explains it
}

// Failed says that a run ended without an answer.
type Failed struct {
	Origin
	Err error `json:"-"` // as JSON its text, "error"
}
