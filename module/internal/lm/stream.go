package lm

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"
)

var errClosed = errors.New("the call is over")

// stream returns the options that make a call tell its reply as it comes, and
// what ends that. A provider may tell from a goroutine of its own, and go on
// after it returned; the tap spares whoever listens both.
//
// Functions that the options have already are told the same.
//
// Both streams are needed for either: anthropic's provider reads a stream as a
// stream only if there is the first, and openai's gives the second the text again.
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
