package models

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// wrap returns a model that calls generate, which in turn calls model. It has the
// capabilities of model, if model states any.
func wrap(model llms.Model, generate wrapped) llms.Model {
	if isCapable(model) {
		return capable{generate, func() Capabilities { return CapabilitiesOf(model) }}
	}
	return generate
}

func isCapable(model llms.Model) bool {
	_, ok := model.(lm.Capable)
	return ok
}

// capable is a function as a model, with capabilities.
type capable struct {
	wrapped
	capabilities func() Capabilities
}

// Capabilities returns what the model can do.
func (c capable) Capabilities() Capabilities { return c.capabilities() }

// wrapped is a function as a model.
type wrapped func(
	ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
) (*llms.ContentResponse, error)

// GenerateContent implements [llms.Model].
func (w wrapped) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	return w(ctx, messages, options)
}

// Call implements [llms.Model].
func (w wrapped) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	question := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, prompt)}
	reply, err := lm.Ask(ctx, w, lm.Call{}, question, options...)
	return reply.Text, err
}

// estimate returns the approximate number of tokens in messages. Binary parts do not
// count, since providers price them separately.
func estimate(messages []llms.MessageContent) int {
	n := 0
	for _, m := range messages {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case llms.TextContent:
				n += len(p.Text)
			case Message:
				n += len(p.Text)
			case llms.ToolCallResponse:
				n += len(p.Content)
			case llms.ToolCall:
				if p.FunctionCall != nil {
					n += len(p.FunctionCall.Arguments)
				}
			}
		}
	}
	return (n + 3) / 4
}
