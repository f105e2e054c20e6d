package lm

import (
	"context"
	"sync"

	"github.com/tmc/langchaingo/llms"
)

// Tap forwards a provider's stream to the caller during one attempt. It records whether anything was streamed, and
// forwards nothing after it is closed.
type Tap struct {
	mu              sync.Mutex
	closed, emitted bool
}

// NewTap returns the options with a tap in their streaming functions.
func NewTap(options []llms.CallOption) ([]llms.CallOption, *Tap) {
	t := &Tap{}
	o := Options(options)
	options = options[:len(options):len(options)]
	if text := o.StreamingFunc; text != nil {
		options = append(options, llms.WithStreamingFunc(func(ctx context.Context, chunk []byte) error {
			return t.pass(len(chunk) > 0, func() error { return text(ctx, chunk) })
		}))
	}
	if reasoning := o.StreamingReasoningFunc; reasoning != nil {
		options = append(options, llms.WithStreamingReasoningFunc(
			func(ctx context.Context, thought, chunk []byte) error {
				return t.pass(len(thought)+len(chunk) > 0, func() error { return reasoning(ctx, thought, chunk) })
			}))
	}
	return options, t
}

func (t *Tap) pass(something bool, on func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	t.emitted = t.emitted || something
	return on()
}

// Close ends the stream and reports whether anything was streamed.
func (t *Tap) Close() (emitted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.emitted
}
