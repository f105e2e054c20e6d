package module

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/deltas"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
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
	// question. It follows the form of replies.
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

	// Adapter is how questions are put and replies are read. If it is nil, a program is asked
	// for as one fenced block; otherwise it is [Native] where the model can do that and at
	// least one output is not plain text, and [Markers] elsewhere.
	Adapter Adapter

	// Temperature is what the model is asked for: 0 to 100; most providers accept at
	// most 2. Nil leaves it to the provider; providers of langchaingo take that for 0, and
	// some of them drop what one asks of models that think.
	Temperature *float64

	// Rollout tells a question from the same one asked before: a cache gives
	// another reply for another number.
	Rollout int

	// CallOptions go with every call of the model.
	CallOptions []llms.CallOption

	calling *calling        // how tools are called by a model that can; or nil
	refused *sync.Map       // the names of models that refused tools; shared by clones
	mode    mode            // of one run, which does not change in the middle
	task    *signature.Spec // of whose steps Spec is the question; or nil
	onEvent func(context.Context, Event)
	system  cache[promptKey, string]
	lenient cache[*signature.Spec, *signature.Spec]
	schema  cache[*signature.Spec, wireSchema]
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
		CallOptions: slices.Clone(p.CallOptions), calling: p.calling, refused: p.refused, task: p.task, onEvent: p.onEvent,
	}
	c.system.last.Store(p.system.last.Load())
	return c
}

// promptKey is what a system prompt is made of.
type promptKey struct {
	spec     *signature.Spec
	adapter  Adapter
	briefing string
}

// systemPrompt returns the system prompt, which is made once as long as the fields stay the same.
func (p *Predictor) systemPrompt() string {
	if p.System != "" {
		return p.System
	}
	adapter := p.adapter()
	return p.system.get(promptKey{p.Spec, adapter, p.Briefing}, func() string {
		return adapter.System(p.Spec, p.Briefing)
	})
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

// say sends a conversation to the model, at the expense of those who are to pay: the run,
// the runs around it, and the budgets of programs. However the call ends, they are told.
func (r *run) say(ctx context.Context, step int, conversation []message) (err error) {
	charge, err := budgetOf(ctx).begin(ctx, conversation)
	if err != nil {
		return err
	}
	var response ModelResponse
	defer func() { charge.end(response) }()
	p := r.predictor
	options := p.CallOptions
	if c := p.callsTools(); c != nil {
		options = append(options[:len(options):len(options)], llms.WithTools(c.tools), llms.WithToolChoice("auto"))
	}
	request := p.request(conversation, options)
	request.Schema = p.constrains(r.spec)
	request.Origin, request.Predictor, request.Inputs = r.at(step), r.path, r.asked.inputs
	request.extract = r.closing != ""
	r.emit(request)
	if err := r.fault(); err != nil {
		r.emit(ModelResponse{Origin: r.at(step), Err: err})
		return err
	}
	params := lm.ParamsOf(ctx)
	params.Schema, params.CacheSystem = request.Schema, true
	ctx = lm.WithParams(charge.within(ctx), params)
	call, end := r.call(step)
	reply, err := lm.Ask(ctx, p.Model, call, request.Messages, options...)
	if err == nil {
		end()
	}
	r.wrote, r.toolCalls = reply.Message, reply.ToolCalls
	response = responseOf(reply, err)
	response.Origin = r.at(step)
	response.Duration = response.Time.Sub(request.Time)
	r.emit(response)
	switch {
	case err != nil:
		return err
	case reply.Truncated && blank(reply.Text) && len(reply.ToolCalls) == 0:
		return errNothingSaid
	}
	return r.fault()
}

// request is what a conversation is sent as.
func (p *Predictor) request(conversation []message, options []llms.CallOption) ModelRequest {
	o := lm.Options(options)
	temperature := p.Temperature
	if temperature == nil {
		temperature = lm.SamplingOf(options).Temperature
	}
	return ModelRequest{
		Messages: contents(conversation), Model: cmp.Or(o.Model, lm.CapabilitiesOf(p.Model).Model),
		Options: o, Temperature: temperature, Rollout: p.Rollout,
	}
}

func responseOf(reply lm.Reply, err error) ModelResponse {
	return ModelResponse{
		Text: reply.Text, Thinking: reply.Reasoning, Model: reply.Model, ID: reply.ID,
		FinishReason: reply.StopReason, ToolCalls: reply.ToolCalls, Failed: reply.Failed,
		Truncated: reply.Truncated, Usage: usageOf(reply, err), Err: err,
	}
}

// call is what goes with a question besides its messages. The function is to be called
// when the reply is complete.
func (r *run) call(step int) (c lm.Call, end func()) {
	c = lm.Call{Rollout: r.predictor.Rollout, Temperature: r.predictor.Temperature}
	if !r.scope.deltas {
		return c, func() {}
	}
	splitter := r.splitter(func(field, text string) {
		r.emit(TextDelta{Origin: r.at(step), Field: field, Text: text})
	})
	c.OnText = splitter.Add
	c.OnReasoning = func(text string) { r.emit(TextDelta{Origin: r.at(step), Text: text, Thinking: true}) }
	return c, splitter.End
}

// splitter divides a reply in the form that was asked for into its fields.
func (r *run) splitter(emit deltas.Emit) deltas.Splitter {
	var names []string
	outputs := r.spec.Outputs()
	for _, f := range outputs {
		names = append(names, f.Name)
	}
	switch r.predictor.adapterFor(r.spec).(type) {
	case prompt.Markers:
		return deltas.Markers(names, replies.EndName(outputs), emit)
	case prompt.Object, prompt.Native:
		return deltas.JSON(names, emit)
	}
	return deltas.Text(emit)
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
	return ok && !failure.MaybeCharged && (failure.Kind == lm.KindOverBudget || failure.Kind == lm.KindCancelled)
}

// repair is what the model is told of a reply that cannot be used.
func (p *Predictor) repair(err error) string {
	return fmt.Sprintf("Your reply cannot be used:\n%v\n\n%s", err, p.adapter().Question(p.Spec, nil))
}

// contents is a conversation for langchaingo. No message is empty, since
// providers refuse those.
func contents(conversation []message) []llms.MessageContent {
	list := make([]llms.MessageContent, len(conversation))
	texts := make([]llms.ContentPart, len(conversation))
	for i, m := range conversation {
		list[i].Role = m.role
		if blank(m.text) && len(m.parts) > 0 {
			list[i].Parts = m.parts
			continue
		}
		if blank(m.text) {
			m.text = "(nothing)"
		}
		texts[i] = llms.TextContent{Text: m.text}
		list[i].Parts = append(texts[i:i+1:i+1], m.parts...)
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
	if err := p.checkNative(); err != nil {
		return err
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
	errNoModel     = errors.New("module: there is no model; open one by models.Open, or pass one of langchaingo's")
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
