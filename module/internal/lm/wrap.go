package lm

import (
	"context"

	"github.com/tmc/langchaingo/llms"
)

// Wrap returns a model that calls generate, which in turn calls model with [Generate], or answers in its place. It has
// the capabilities of model, if model states any. Its calls are not metered, but those of model are: see [Meter].
func Wrap(model llms.Model, generate Func) llms.Model {
	if !IsCapable(model) {
		return wrapper{generate}
	}
	return WrapCapable(generate, func() Capabilities { return CapabilitiesOf(model) })
}

// WrapCapable is [Wrap] for models whose capabilities a function states.
func WrapCapable(generate Func, states func() Capabilities) llms.Model {
	return capableWrapper{wrapper{generate}, states}
}

type wrapper struct{ Func }

type capableWrapper struct {
	wrapper
	states func() Capabilities
}

// Capabilities implements [Capable].
func (w capableWrapper) Capabilities() Capabilities { return w.states() }

// Call implements [llms.Model].
func (w wrapper) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return callModel(ctx, w, prompt, options)
}

// IsCapable reports whether a model states its capabilities.
func IsCapable(model llms.Model) bool {
	_, ok := model.(Capable)
	return ok
}

// CapableFunc turns a function into a model that states its capabilities.
type CapableFunc struct {
	Func
	States func() Capabilities
}

// Capabilities returns what the model can do.
func (c CapableFunc) Capabilities() Capabilities { return c.States() }

// Func turns a function into a model.
type Func func(
	ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
) (*llms.ContentResponse, error)

// GenerateContent implements [llms.Model].
func (f Func) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	return f(ctx, messages, options)
}

// Call implements [llms.Model].
func (f Func) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return callModel(ctx, f, prompt, options)
}

func callModel(ctx context.Context, m llms.Model, prompt string, options []llms.CallOption) (string, error) {
	question := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, prompt)}
	reply, err := Ask(ctx, m, Call{}, question, options...)
	return reply.Text, err
}
