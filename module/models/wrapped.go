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
		n += len(lm.TextOf(m))
	}
	return (n + 3) / 4
}
