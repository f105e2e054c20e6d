package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Fallback returns a model that tries the given models in order until one succeeds.
//
// It does not try the next model if
//
//   - the context is done; this does not include a [RateLimit] that fails because the wait would exceed the deadline
//   - a model refused to answer, since asking another model is the caller's decision
//   - part of the reply was already streamed
//
// If all models fail, the error is an *Error that wraps all of their errors. Its kind and its wait are those of the
// error for which a retry is most promising. It is MaybeCharged if any of the errors is.
//
// The returned model has the capabilities that all models have. A reply's GenerationInfo has the name of the model that
// answered under "writ:model", if its provider reports it, and the errors from the models that were tried before under
// "writ:failed".
func Fallback(models ...llms.Model) llms.Model {
	answers := func(
		ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
	) (*llms.ContentResponse, error) {
		if len(models) == 0 {
			return nil, &Error{Kind: KindInvalid, Err: errors.New("Fallback has no models; pass at least one")}
		}
		var failures []*Error
		charged := false // any model may have charged
		for _, model := range models {
			tapped, tap := lm.NewTap(options)
			response, err := lm.Generate(ctx, model, messages, tapped...)
			failure := (*Error)(nil)
			if tap.Close() || !errors.As(err, &failure) || ctx.Err() != nil || failure.Kind == KindRefused {
				noteFailed(response, failures)
				return response, lm.Charged(err, charged)
			}
			charged = charged || failure.MaybeCharged
			failures = append(failures, failure)
		}
		return nil, lm.Charged(allFailed(failures), charged)
	}
	if !slices.ContainsFunc(models, lm.IsCapable) {
		return lm.Wrap(nil, answers)
	}
	return lm.WrapCapable(answers, func() Capabilities {
		can := CapabilitiesOf(models[0])
		for _, model := range models[1:] {
			can = can.And(CapabilitiesOf(model))
		}
		return can
	})
}

// noteFailed adds the errors of the attempts before to a response.
func noteFailed(response *llms.ContentResponse, failures []*Error) {
	if response == nil || len(failures) == 0 {
		return
	}
	for _, c := range response.Choices {
		if c == nil {
			continue
		}
		texts := described(failures)
		if within, ok := c.GenerationInfo[lm.FailedKey].(string); ok {
			texts += "; " + within
		}
		c.GenerationInfo = withInfo(maps.Clone(c.GenerationInfo), lm.FailedKey, texts)
	}
}

// allFailed returns the error for which a retry is most promising, wrapping all of them.
func allFailed(failures []*Error) *Error {
	if len(failures) == 1 {
		return failures[0]
	}
	best := *slices.MinFunc(failures, func(a, b *Error) int { return cmp.Compare(retryWait(a), retryWait(b)) })
	all := make([]error, len(failures))
	for i, e := range failures {
		all[i] = e
	}
	best.Err = lm.Reworded(errors.Join(all...), fmt.Sprintf("all %d models failed: %s", len(all), described(failures)))
	return &best
}

// retryWait returns the wait after which a retry may succeed. The shorter the wait, the more promising a retry is.
func retryWait(e *Error) time.Duration {
	switch e.Kind {
	case KindTransient:
		return e.RetryAfter
	case KindRateLimited:
		return max(e.RetryAfter, 1)
	}
	return math.MaxInt64
}

// described returns all error messages on one line.
func described(failures []*Error) string {
	texts := make([]string, len(failures))
	for i, e := range failures {
		texts[i] = fmt.Sprintf("(%d) %v", i+1, e)
	}
	return strings.Join(texts, "; ")
}
