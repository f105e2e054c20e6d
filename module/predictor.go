package module

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/signature"
)

// Predictor is one kind of question to a model: what goes in, what must come
// out, and how it is asked. Every module is built of Predictors, which are made
// with it; [Predictors] lists them. The fields may be changed before the module
// is used, and then it is safe for concurrent use.
type Predictor struct {
	// Spec is the question: instructions, inputs, outputs. Edits may word it
	// otherwise, describe its fields, and ask for further outputs, which become a
	// part of the reasoning. An input that nobody gives, or an output of the
	// signature that is missing, is an error of Run.
	Spec *signature.Spec

	// Briefing is what the model must know besides, the same for every
	// question. It stands between the form of replies and the instructions.
	Briefing string

	// System, if set, is the whole system prompt, instead of the one that is
	// made of Spec and Briefing.
	System string

	// Demos are shown before the question, as if they had been asked and
	// answered. Values may be missing; one of no field, or that violates the
	// signature, is an error of Run.
	Demos []Demo

	// Hint, if set, is said with every question.
	Hint string

	// Model is who is asked.
	Model llms.Model

	// Adapter is how questions are put and replies are read. Nil is [Markers]. With
	// that, a question for a program asks for one fenced block instead.
	Adapter Adapter

	// Temperature is what the model is asked for: 0 to 100; most providers accept at
	// most 2. Nil leaves it to the provider; without a [models.Transport] langchaingo's
	// providers take that for 0, and some of them drop what one asks of models that think.
	//
	// [models.Transport]: https://pkg.go.dev/github.com/writ-go/writ/module/models#Transport
	Temperature *float64

	// Rollout tells a question from the same one asked before: a cache gives
	// another reply for another number.
	Rollout int

	// CallOptions go with every call of the model.
	CallOptions []llms.CallOption

	part    string          // its path in the module of which attempts are made
	task    *signature.Spec // of whose steps Spec is the question; or nil
	onEvent func(Event)
	system  atomic.Pointer[prompt]
	verdict atomic.Pointer[verdict]
	lenient atomic.Pointer[leniency]
}

// Demo is a question with its answer, to learn from.
type Demo struct {
	Inputs  signature.Values `json:"inputs"`
	Outputs signature.Values `json:"outputs"`
}

// NewDemo returns a question of a signature with its answer. It fails as
// [signature.Signature.Turn] does.
func NewDemo[In, Out any](sig *signature.Signature[In, Out], in In, out Out) (Demo, error) {
	if sig == nil {
		return Demo{}, errNoSignature
	}
	turn, err := sig.Turn(in, out)
	if err != nil {
		return Demo{}, err
	}
	inputs, outputs := sides(sig.Spec(), turn)
	return Demo{Inputs: inputs, Outputs: outputs}, nil
}

// Clone returns a copy whose fields can be changed without changing p's. That of
// nil is nil.
func (p *Predictor) Clone() *Predictor {
	if p == nil {
		return nil
	}
	c := &Predictor{
		Spec: p.Spec, Briefing: p.Briefing, System: p.System, Demos: slices.Clone(p.Demos), Hint: p.Hint,
		Model: p.Model, Adapter: p.Adapter, Temperature: p.Temperature, Rollout: p.Rollout,
		CallOptions: slices.Clone(p.CallOptions), task: p.task, onEvent: p.onEvent,
	}
	c.system.Store(p.system.Load()) // which still holds as long as its fields do
	c.verdict.Store(p.verdict.Load())
	return c
}

func (p *Predictor) adapter() Adapter {
	if p.Adapter == nil {
		return Markers()
	}
	return p.Adapter
}

// prompt is a system prompt and what it was made of.
type prompt struct {
	spec           *signature.Spec
	adapter        Adapter
	briefing, text string
}

// systemPrompt makes the prompt once, as long as the fields stay the same.
func (p *Predictor) systemPrompt() string {
	if p.System != "" {
		return p.System
	}
	adapter := p.form()
	if made := p.system.Load(); made != nil && made.spec == p.Spec && made.briefing == p.Briefing && same(made.adapter, adapter) {
		return made.text
	}
	text := adapter.System(p.Spec, p.Briefing)
	p.system.Store(&prompt{p.Spec, adapter, p.Briefing, text})
	return text
}

// same compares two adapters. Those that Go cannot compare differ.
func same(a, b Adapter) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

// message is one turn of a conversation.
type message struct {
	role  llms.ChatMessageType
	text  string
	parts []llms.ContentPart // beside the text
}

// errNothingSaid is the error of models that think until their tokens are used
// up. Asking again would only cost as much again.
var errNothingSaid = errors.New("the model's reply was cut off before it said anything; allow it more tokens")

// say sends a conversation to the model. It returns what the call cost also
// when it failed.
func (p *Predictor) say(ctx context.Context, from *source, step int, conversation []message) (Step, error) {
	at := from.at(step)
	s, err := p.charged(ctx, from, at, conversation)
	if err != nil {
		return s, err
	}
	if from.tell != nil {
		from.emit(Replied{at, s.Reply, s.Thinking, s.Usage, s.Duration})
	}
	if s.Truncated && blank(s.Reply) {
		return s, errNothingSaid
	}
	return s, from.fault()
}

// charged asks the model at the expense of those who are to pay: the run, the runs
// around it, and the budgets of programs. However the call ends, they are told.
func (p *Predictor) charged(ctx context.Context, from *source, at Origin, conversation []message) (s Step, err error) {
	charge, err := budgetOf(ctx).begin(ctx, conversation)
	if err != nil {
		return Step{}, err
	}
	defer func() { charge.end(s, err) }()
	if from.tell != nil { // an event that nobody hears would be made in vain
		from.emit(Asked{at, conversation[len(conversation)-1].text, p.part})
	}
	if err := from.fault(); err != nil {
		return Step{}, err
	}
	s.Usage = underway
	from.meter.change(Usage{}, underway)
	defer func() { from.meter.change(underway, s.Usage) }()
	start := time.Now()
	reply, err := lm.Ask(charge.within(ctx), p.Model, p.call(from, at), contents(conversation), p.CallOptions...)
	return Step{
		Reply: reply.Text, Thinking: reply.Reasoning, Truncated: reply.Truncated,
		Usage: usageOf(reply, err), Duration: time.Since(start),
	}, err
}

// call is what goes with a question besides its messages.
func (p *Predictor) call(from *source, at Origin) lm.Call {
	c := lm.Call{Rollout: p.Rollout, Temperature: p.Temperature}
	if from.deltas {
		c.OnText = func(text string) { from.emit(Delta{Origin: at, Text: text}) }
		c.OnReasoning = func(text string) { from.emit(Delta{Origin: at, Text: text, Thinking: true}) }
	}
	return c
}

func usageOf(r lm.Reply, err error) Usage {
	switch {
	case r.Cached:
		return Usage{Hits: 1}
	case unsent(err):
		return Usage{}
	}
	return Usage{
		Calls: 1, InputTokens: r.Usage.Input, CachedTokens: r.Usage.CachedInput,
		OutputTokens: r.Usage.Output, ThinkingTokens: r.Usage.Reasoning,
	}
}

// unsent reports whether the question never went out: the context was done before,
// or a budget refused it.
func unsent(err error) bool {
	failure, ok := errors.AsType[*lm.Error](err)
	return ok && !failure.MaybeCharged && (failure.Kind == lm.OverBudget || failure.Kind == lm.Cancelled)
}

// repair is what the model is told of a reply that cannot be used.
func (p *Predictor) repair(err error) string {
	return fmt.Sprintf("Your reply cannot be used:\n%v\n\n%s", err, p.form().Question(p.Spec, nil))
}

// contents is a conversation for langchaingo. No message is empty, since
// providers refuse those.
func contents(conversation []message) []llms.MessageContent {
	list := make([]llms.MessageContent, len(conversation))
	texts := make([]llms.ContentPart, len(conversation))
	for i, m := range conversation {
		if blank(m.text) {
			m.text = "(nothing)"
		}
		texts[i] = llms.TextContent{Text: m.text}
		list[i] = llms.MessageContent{Role: m.role, Parts: append(texts[i:i+1:i+1], m.parts...)}
	}
	return list
}

// usable says what keeps a predictor from asking.
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
	return p.sound()
}

// sound says what is wrong with what may be set by hand.
func (p *Predictor) sound() error {
	if err := p.check(); err != nil {
		return fmt.Errorf("module: %w", err)
	}
	return nil
}

// notMade is the error of a module that cannot run, as one that a struct lacks.
func notMade(name string) error {
	return fmt.Errorf("module: the %s is nil, or was not made by New%[1]s", name)
}

// Errors of modules that were put together wrongly. Run returns them before
// anything is asked.
var (
	errNoPredictor = errors.New("module: a Predictor is nil; its module's New function makes it")
	errNoSignature = errors.New("module: there is no signature; make one by signature.New")
	errNoModel     = errors.New("module: there is no model; pass one of langchaingo's")
	errNilOption   = errors.New("module: there is a nil among the Predictor's CallOptions; leave it out")
	errNoSandbox   = errors.New("module: there is no sandbox; open one by sandbox.New and close it in the end")
)

// specOf returns the spec of a signature, or nil if there is none.
func specOf[In, Out any](sig *signature.Signature[In, Out]) *signature.Spec {
	if sig == nil {
		return nil
	}
	return sig.Spec()
}
