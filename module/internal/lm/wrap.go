package lm

import (
	"context"

	"github.com/tmc/langchaingo/llms"
)

// Wrap returns a model that calls generate, which in turn calls model with [Generate], or answers in its place. It has
// the capabilities of model, if model states any. Its calls are not metered, but those of model are.
func Wrap(model llms.Model, generate Func) llms.Model {
	if IsCapable(model) {
		return WrapCapable(generate, func() Capabilities { return CapabilitiesOf(model) })
	}
	return wrapper{generate}
}

// WrapCapable is [Wrap] for models whose capabilities a function states.
func WrapCapable(generate Func, states func() Capabilities) llms.Model {
	return capableWrapper{CapableFunc{generate, states}}
}

type wrapper struct{ Func }

type capableWrapper struct{ CapableFunc }

// Call implements [llms.Model].
func (w wrapper) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return call(ctx, w, prompt, options)
}

// Call implements [llms.Model].
func (w capableWrapper) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return call(ctx, w, prompt, options)
}

// isWrapper reports whether a model was made by [Wrap] or [WrapCapable].
func isWrapper(model llms.Model) bool {
	switch model.(type) {
	case wrapper, capableWrapper:
		return true
	}
	return false
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
	return call(ctx, f, prompt, options)
}

// Call implements [llms.Model].
func (c CapableFunc) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return call(ctx, c, prompt, options)
}

func call(ctx context.Context, model llms.Model, prompt string, options []llms.CallOption) (string, error) {
	question := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, prompt)}
	reply, err := Ask(ctx, model, Call{}, question, options...)
	return reply.Text, err
}
