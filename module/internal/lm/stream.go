package lm

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"
)

var errClosed = errors.New("the call is over")

// stream returns options that stream the reply, and a function that ends the stream. A provider may stream concurrently
// and after it has returned; the tap serializes the pieces and drops late ones. Streaming functions that the options
// already have receive the same pieces.
//
// Both functions are always set: anthropic's provider streams only if the first is set, and
// openai's passes the text to the second again.
func (c Call) stream(options []llms.CallOption) ([]llms.CallOption, func(error)) {
	before := Options(options)
	division := &thoughts{onText: c.OnText, onThought: c.OnReasoning}
	options, tap := NewTap(append(options,
		llms.WithStreamingFunc(func(ctx context.Context, chunk []byte) error {
			if ctx.Err() == nil {
				division.add(string(chunk))
			}
			if before.StreamingFunc != nil && ctx.Err() == nil {
				return before.StreamingFunc(ctx, chunk)
			}
			return ctx.Err()
		}),
		llms.WithStreamingReasoningFunc(func(ctx context.Context, chunk, text []byte) error {
			if ctx.Err() == nil {
				tell(c.OnReasoning, string(chunk))
			}
			if before.StreamingReasoningFunc != nil && ctx.Err() == nil {
				return before.StreamingReasoningFunc(ctx, chunk, text)
			}
			return ctx.Err()
		})))
	return options, func(err error) {
		if tap.Close(); err == nil {
			division.end()
		}
	}
}
