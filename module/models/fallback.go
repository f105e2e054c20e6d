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

// Fallback asks the first model, and where that fails the next, in their order
// for every question.
//
// It does not go on if the context is done (but it does where a [RateLimit] says
// that the turn would come too late), if a model refused (whether another
// one should be asked to answer that is not for a library to decide), or if a part
// of the reply was already streamed. If all fail, the error is an *[Error] of the
// kind that is most worth asking again for, with the shortest wait of those, and
// wraps all of theirs. Whichever error it is, it is MaybeCharged if any of them is.
//
// The model that it returns can do what all of them can. The GenerationInfo of a
// reply says under "writ:model" which model answered, if its provider says that,
// and under "writ:failed" how those before it failed.
func Fallback(models ...llms.Model) llms.Model {
	answers := wrapped(func(
		ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
	) (*llms.ContentResponse, error) {
		if len(models) == 0 {
			return nil, &Error{Kind: KindInvalid, Err: errors.New("a fallback needs models; pass some")}
		}
		var failures []*Error
		charged := false // by any model, maybe
		for _, model := range models {
			tapped, tap := lm.NewTap(options)
			response, err := lm.Generate(ctx, model, lm.Copied(messages), tapped...)
			failure := (*Error)(nil)
			if tap.Close() || !errors.As(err, &failure) || over(ctx) || failure.Kind == KindRefused {
				noteFailed(response, failures)
				return response, lm.Charged(err, charged)
			}
			charged = charged || failure.MaybeCharged
			failures = append(failures, failure)
		}
		return nil, lm.Charged(allFailed(failures), charged)
	})
	if !slices.ContainsFunc(models, isCapable) {
		return answers
	}
	return capable{answers, func() Capabilities {
		can := CapabilitiesOf(models[0])
		for _, model := range models[1:] {
			can = can.And(CapabilitiesOf(model))
		}
		return can
	}}
}

// noteFailed adds to a response how the models before its own failed.
func noteFailed(response *llms.ContentResponse, failures []*Error) {
	if response == nil || len(failures) == 0 {
		return
	}
	for _, c := range response.Choices {
		if c == nil {
			continue
		}
		texts := everyFailure(failures).String()
		if within, ok := c.GenerationInfo[lm.FailedKey].(string); ok {
			texts += "; " + within
		}
		c.GenerationInfo = withInfo(maps.Clone(c.GenerationInfo), lm.FailedKey, texts)
	}
}

// over reports that a context is done, or that its deadline has come: who is within
// a [Cache] may learn it first.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) <= 0
}

// allFailed is the most hopeful of the errors, with the texts of all.
func allFailed(failures []*Error) *Error {
	if len(failures) == 1 {
		return failures[0]
	}
	best := *slices.MinFunc(failures, func(a, b *Error) int { return cmp.Compare(hopes(a), hopes(b)) })
	best.Err = everyFailure(failures)
	return &best
}

// hopes is the place of an error among those that may go away: the shortest wait
// first, and last those that will not.
func hopes(e *Error) time.Duration {
	switch e.Kind {
	case KindTransient:
		return e.RetryAfter
	case KindRateLimited:
		return max(e.RetryAfter, 1)
	}
	return math.MaxInt64
}

// everyFailure is the errors of all models.
type everyFailure []*Error

// String returns all texts in one line.
func (f everyFailure) String() string {
	texts := make([]string, len(f))
	for i, e := range f {
		texts[i] = fmt.Sprintf("(%d) %v", i+1, e)
	}
	return strings.Join(texts, "; ")
}

// Error returns all texts in one line, and their number.
func (f everyFailure) Error() string { return fmt.Sprintf("all %d failed: %s", len(f), f.String()) }

// Unwrap returns the errors.
func (f everyFailure) Unwrap() []error {
	list := make([]error, len(f))
	for i, e := range f {
		list[i] = e
	}
	return list
}
