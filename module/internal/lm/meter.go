package lm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/tmc/langchaingo/llms"
)

// Meter counts and limits the calls of a context. Package budget implements it. Only the innermost model of a call is
// metered: the wrappers of this library are not, so an answer from a cache or a record costs nothing, and every attempt
// of a retry and every model of a fallback is charged by itself.
type Meter interface {
	// Reserve waits until the call may be made, and reserves what it may use at most.
	Reserve(ctx context.Context, c Charge) (Reservation, error)

	// Descend returns the context for a module that runs as a tool of a module, or an error if a budget does not allow
	// another one within those around it.
	Descend(ctx context.Context) (context.Context, error)

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

// Reservation is a call in progress.
type Reservation struct {
	Context   context.Context // for the call
	MaxTokens int             // the maximum for a reply, if the call must send one that is lower than its own; or 0

	// Settle replaces what was reserved with what the call used. It returns the error with which the call fails.
	Settle func(Reply, error) error
}

type meterKey struct{}

// WithMeter returns a context whose calls are charged to m.
func WithMeter(ctx context.Context, m Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the context's meter, or nil.
func MeterOf(ctx context.Context) Meter {
	m, _ := ctx.Value(meterKey{}).(Meter)
	return m
}

// Descend returns the context for a module that runs as a tool of a module: see [Meter].
func Descend(ctx context.Context) (context.Context, error) {
	if m := MeterOf(ctx); m != nil {
		return m.Descend(ctx)
	}
	return ctx, nil
}

// Step is a step of a module. It is charged with the first call that is made for it.
type Step struct{ Charged bool }

type stepKey struct{}

// WithStep returns a context whose calls belong to a new step of a module.
func WithStep(ctx context.Context) context.Context { return context.WithValue(ctx, stepKey{}, &Step{}) }

// WithoutStep returns a context for calls that belong to no step.
func WithoutStep(ctx context.Context) context.Context {
	if ctx.Value(stepKey{}) == (*Step)(nil) {
		return ctx
	}
	return context.WithValue(ctx, stepKey{}, (*Step)(nil))
}

type nameKey struct{}

// WithName returns a context in which the called model has a name, which selects its price.
func WithName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// ChargeOf describes a call of a model.
func ChargeOf(ctx context.Context, model llms.Model, messages []llms.MessageContent, options []llms.CallOption) Charge {
	o, can, think := Options(options), CapabilitiesOf(model), ParamsOf(ctx)
	name, _ := ctx.Value(nameKey{}).(string)
	step, _ := ctx.Value(stepKey{}).(*Step)
	c := Charge{
		Model: cmp.Or(o.Model, name, can.Model), Output: o.MaxTokens, Replies: max(o.N, o.CandidateCount, 1),
		Think: max(think.ThinkingTokens, 0), Step: step,
	}
	if c.Output <= 0 && can.MaxTokens > 0 {
		c.Output = can.MaxTokens + c.Think // providers add the tokens for thinking to their default
	}
	c.Output = max(c.Output, 0)
	bytes := len(think.Schema)
	if len(o.Tools) > 0 {
		tools, _ := json.Marshal(RecordTools(o.Tools))
		bytes += len(tools)
	}
	c.Input = Estimate(messages) + Tokens(bytes)
	return c
}

// reserve reserves a call of a model, unless it is a wrapper or the context has no meter.
func reserve(
	ctx context.Context, model llms.Model, messages []llms.MessageContent, options []llms.CallOption,
) (Reservation, []llms.CallOption, error) {
	meter := MeterOf(ctx)
	if meter == nil || isWrapper(model) {
		return Reservation{Context: ctx, Settle: func(_ Reply, err error) error { return err }}, options, nil
	}
	r, err := meter.Reserve(ctx, ChargeOf(ctx, model, messages, options))
	if e, ok := errors.AsType[*Error](err); ok {
		e.Err = &refusal{e.Err}
	} else if r.MaxTokens > 0 {
		options = append(options[:len(options):len(options)], llms.WithMaxTokens(r.MaxTokens))
	}
	return r, options, err
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
func Estimate(messages []llms.MessageContent) int {
	n := 0
	for _, m := range messages {
		n += len(TextOf(m))
	}
	return Tokens(n)
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

type allKey struct{}

// CountAll returns a context in which new budgets also count replies from caches and records, so that the run of a
// module that tells its model how many calls are left takes the same path as without them.
func CountAll(ctx context.Context, counts bool) context.Context {
	return context.WithValue(ctx, allKey{}, counts)
}

// CountsAll reports what was set by [CountAll].
func CountsAll(ctx context.Context) bool {
	counts, _ := ctx.Value(allKey{}).(bool)
	return counts
}
