// Package lm is the boundary to langchaingo: it asks a model once and makes one
// shape of what its providers return in many, and one error of how they fail.
//
// [Ask] is for modules. [Generate] is what it rests on, for models that wrap
// others: errors are classified, the rest is as the provider returned it.
package lm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tmc/langchaingo/llms"
)

// Call is what a question needs besides its messages. Its zero value leaves all
// to the call options and the provider.
type Call struct {
	// Rollout tells questions apart that are otherwise the same, so that a
	// cache does not answer the second with the first one's reply.
	Rollout int

	// Temperature and TopP, if set, take the place of those in the call options.
	Temperature, TopP *float64

	// OnText and OnReasoning, if set, are given the reply as it comes, in
	// pieces that are not empty: one at a time, and none after Ask returned.
	// To stop the reply, cancel the context.
	OnText, OnReasoning func(chunk string)
}

// Ask sends messages to a model. The error is an *[Error]; its kind is Cancelled
// if ctx is done, even where the provider returned without an error what it had
// until then. Beside an error there is nothing in the reply but what it cost, as
// far as that is known.
func Ask(ctx context.Context, model llms.Model, call Call, messages []llms.MessageContent,
	options ...llms.CallOption) (Reply, error) {
	if call.Rollout != 0 {
		ctx = WithRollout(ctx, call.Rollout)
	}
	options, end := call.with(options)
	_, reply, err := exchange(ctx, model, messages, options)
	end(err)
	if err != nil {
		return Reply{Usage: reply.Usage, Cached: reply.Cached}, err
	}
	return reply, nil
}

// with returns the call options and those of the call, and what ends its stream.
func (c Call) with(options []llms.CallOption) ([]llms.CallOption, func(error)) {
	options = options[:len(options):len(options)]
	if c.Temperature != nil {
		options = append(options, llms.WithTemperature(*c.Temperature))
	}
	if c.TopP != nil {
		options = append(options, llms.WithTopP(*c.TopP))
	}
	if c.OnText == nil && c.OnReasoning == nil {
		return options, func(error) {}
	}
	return c.stream(options)
}

// Generate asks a model once. The error is an *[Error], also where the provider
// returned none: ctx is done, the connection broke, the model refused, or it
// returned nothing at all. The response is returned beside it, if there is one,
// for what it cost.
func Generate(ctx context.Context, model llms.Model, messages []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	response, _, err := exchange(ctx, model, messages, options)
	return response, err
}

// exchange is [Generate], with the reply that the response amounts to.
func exchange(ctx context.Context, model llms.Model, messages []llms.MessageContent,
	options []llms.CallOption) (*llms.ContentResponse, Reply, error) {
	if model == nil {
		return nil, Reply{}, &Error{Kind: KindInvalid, Err: errors.New("there is no model; pass one")}
	}
	if ctx.Err() != nil {
		return nil, Reply{}, CancelledBy(ctx)
	}
	messages, err := sendable(model, messages)
	if err != nil {
		return nil, Reply{}, err
	}
	tapped, tap := NewTap(options)
	response, err := generate(ctx, model, messages, tapped)
	begun := tap.Close()
	reply := merge(response, options)
	if err = failed(ctx, err, messages, begun); err == nil {
		err = judge(reply)
	}
	return response, reply, err
}

// generate makes an error of a panic: a provider's at an answer it did not
// expect, or that of a nil pointer to a model, which is the caller's mistake.
func generate(ctx context.Context, model llms.Model, messages []llms.MessageContent,
	options []llms.CallOption) (response *llms.ContentResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			response, err = nil, panicked(p)
			if isNil(model) {
				err = &Error{Kind: KindInvalid,
					Err: fmt.Errorf("the model is a nil %T; pass one that was made, and look at the error of what makes it", model)}
			}
		}
	}()
	return model.GenerateContent(ctx, messages, options...)
}

// failed is how a call has failed, or nil; begun says that a part of the reply was
// streamed. An error that panics where it is looked at,
// as a typed nil may, is one of a provider that does.
func failed(ctx context.Context, err error, messages []llms.MessageContent, begun bool) (failure error) {
	defer func() {
		if p := recover(); p != nil {
			failure = panicked(p)
		}
	}()
	if ctx.Err() != nil {
		return cutShort(ctx, err)
	}
	if err == nil {
		return nil
	}
	failure = Charged(classify(withoutURLs(err, messages)), begun)
	_ = failure.Error()
	return failure
}

// panicked is to be called where the panic was recovered.
func panicked(p any) *Error {
	return &Error{Kind: KindUnknown, MaybeCharged: true, Err: &PanicError{p, debug.Stack()}}
}

// PanicError says that a provider has panicked. The error's kind is Unknown.
type PanicError struct {
	Value any    // of the panic
	Stack []byte // of the goroutine that panicked; it is not in the text
}

// Error says what it panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("it panicked: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// cutShort is the error of a call during which ctx ended. Unless a model within
// knows better, the provider had the question by then.
func cutShort(ctx context.Context, err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) && e != nil && e.Kind == KindCancelled {
		return e
	}
	e := CancelledBy(ctx)
	e.MaybeCharged = true
	return e
}

// judge finds what is an error though the provider returned none.
func judge(reply Reply) error {
	switch {
	case reply.refusal != "":
		return &Error{Kind: KindRefused, MaybeCharged: true, Err: errors.New("it ended the reply: " + reply.refusal)}
	case !reply.said():
		return &Error{Kind: KindTransient, MaybeCharged: true, Err: errNothing}
	}
	return nil
}

var errNothing = errors.New("it returned nothing at all")
