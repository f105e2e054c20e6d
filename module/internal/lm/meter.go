package lm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/tmc/langchaingo/llms"
)

// Meter counts and limits the calls of a context. Package budget implements it. Only the innermost model of a call is
// metered: wrappers are not, so a reply from a cache or a record is free, and every attempt of a retry and every model
// of a fallback is charged by itself.
type Meter interface {
	// Reserve waits until the call may be made, and reserves the most that it may use. It returns the context for the
	// call and, if not 0, the limit of tokens that the call must send, which is lower than its own. Settle replaces what
	// was reserved with what the call used, and returns the error with which the call fails.
	Reserve(ctx context.Context, c Charge) (
		within context.Context, tokens int, settle func(Reply, error) error, err error)

	// Descend returns an error if a module that runs as a tool of a module, with this context, is too deep.
	Descend(ctx context.Context) error

	// Cached counts a reply from a cache.
	Cached()

	// Record returns a context for calls, and a function that returns what they have used, as JSON.
	Record(ctx context.Context) (context.Context, func() json.RawMessage)

	// Replay charges what was recorded to the budgets that began within the recorded run, or to all. Without a record,
	// it charges the reply, or the error.
	Replay(ctx context.Context, all bool, c Charge, recorded json.RawMessage, reply Reply, err error)
}

// Charge describes a call to a [Meter].
type Charge struct {
	Model   string // selects the price
	Input   int    // the estimated tokens of the request
	Output  int    // the maximum number of tokens of a reply, including reasoning; 0 if unknown
	Replies int    // the number of replies
	Think   int    // the tokens of Output that are for reasoning
	Step    *Step  // the module's step that makes the call, or nil
}

// Step is a step of a module. The first call that is made for it is charged for it.
type Step struct{ Charged bool }

type meterKey struct{}
type stepKey struct{}
type nameKey struct{}
type allKey struct{}

// WithMeter returns a context whose calls are charged to m.
func WithMeter(ctx context.Context, m Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the context's meter, or nil.
func MeterOf(ctx context.Context) Meter {
	m, _ := ctx.Value(meterKey{}).(Meter)
	return m
}

// WithStep returns a context whose calls belong to a step of a module, or to none if s is nil.
func WithStep(ctx context.Context, s *Step) context.Context {
	return context.WithValue(ctx, stepKey{}, s)
}

// WithName returns a context in which the called model has a name, which selects its price.
func WithName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// CountAll returns a context in which new budgets also count replies from caches and records, so that the run of a
// module that tells its model how many calls are left takes the same path as without them.
func CountAll(ctx context.Context, all bool) context.Context {
	return context.WithValue(ctx, allKey{}, all)
}

// CountsAll reports what was set by [CountAll].
func CountsAll(ctx context.Context) bool { return ctx.Value(allKey{}) == true }

// ChargeOf describes a call of a model.
func ChargeOf(ctx context.Context, model llms.Model, messages []llms.MessageContent, options []llms.CallOption) Charge {
	o, can, params := Options(options), CapabilitiesOf(model), ParamsOf(ctx)
	name, _ := ctx.Value(nameKey{}).(string)
	tools := []byte(nil)
	if len(o.Tools) > 0 {
		tools, _ = json.Marshal(RecordTools(o.Tools))
	}
	c := Charge{
		Model: cmp.Or(o.Model, name, can.Model), Input: Estimate(messages) + Tokens(len(params.Schema)+len(tools)),
		Output: max(o.MaxTokens, 0), Replies: max(o.N, o.CandidateCount, 1), Think: max(params.ThinkingTokens, 0),
	}
	c.Step, _ = ctx.Value(stepKey{}).(*Step)
	if c.Output == 0 && can.MaxTokens > 0 {
		c.Output = can.MaxTokens + c.Think // providers add the tokens for thinking to their default
	}
	return c
}

// reserve reserves a call of a model, unless it is a wrapper or the context has no meter.
func reserve(
	ctx context.Context, model llms.Model, messages []llms.MessageContent, options []llms.CallOption,
) (context.Context, []llms.CallOption, func(Reply, error) error, error) {
	meter := MeterOf(ctx)
	switch model.(type) {
	case wrapper, capableWrapper:
		meter = nil // the model that it calls is metered
	}
	if meter == nil {
		return ctx, options, func(_ Reply, err error) error { return err }, nil
	}
	ctx, tokens, settle, err := meter.Reserve(ctx, ChargeOf(ctx, model, messages, options))
	if e, ok := errors.AsType[*Error](err); ok {
		e.Err = &refusal{e.Err}
	} else if tokens > 0 {
		options = append(options[:len(options):len(options)], llms.WithMaxTokens(tokens))
	}
	return ctx, options, settle, err
}

// refusal is the error of a [Meter] that refuses a call.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// Refused reports whether a call was not made because its [Meter] refused it.
func Refused(err error) bool {
	_, refused := errors.AsType[*refusal](err)
	return refused
}

// Estimate returns the approximate number of tokens in messages. Binary parts do not count, since providers price them
// separately.
func Estimate(messages []llms.MessageContent) (tokens int) {
	for _, m := range messages {
		tokens += len(TextOf(m))
	}
	return Tokens(tokens)
}

// Tokens estimates how many tokens text of the given size has.
func Tokens(bytes int) int { return (bytes + 3) / 4 }

// Used returns the tokens that a call used. If the provider does not report them, they are estimated.
func Used(reply Reply, err error, input int) (u Usage, estimated bool) {
	failure, failed := errors.AsType[*Error](err)
	if reply.Usage != (Usage{}) || failed && !failure.MaybeCharged {
		return reply.Usage, false
	}
	n := len(reply.Text) + len(reply.Reasoning)
	for _, call := range reply.ToolCalls {
		n += len(call.FunctionCall.Name) + len(call.FunctionCall.Arguments)
	}
	return Usage{Input: input, Output: Tokens(n)}, true
}
