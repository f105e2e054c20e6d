// Package event defines the events of a module's run, and the model usage that they report.
//
// Package module builds its records of a run, such as a Prediction's Trajectory, from the run's events. To watch a run,
// pass a function to module.Observe, set module.Options.OnEvent, or range over the events of module.Start:
//
//	for e, err := range module.Start(ctx, m, in).Events() {
//		switch e := e.(type) {
//		case event.TextDelta:
//			fmt.Print(e.Text)
//		case event.RunEnd:
//			fmt.Printf("%s: %s\n", e.Module, e.Output)
//		}
//	}
package event

import (
	"encoding/json"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// Event is something that happens in a run: a [RunStart], [ModelRequest], [TextDelta], [ModelResponse],
// [ReplyRejected], [ProgramStart], [ToolCallStart], [ToolCallEnd], [ProgramEnd], [Scored] or [RunEnd]. Observers must
// not modify the values that an event refers to.
type Event interface {
	// From returns when the event happened, and in which run.
	From() Origin
	event()
}

// Origin says when and where an event happened. It is part of every event.
type Origin struct {
	Time   time.Time `json:"time"`
	Module string    `json:"module"`                  // the kind of module, such as "CodeAct"
	Name   string    `json:"name,omitempty"`          // the path in the enclosing module, such as "Sort", or the tool
	Run    uint64    `json:"run,string"`              // a random number for each run
	Parent uint64    `json:"parent,string,omitempty"` // the enclosing run, or 0
	Step   int       `json:"step,omitempty"`          // from 1; 0 for the run as a whole

	// CalledBy is the ID of the call that made the run, in the journal of the enclosing run, such as E2, or "".
	CalledBy string `json:"called_by,omitempty"`
}

// From implements [Event].
func (o Origin) From() Origin { return o }

func (Origin) event() {}

// RunStart reports that a module's run begins.
type RunStart struct {
	Origin

	// Resumed is how often the durable run to which the run belongs was resumed before: see package agent.
	Resumed int `json:"resumed,omitempty"`
}

// ModelRequest reports a request to the model.
type ModelRequest struct {
	Origin

	// Predictor is the path of the module.Predictor that asks, as in module.Predictors.
	Predictor string `json:"predictor,omitempty"`

	// Inputs are the question's inputs.
	Inputs signature.Values `json:"inputs,omitempty"`

	// Messages is the whole prompt.
	Messages []llms.MessageContent `json:"-"`

	// Model is the model's name, or "" if it is unknown.
	Model string `json:"model,omitempty"`

	// Options are the settings that result from the call options.
	Options llms.CallOptions `json:"-"`

	// Schema is the JSON Schema that the reply is constrained to, or nil.
	Schema json.RawMessage `json:"schema,omitempty"`

	// Rollout is the Rollout of the module.Predictor.
	Rollout int `json:"rollout,omitempty"`

	// Fallback is set in the first request of a run of a module.Program, and says why the model is asked instead of,
	// or in addition to, the compiled program.
	Fallback string `json:"fallback,omitempty"`

	// Extract reports that the steps are used up, so that the request asks for an answer from what the model knows.
	Extract bool `json:"extract,omitempty"`
}

// Text returns the whole request for people to read: the messages under their roles, the tools, and the reply's schema.
func (e ModelRequest) Text() string { return lm.Transcript(e.Messages, e.Options.Tools, e.Schema) }

// Question returns the last message's text: the question, or the observation on the last step.
func (e ModelRequest) Question() string { return lm.LastText(e.Messages) }

// TextDelta is a piece of the model's reply. Only module.Start reports TextDeltas, and only for models that support
// streaming. With the adapters of package module, each piece is part of one field's value, without the markers, keys
// and escapes around it. If a [ReplyRejected] follows, the next reply starts over: discard the pieces of the rejected
// one.
type TextDelta struct {
	Origin
	Field    string `json:"field,omitempty"` // the output that the text belongs to; "" for text outside of outputs
	Text     string `json:"text"`
	Thinking bool   `json:"thinking,omitempty"` // the text belongs to the model's thinking, not to its reply
}

// ModelResponse reports the model's reply, or that the request failed.
type ModelResponse struct {
	Origin
	Text         string          `json:"text"`
	Thinking     string          `json:"thinking,omitempty"` // if the provider reports it
	Model        string          `json:"model,omitempty"`    // the model that replied, if the provider reports it
	ID           string          `json:"id,omitempty"`       // the provider's ID of the reply
	FinishReason string          `json:"finish_reason,omitempty"`
	Failed       string          `json:"failed,omitempty"`    // errors of earlier attempts: models.Retry, Fallback
	Truncated    bool            `json:"truncated,omitempty"` // the reply was cut off at the token limit
	Usage        Usage           `json:"usage"`
	Duration     time.Duration   `json:"duration_ns"`
	Err          error           `json:"-"`
	ToolCalls    []llms.ToolCall `json:"-"` // the calls in the reply, through the provider's protocol
}

// ReplyRejected reports that a reply cannot be used, and contains the message to the model.
type ReplyRejected struct {
	Origin
	Observation string `json:"observation"`
}

// ProgramStart reports that a program is about to be checked and run, or that a module.ReAct is about to make a
// call.
type ProgramStart struct {
	Origin
	Code      string `json:"code"`
	Reasoning string `json:"reasoning,omitempty"` // the explanation in the reply
	Compiled  bool   `json:"compiled,omitempty"`  // the program is a module.Program's, not the model's
}

// ToolCallStart reports that a tool is about to be called, or that the journal is about to answer the call.
// An observer cannot prevent the call; policies can.
type ToolCallStart struct {
	Origin
	Call sandbox.Call `json:"call"` // the call, without a result
}

// ToolCallEnd reports that a tool call has ended or, if Call.Pending is true, that the program no longer waits for it.
type ToolCallEnd struct {
	Origin
	Call sandbox.Call `json:"call"`
}

// ProgramEnd reports how a program ended and what the model is told about it. Observation is empty if the run ends with
// this program, or if the answer of a compiled program is only compared.
type ProgramEnd struct {
	Origin
	Outcome     *sandbox.Outcome `json:"outcome"`
	Observation string           `json:"observation,omitempty"`
}

// Scored reports the score of an attempt of a module.BestOfN or module.Refine. Its Step is the attempt's number.
type Scored struct {
	Origin
	Value    float64 `json:"value"`
	Feedback string  `json:"feedback,omitempty"`
}

// RunEnd reports that a run found its answer or, if Err is not nil, that it ended without one.
type RunEnd struct {
	Origin
	Output    json.RawMessage `json:"output,omitempty"` // the outputs as a JSON object
	Reasoning string          `json:"reasoning,omitempty"`
	Fallback  string          `json:"fallback,omitempty"` // as in module.Trajectory
	Err       error           `json:"-"`
}
