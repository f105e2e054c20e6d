package lm

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"
)

var errClosed = errors.New("the call is over")

// stream passes a streamed reply to a Call's functions. Streaming functions that the options already have receive the
// same pieces. A provider may stream concurrently and after it has returned; the tap serializes the pieces and drops
// late ones.
type stream struct {
	thoughts
	tap    *Tap
	before llms.CallOptions // the options without the stream
}

// newStream returns the options with a stream. They always have both streaming functions: anthropic's provider streams
// only if the first is set, and openai's passes the text to the second again.
func newStream(c Call, options []llms.CallOption) ([]llms.CallOption, *stream) {
	s := &stream{thoughts: thoughts{onText: c.OnText, onThought: c.OnReasoning}, before: Options(options)}
	options, s.tap = NewTap(append(options,
		llms.WithStreamingFunc(s.text), llms.WithStreamingReasoningFunc(s.reasoning)))
	return options, s
}

// text receives a piece of the reply, with any reasoning that the server does not separate.
func (s *stream) text(ctx context.Context, chunk []byte) error {
	if ctx.Err() == nil {
		s.add(string(chunk))
	}
	if s.before.StreamingFunc != nil && ctx.Err() == nil {
		return s.before.StreamingFunc(ctx, chunk)
	}
	return ctx.Err()
}

// reasoning receives a piece of the reasoning. It ignores the text, which the method text receives as well.
func (s *stream) reasoning(ctx context.Context, chunk, text []byte) error {
	if ctx.Err() == nil {
		tell(s.onThought, string(chunk))
	}
	if s.before.StreamingReasoningFunc != nil && ctx.Err() == nil {
		return s.before.StreamingReasoningFunc(ctx, chunk, text)
	}
	return ctx.Err()
}

// close ends the stream of a call, which returned err. A nil stream has no effect.
func (s *stream) close(err error) {
	if s == nil {
		return
	}
	if s.tap.Close(); err == nil {
		s.end()
	}
}
