package lm

import (
	"context"
	"math"

	"github.com/tmc/langchaingo/llms"
)

// rolloutKey is a context key, because langchaingo's CallOptions are a closed struct and its
// Metadata is sent to the provider.
type rolloutKey struct{}

// WithRollout returns a context with a rollout number. A cache distinguishes calls with different numbers.
func WithRollout(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, rolloutKey{}, n)
}

// Rollout returns the number set by [WithRollout], or 0.
func Rollout(ctx context.Context) int {
	n, _ := ctx.Value(rolloutKey{}).(int)
	return n
}

// Sampling has the sampling parameters that the caller set, and nil for others. langchaingo's
// options cannot distinguish unset from zero.
type Sampling struct{ Temperature, TopP *float64 }

// SamplingOf returns the sampling parameters in call options.
func SamplingOf(options []llms.CallOption) Sampling {
	if len(options) == 0 {
		return Sampling{}
	}
	o := llms.CallOptions{Temperature: math.NaN(), TopP: math.NaN()} // unset parameters stay NaN
	apply(&o, options)
	return Sampling{given(o.Temperature), given(o.TopP)}
}

func given(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// Options applies call options.
func Options(options []llms.CallOption) llms.CallOptions {
	if len(options) == 0 {
		return llms.CallOptions{} // avoid the allocation
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
