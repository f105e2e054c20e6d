package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// attempts limits the duration of each attempt.
type attempts struct {
	model llms.Model
	whole time.Duration // for the reply
	first time.Duration // for its first streamed piece; 0 means no limit
}

// slowError reports that an attempt took too long.
type slowError struct{ text string }

// Error names the limit and how to raise it.
func (e *slowError) Error() string { return e.text }

// generate calls the model. An attempt that takes too long fails with [KindTransient],
// since the context of the call is not done.
func (a attempts) generate(
	ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
) (*llms.ContentResponse, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	whole := time.AfterFunc(a.whole, func() {
		cancel(&slowError{fmt.Sprintf("the reply took longer than %s, the limit of one attempt; "+
			"raise OpenOptions.Attempt", a.whole)})
	})
	defer whole.Stop()
	if o := lm.Options(options); a.first > 0 && (o.StreamingFunc != nil || o.StreamingReasoningFunc != nil) {
		first := time.AfterFunc(a.first, func() {
			cancel(&slowError{fmt.Sprintf("nothing was streamed for %s, the limit for the first piece of a reply; "+
				"raise OpenOptions.FirstToken", a.first)})
		})
		defer first.Stop()
		options = onFirst(options, func() { first.Stop() })
	}
	response, err := lm.Generate(within, a.model, messages, options...)
	slow, ok := errors.AsType[*slowError](context.Cause(within))
	if ok && err != nil && ctx.Err() == nil {
		err = &Error{Kind: KindTransient, MaybeCharged: lm.MaybeCharged(err), Err: slow}
	}
	return response, err
}

// onFirst returns options that call begun for every streamed piece.
func onFirst(options []llms.CallOption, begun func()) []llms.CallOption {
	o := lm.Options(options)
	return append(slices.Clip(options),
		llms.WithStreamingFunc(func(ctx context.Context, chunk []byte) error {
			begun()
			if o.StreamingFunc == nil {
				return nil
			}
			return o.StreamingFunc(ctx, chunk)
		}),
		llms.WithStreamingReasoningFunc(func(ctx context.Context, thought, chunk []byte) error {
			begun()
			if o.StreamingReasoningFunc == nil {
				return nil
			}
			return o.StreamingReasoningFunc(ctx, thought, chunk)
		}))
}
