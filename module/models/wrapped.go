package models

import (
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// wrap returns a model that calls generate, which in turn calls model. It has the
// capabilities of model, if model states any.
func wrap(model llms.Model, generate lm.Func) llms.Model { return lm.Wrap(model, generate) }

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
