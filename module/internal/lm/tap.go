package lm

import (
	"context"
	"sync"

	"github.com/tmc/langchaingo/llms"
)

// Tap forwards a provider's stream to the caller during one attempt. It counts the bytes that were streamed, and
// forwards nothing after it is closed.
type Tap struct {
	mu      sync.Mutex
	closed  bool
	emitted int
}

// NewTap returns the options with a tap in their streaming functions.
func NewTap(options []llms.CallOption) ([]llms.CallOption, *Tap) {
	t := &Tap{}
	o := Options(options)
	options = options[:len(options):len(options)]
	if text := o.StreamingFunc; text != nil {
		options = append(options, llms.WithStreamingFunc(func(ctx context.Context, chunk []byte) error {
			return t.pass(len(chunk), func() error { return text(ctx, chunk) })
		}))
	}
	if reasoning := o.StreamingReasoningFunc; reasoning != nil {
		options = append(options, llms.WithStreamingReasoningFunc(
			func(ctx context.Context, thought, chunk []byte) error {
				return t.pass(len(thought)+len(chunk), func() error { return reasoning(ctx, thought, chunk) })
			}))
	}
	return options, t
}

func (t *Tap) pass(bytes int, on func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errClosed
	}
	t.emitted += bytes
	return on()
}

// Close ends the stream and returns how many bytes were streamed.
func (t *Tap) Close() (emitted int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.emitted
}
