// Package lm is the boundary to langchaingo. It calls a model once and converts replies and errors from all providers
// to one form.
//
// [Ask] is for modules. [Generate] is for models that wrap others: it classifies errors
// and returns the provider's response unchanged.
package lm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/tmc/langchaingo/llms"
)

// Call has a call's parameters besides its messages. The zero value leaves everything to the call options and the
// provider.
type Call struct {
	// Rollout distinguishes otherwise identical calls, so that a cache does not answer the second with the reply to the
	// first.
	Rollout int

	// Temperature, if set, overrides the call options.
	Temperature *float64

	// OnText and OnReasoning, if set, receive the reply in pieces as it arrives. They are not called concurrently, and
	// not after Ask has returned. To stop the reply, cancel the context.
	OnText, OnReasoning func(chunk string)
}

// Ask sends messages to a model. The error is an *[Error]. Its kind is KindCancelled if ctx
// is done, even if the provider returned a partial reply without an error. With an error,
// the reply has only the usage, as far as it is known.
func Ask(ctx context.Context, model llms.Model, call Call, messages []llms.MessageContent,
	options ...llms.CallOption) (Reply, error) {
	if call.Rollout != 0 {
		ctx = WithRollout(ctx, call.Rollout)
	}
	if in := interceptorOf(ctx); in != nil && model != nil {
		ctx, model = WithInterceptor(ctx, nil), in(model)
	}
	options = options[:len(options):len(options)]
	if call.Temperature != nil {
		options = append(options, llms.WithTemperature(*call.Temperature))
	}
	var s *stream
	if call.OnText != nil || call.OnReasoning != nil {
		options, s = newStream(call, options)
	}
	_, reply, err := exchange(ctx, model, messages, options)
	s.close(err)
	if err != nil {
		return Reply{Usage: reply.Usage, Cached: reply.Cached}, err
	}
	return reply, nil
}

// Interceptor returns the model to call instead of the given model.
type Interceptor func(llms.Model) llms.Model

type interceptorKey struct{}

// WithInterceptor returns a context in which [Ask] calls the model that in returns. That call's context has no
// interceptor.
func WithInterceptor(ctx context.Context, in Interceptor) context.Context {
	return context.WithValue(ctx, interceptorKey{}, in)
}

func interceptorOf(ctx context.Context) Interceptor {
	in, _ := ctx.Value(interceptorKey{}).(Interceptor)
	return in
}

// Generate calls a model once. The error is an *[Error]. It is not nil if ctx is done, the connection broke, the model
// refused, or the reply is empty, even if the provider returned no error. If Generate returns a response with an error,
// the response has the call's usage.
func Generate(ctx context.Context, model llms.Model, messages []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	response, _, err := exchange(ctx, model, messages, options)
	return response, err
}

// exchange is [Generate] and also returns the merged reply.
func exchange(ctx context.Context, model llms.Model, messages []llms.MessageContent,
	options []llms.CallOption) (response *llms.ContentResponse, reply Reply, err error) {
	if model == nil {
		return nil, Reply{}, &Error{Kind: KindInvalid, Err: errors.New("the model is nil; pass a model")}
	}
	if ctx.Err() != nil {
		return nil, Reply{}, CancelledBy(ctx)
	}
	messages, err = sendable(model, messages)
	if err != nil {
		return nil, Reply{}, err
	}
	within, options, settle, err := reserve(ctx, model, messages, options)
	if err != nil {
		return nil, Reply{}, err
	}
	defer func() { err = settle(reply, err) }()
	tapped, tap := NewTap(options)
	response, err = generate(within, model, messages, tapped)
	begun := tap.Close()
	reply = merge(response, options)
	if err = failed(ctx, err, begun); err == nil {
		err = judge(reply)
	}
	return response, reply, err
}

// generate calls the model and turns a panic into an error.
func generate(ctx context.Context, model llms.Model, messages []llms.MessageContent,
	options []llms.CallOption) (response *llms.ContentResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			response, err = nil, panicked(p)
			if isNil(model) {
				err = &Error{Kind: KindInvalid,
					Err: fmt.Errorf("the model is a nil %T; check the error of the function that returned it", model)}
			}
		}
	}()
	return model.GenerateContent(ctx, messages, options...)
}

// failed returns a call's classified error, or nil. Begun reports whether part of the reply was streamed. An error that
// panics when it is inspected, such as a typed nil, counts as a panic of the provider.
func failed(ctx context.Context, err error, begun bool) (failure error) {
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
	failure = Charged(classify(err), begun)
	_ = failure.Error()
	return failure
}

// panicked returns the error for a recovered panic.
func panicked(p any) *Error {
	return &Error{Kind: KindUnknown, MaybeCharged: true, Err: NewPanic("the provider", p)}
}

// PanicError reports a panic in code that was passed to Writ.
type PanicError struct {
	In    string // what panicked, such as "Run of CodeAct"
	Value any    // the panic value
	Stack []byte // the stack of the goroutine that panicked; Error omits it
}

// NewPanic returns a PanicError for a panic that the caller has just recovered.
func NewPanic(in string, value any) *PanicError { return &PanicError{in, value, debug.Stack()} }

// Error returns what panicked, and the value.
func (e *PanicError) Error() string {
	return fmt.Sprintf("%s panicked: %.500s", e.In, fmt.Sprint(e.Value))
}

// Unwrap returns Value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// cutShort returns the error for a call during which ctx was done. Unless an inner model's error says otherwise, the
// provider may have received the request.
func cutShort(ctx context.Context, err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) && e != nil && e.Kind == KindCancelled {
		return e
	}
	e := CancelledBy(ctx)
	e.MaybeCharged = true
	return e
}

// judge returns the error for a reply that is not usable although the provider returned no error.
func judge(reply Reply) error {
	switch {
	case reply.refusal != "":
		return &Error{Kind: KindRefused, MaybeCharged: true, Err: errors.New("the stop reason is " + reply.refusal)}
	case len(reply.ToolCalls) > maxCalls:
		return &Error{Kind: KindTransient, MaybeCharged: true,
			Err: fmt.Errorf("the reply has %d tool calls; the limit is %d", len(reply.ToolCalls), maxCalls)}
	case !reply.hasContent():
		return &Error{Kind: KindTransient, MaybeCharged: true, Err: errNothing}
	}
	return nil
}

// maxCalls is the maximum number of tool calls in a reply.
const maxCalls = 128

var errNothing = errors.New("the response is empty")
