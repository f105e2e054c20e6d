package module

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/deltas"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
)

// errNothingSaid reports that a model used up its tokens for reasoning. The run ends, since the same request would
// probably fail again.
var errNothingSaid = &failures{
	"the model's reply was cut off before its answer began; allow it more tokens", []error{ErrNoAnswer},
}

// ask begins a step: it sends the conversation to the model and records the reply. As long as the conversation is too
// long for the model, ask drops the older half of the steps and tries again. If the provider answers that the model
// does not support tools, ask tries again with calls as text.
func (r *run) ask(ctx context.Context) error {
	r.outcome, r.results, r.purse = nil, nil, purseOf(ctx)
	ctx = lm.WithStep(ctx, &lm.Step{})
	step := len(r.Steps) + 1
	err := r.askFitting(ctx, step)
	if !toolsRefused(err) || !r.dropTools(step) {
		return err
	}
	switch again := r.askFitting(ctx, step); {
	case again == nil:
		r.predictor.refused.Store(lm.CapabilitiesOf(r.predictor.Model).Model, true)
		return nil
	case ctx.Err() != nil:
		return again
	}
	return err
}

// askFitting sends the conversation, and drops old steps until it fits into the model's context.
func (r *run) askFitting(ctx context.Context, step int) error {
	for {
		err := r.send(ctx, step, r.conversation.Messages(r.callsBefore))
		if e, ok := errors.AsType[*lm.Error](err); !ok || e.Kind != lm.KindContextTooLong || !r.conversation.Forget() {
			return err
		}
	}
}

// dropTools makes the run ask for calls as text, because the model does not support tools. It returns false if that is
// not possible.
func (r *run) dropTools(step int) bool {
	if step > 1 || r.predictor.toolCalling() == nil {
		return false
	}
	r.predictor.calling = nil
	opening, err := r.predictor.opening(r.asked)
	r.conversation.Opening = opening
	return err == nil
}

// toolsRefused reports whether a provider's error says that the model does not support tools.
func toolsRefused(err error) bool {
	e, ok := errors.AsType[*lm.Error](err)
	return ok && e.Kind == lm.KindInvalid && e.Err != nil && strings.Contains(e.Err.Error(), "tool")
}

// send sends a conversation to the model, and records the request and the response.
func (r *run) send(ctx context.Context, step int, messages []conversation.Message) (err error) {
	model, err := durable.Model(ctx, inTurn(ctx, r.predictor.Model), r.path)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return lm.ContextError(ctx)
	}
	p := r.predictor
	options := p.CallOptions
	if c := p.toolCalling(); c != nil {
		options = append(options[:len(options):len(options)], llms.WithTools(c.Tools), llms.WithToolChoice("auto"))
	}
	request := p.request(messages, options)
	request.Schema = p.replySchema(r.spec)
	request.Origin, request.Predictor, request.Inputs = r.at(step), r.path, r.asked.Inputs
	request.Fallback, r.fallback = r.fallback, ""
	request.Extract = r.conversation.Closing != ""
	r.emit(request)
	if err := r.fault(); err != nil {
		r.emit(event.ModelResponse{Origin: r.at(step), Err: err})
		return err
	}
	params := lm.ParamsOf(ctx)
	params.Schema, params.CacheSystem = request.Schema, true
	ctx = lm.WithParams(ctx, params)
	reply, err := r.reply(ctx, model, step, request.Messages, options)
	r.wrote, r.toolCalls = reply.Message, reply.ToolCalls
	response := responseOf(reply, err)
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

// request returns the event for a request with the given messages.
func (p *Predictor) request(messages []conversation.Message, options []llms.CallOption) event.ModelRequest {
	o := lm.Options(options)
	return event.ModelRequest{
		Messages: conversation.Contents(messages), Model: cmp.Or(o.Model, lm.CapabilitiesOf(p.Model).Model),
		Options: o, Rollout: p.Rollout,
	}
}

func responseOf(reply lm.Reply, err error) event.ModelResponse {
	return event.ModelResponse{
		Text: reply.Text, Thinking: reply.Reasoning, Model: reply.Model, ID: reply.ID,
		FinishReason: reply.StopReason, Failed: reply.Failed, Truncated: reply.Truncated,
		Usage: usageOf(reply, err), Err: err, ToolCalls: reply.ToolCalls,
	}
}

// reply calls the model. If an observer wants TextDelta events, reply emits them while the reply arrives.
func (r *run) reply(
	ctx context.Context, model llms.Model, step int, messages []llms.MessageContent, options []llms.CallOption,
) (lm.Reply, error) {
	p := r.predictor
	call := lm.Call{Rollout: p.Rollout, Temperature: p.Temperature}
	if !r.scope.deltas {
		return lm.Ask(ctx, model, call, messages, options...)
	}
	splitter := r.splitter(func(field, text string) {
		r.emit(event.TextDelta{Origin: r.at(step), Field: field, Text: text})
	})
	add := r.liveReply()
	call.OnText = func(text string) { splitter.Add(text); add(text) }
	call.OnReasoning = func(text string) { r.emit(event.TextDelta{Origin: r.at(step), Text: text, Thinking: true}) }
	reply, err := lm.Ask(ctx, model, call, messages, options...)
	if err == nil {
		splitter.End()
	}
	return reply, err
}

// splitter returns a Splitter that assigns the pieces of a streamed reply to its fields.
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

func usageOf(r lm.Reply, err error) event.Usage {
	switch {
	case r.Cached:
		return event.Usage{Hits: 1}
	case unsent(err):
		return event.Usage{}
	}
	return event.Usage{
		Calls: 1, InputTokens: r.Usage.Input, CachedTokens: r.Usage.CachedInput,
		OutputTokens: r.Usage.Output, ThinkingTokens: r.Usage.Reasoning,
	}
}

// unsent reports whether err says that the request was never sent, because the context was done or a budget refused the
// request.
func unsent(err error) bool {
	failure, ok := errors.AsType[*lm.Error](err)
	return ok && !failure.MaybeCharged && (lm.Refused(err) || failure.Kind == lm.KindCancelled)
}
