package lm

import (
	"context"
	"math"

	"github.com/tmc/langchaingo/llms"
)

// rolloutKey is in the context, because langchaingo has no room for a rollout: its
// CallOptions are a closed struct, and its Metadata is sent to the provider.
type rolloutKey struct{}

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
