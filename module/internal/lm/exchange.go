package lm

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"
)

// Two things travel in the context, because langchaingo has no room for them:
// its CallOptions are a closed struct, its Metadata is sent to the provider.
type (
	rolloutKey  struct{}
	exchangeKey struct{}
)

// WithRollout returns a context whose calls are told apart from those of another
// rollout by a cache.
func WithRollout(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, rolloutKey{}, n)
}

// Rollout is the number that [WithRollout] gave, or 0.
func Rollout(ctx context.Context) int {
	n, _ := ctx.Value(rolloutKey{}).(int)
	return n
}

// Sampling is what the caller asked for; nil where nothing was asked, which
// providers cannot tell from zero.
type Sampling struct{ Temperature, TopP *float64 }

// SamplingOf finds it in call options: what they leave alone stays not a number.
func SamplingOf(options []llms.CallOption) Sampling {
	if len(options) == 0 {
		return Sampling{}
	}
	o := llms.CallOptions{Temperature: math.NaN(), TopP: math.NaN()}
	apply(&o, options)
	return Sampling{given(o.Temperature), given(o.TopP)}
}

func given(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// Options is what call options amount to.
func Options(options []llms.CallOption) llms.CallOptions {
	if len(options) == 0 {
		return llms.CallOptions{} // one that options are applied to is allocated
	}
	var o llms.CallOptions
	apply(&o, options)
	return o
}

func apply(o *llms.CallOptions, options []llms.CallOption) {
	for _, option := range options {
		if option != nil {
			option(o)
		}
	}
}

// Exchange is one call of a provider, as its HTTP transport sees it: what the
// provider would not send, and what it would not tell.
type Exchange struct {
	Sampling Sampling

	mu      sync.Mutex
	failure *Error
	begun   bool   // the answer
	stop    string // the reason the reply ended, where a stream gave one
}

func newExchange(options []llms.CallOption) *Exchange {
	return &Exchange{Sampling: SamplingOf(options)}
}

// ExchangeOf returns the call that ctx belongs to, or nil if it was not made
// through this package.
func ExchangeOf(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// Note keeps how the call failed, nil if it did not (yet): providers drop the
// headers of an answer and the reason of a broken connection.
func (x *Exchange) Note(failure *Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.failure = failure
}

// NoteAnswer keeps that the provider began a good answer: what fails from then on
// may have been charged.
func (x *Exchange) NoteAnswer() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begun = true
}

// NoteStop keeps why a streamed reply ended: openai's provider forgets it when
// another event comes.
func (x *Exchange) NoteStop(reason string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stop = reason
}

// heard returns options that note what is streamed.
func (x *Exchange) heard(options []llms.CallOption) []llms.CallOption {
	if len(options) == 0 {
		return nil
	}
	o := Options(options)
	options = options[:len(options):len(options)]
	if text := o.StreamingFunc; text != nil {
		options = append(options, llms.WithStreamingFunc(func(ctx context.Context, chunk []byte) error {
			x.NoteAnswer()
			return text(ctx, chunk)
		}))
	}
	if reasoning := o.StreamingReasoningFunc; reasoning != nil {
		options = append(options, llms.WithStreamingReasoningFunc(func(ctx context.Context, thought, chunk []byte) error {
			x.NoteAnswer()
			return reasoning(ctx, thought, chunk)
		}))
	}
	return options
}

// charge marks an error that came after the answer had begun.
func (x *Exchange) charge(err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return Charged(err, x.begun)
}

// mend puts the reason to stop into a response that lost it.
func (x *Exchange) mend(response *llms.ContentResponse) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stop == "" {
		return
	}
	if list := slices.Collect(choices(response)); len(list) == 1 && list[0].StopReason == "" {
		list[0].StopReason = x.stop
	}
}

func (x *Exchange) noted() *Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failure
}
