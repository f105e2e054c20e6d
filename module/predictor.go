package module

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/memo"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Predictor is a question that a module asks a model: its instructions, inputs and outputs, and how the model is
// called. The modules' New functions create their Predictors; [Predictors] lists them. The fields may be changed before
// the module is used. After that, a Predictor is safe for concurrent use.
type Predictor struct {
	// Spec has the instructions, inputs and outputs. Replace it to change the instructions or descriptions, or to add
	// outputs, which become part of the reasoning. Run returns an error if Spec requires an input that the module does
	// not provide, or lacks an output that the module needs.
	Spec *signature.Spec

	// Briefing is what the model must know in addition to Spec. It is the same for every question, and follows the
	// description of the reply format in the system prompt.
	Briefing string

	// System, if set, replaces the whole system prompt, which is otherwise written from Spec and Briefing.
	System string

	// Demos are shown before the question, as if the model had already answered them. A demo may lack values. Run
	// returns an error if a demo has a value that belongs to no field or violates the signature.
	Demos []Demo

	// PickDemos, if set, picks the demos for each question from Demos. Calls may be concurrent. Save writes all Demos
	// and records that PickDemos was set, but it cannot save the function, so set PickDemos again before Load.
	PickDemos func(ctx context.Context, inputs signature.Values, demos []Demo) ([]Demo, error)

	// ToolDescriptions add to the tools' own descriptions. The keys are the paths of the tools (tools.Binding.Path). In
	// the system prompt, they follow the briefing.
	ToolDescriptions map[string]string

	// Source says where the instructions and demos came from, for people who read a saved state.
	Source string

	// Hint, if set, is added to every question.
	Hint string

	// Model answers the question.
	Model llms.Model

	// Adapter defines the format of questions and replies. If it is nil, the prompt asks for a program as one fenced
	// block. Other questions use [Native] if the model supports it and at least one output is not plain text, and
	// [Markers] otherwise.
	Adapter Adapter

	// Temperature is the sampling temperature, from 0 to 100; most providers accept at most 2. Nil leaves it to the
	// provider, except that langchaingo's own providers then send 0. Some of these do not send the Temperature to
	// reasoning models.
	Temperature *float64

	// Rollout distinguishes repetitions of the same question: a cache keeps a separate reply for each Rollout.
	Rollout int

	// CallOptions are passed to every model call.
	CallOptions []llms.CallOption

	calling *conversation.Calling // the adapter for tool calls in the provider's protocol, or nil
	refused *sync.Map             // the names of models that rejected tools; shared by clones
	decided bool                  // a run has begun, so the form of calls is fixed
	set     *tools.Set            // the tools for its programs or calls, or nil
	inside  inside                // copied by the function Clone
	shares  string                // what Shared returns
	task    *signature.Spec       // the module's task, if Spec asks for one step of it, or nil
	onEvent func(context.Context, event.Event)
	kind    string // Options.Kind
	retries int    // Options.Retries

	compaction compaction
	system     memo.Last[promptKey, string]
	lenient    memo.Last[*signature.Spec, *signature.Spec]
	schema     memo.Last[*signature.Spec, wireSchema]
}

// inside holds the modules that can be reached from a predictor.
type inside struct {
	Tools map[string]any // pointers to the modules that the predictor's tools run, by the paths of the tools
}

// setTools sets a new predictor's tools.
func (p *Predictor) setTools(set *tools.Set) {
	p.set, p.inside.Tools = set, map[string]any{}
	for _, b := range set.Bindings() {
		if b.Module != nil {
			p.inside.Tools[b.Path()] = b.Module()
		}
	}
}

const (
	sharedConversation = "conversation"
	sharedSession      = "session"
)

// Shared returns what makes the runs of the predictor's module depend on each other: "conversation" for a [Chat],
// "session" if the Sandbox is a *[sandbox.Session], and otherwise "".
func (p *Predictor) Shared() string { return p.shares }

// Demo is an example question with its answer.
type Demo struct {
	Inputs signature.Values `json:"inputs"`

	// Steps are the replies before the last one, if the model needed several to answer, as in a CodeAct or a ReAct.
	Steps []DemoStep `json:"steps,omitempty"`

	Outputs signature.Values `json:"outputs"`
}

// DemoStep is one of the model's replies before the last one, and the response to it.
type DemoStep struct {
	Outputs     signature.Values `json:"outputs"`
	Observation string           `json:"observation"`
}

// internalDemos converts demos for the internal packages, and exportedDemos converts them back.
func internalDemos(demos []Demo) (list []conversation.Demo) {
	for _, d := range demos {
		c := conversation.Demo{Inputs: d.Inputs, Outputs: d.Outputs}
		for _, s := range d.Steps {
			c.Steps = append(c.Steps, conversation.DemoStep(s))
		}
		list = append(list, c)
	}
	return list
}

func exportedDemos(demos []conversation.Demo) (list []Demo) {
	for _, c := range demos {
		d := Demo{Inputs: c.Inputs, Outputs: c.Outputs}
		for _, s := range c.Steps {
			d.Steps = append(d.Steps, DemoStep(s))
		}
		list = append(list, d)
	}
	return list
}

// NewDemo returns a demo with a signature's inputs and outputs. It returns the same errors as
// [signature.Signature.Turn].
func NewDemo[In, Out any](sig *signature.Signature[In, Out], in In, out Out) (Demo, error) {
	if sig == nil {
		return Demo{}, errNoSignature
	}
	turn, err := sig.Turn(in, out)
	if err != nil {
		return Demo{}, err
	}
	inputs, outputs := conversation.Sides(sig.Spec(), turn)
	return Demo{Inputs: inputs, Outputs: outputs}, nil
}

// Clone returns a copy whose fields can be changed without changing those of p. The copy shares modules that are tools
// with p; the function [Clone] copies them as well. Clone of nil returns nil.
func (p *Predictor) Clone() *Predictor {
	if p == nil {
		return nil
	}
	c := &Predictor{
		Spec: p.Spec, Briefing: p.Briefing, System: p.System, Demos: slices.Clone(p.Demos), Hint: p.Hint,
		Model: p.Model, Adapter: p.Adapter, Temperature: p.Temperature, Rollout: p.Rollout,
		CallOptions: slices.Clone(p.CallOptions), PickDemos: p.PickDemos, Source: p.Source,
		ToolDescriptions: maps.Clone(p.ToolDescriptions),
		calling:          p.calling, refused: p.refused, set: p.set, inside: p.inside, shares: p.shares, task: p.task,
		onEvent: p.onEvent, kind: p.kind, retries: p.retries, compaction: p.compaction,
	}
	c.system.CopyFrom(&p.system)
	c.lenient.CopyFrom(&p.lenient)
	c.schema.CopyFrom(&p.schema)
	return c
}

// promptKey holds what a system prompt depends on.
type promptKey struct {
	spec     *signature.Spec
	adapter  Adapter
	briefing string
}

// systemPrompt returns the system prompt with the given briefing. Writing it takes about a millisecond, so it is cached
// until the briefing or a field changes.
func (p *Predictor) systemPrompt(briefing string) string {
	if p.System != "" {
		return p.System
	}
	adapter := p.adapter()
	write := func() string { return adapter.System(p.Spec, briefing) }
	return p.system.Get(promptKey{p.Spec, adapter, briefing}, write) + prompt.ToolDescriptions(p.ToolDescriptions)
}

// repair returns the message that tells the model why its reply cannot be used.
func (p *Predictor) repair(err error) string {
	return fmt.Sprintf("Your reply cannot be used:\n%v\n\n%s", err, p.adapter().Question(p.Spec, nil))
}

// usable returns an error if the predictor cannot ask its question.
func (p *Predictor) usable() error {
	switch {
	case p == nil:
		return errNoPredictor
	case p.Spec == nil:
		return errNoSignature
	case p.Model == nil:
		return errNoModel
	case slices.ContainsFunc(p.CallOptions, func(o llms.CallOption) bool { return o == nil }):
		return errNilOption
	}
	if err := p.checkNative(); err != nil {
		return err
	}
	return p.valid()
}

// check returns an error if a field that optimizers and callers set is invalid.
func (p *Predictor) check() error {
	if t := p.Temperature; t != nil && !(*t >= 0 && *t <= 100) { // comparisons with NaN are false
		return fmt.Errorf("the temperature %g is not between 0 and 100", *t)
	}
	return p.checkDemos(p.Demos)
}

func (p *Predictor) checkDemos(demos []Demo) error {
	asked := cmp.Or(p.task, p.Spec)
	for i, d := range internalDemos(demos) {
		if err := d.Check(asked.Inputs(), p.Spec.Outputs()); err != nil {
			return fmt.Errorf("demo %d: %w", i+1, err)
		}
	}
	return nil
}

// forQuestion returns a copy with the demos for a question, or p itself if its demos are the same for all questions.
func (p *Predictor) forQuestion(ctx context.Context, inputs signature.Values) (*Predictor, error) {
	if p.PickDemos == nil {
		return p, nil
	}
	demos, err := p.PickDemos(ctx, inputs, p.Demos)
	if err == nil {
		err = p.checkDemos(demos)
	}
	if err != nil {
		return nil, fmt.Errorf("module: PickDemos: %w", err)
	}
	c := p.Clone()
	c.Demos, c.PickDemos = demos, nil
	return c, nil
}

// valid calls check and adds the error prefix of Run. It accepts a missing Spec, which usable reports.
func (p *Predictor) valid() error {
	if p.Spec == nil {
		return nil
	}
	if err := p.check(); err != nil {
		return fmt.Errorf("module: %w", err)
	}
	return nil
}

// specOf returns the spec of a signature, or nil if there is no signature.
func specOf[In, Out any](sig *signature.Signature[In, Out]) *signature.Spec {
	if sig == nil {
		return nil
	}
	return sig.Spec()
}
