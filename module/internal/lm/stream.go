package lm

import (
	"context"
	"errors"
	"sync"
)

// stream hands a reply's pieces on. A provider may call from a goroutine of its
// own, and go on after it returned; whoever listens is spared both.
type stream struct {
	onText, onReasoning func(string)

	mu     sync.Mutex
	closed bool
}

var errClosed = errors.New("the call is over")

// text and reasoning are both needed for either: anthropic's provider reads a
// stream as a stream only if there is the first, and openai's gives the second
// the text again.
func (s *stream) text(ctx context.Context, chunk []byte) error {
	return s.emit(ctx, s.onText, chunk)
}

func (s *stream) reasoning(ctx context.Context, chunk, _ []byte) error {
	return s.emit(ctx, s.onReasoning, chunk)
}

func (s *stream) emit(ctx context.Context, on func(string), chunk []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if ctx.Err() == nil && on != nil && len(chunk) > 0 {
		on(string(chunk))
	}
	return ctx.Err()
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
