package models

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// wrapped is a model made of a function.
type wrapped func(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error)

// GenerateContent implements [llms.Model].
func (w wrapped) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	return w(ctx, messages, options)
}

// Call implements [llms.Model].
func (w wrapped) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	question := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, prompt)}
	reply, err := lm.Ask(ctx, w, lm.Call{}, question, options...)
	return reply.Text, err
}

// estimate is how many tokens messages have, roughly. Binary parts are not
// counted: providers have prices of their own for those.
func estimate(messages []llms.MessageContent) int {
	n := 0
	for _, m := range messages {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case llms.TextContent:
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
