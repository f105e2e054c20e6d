package wire

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// Limited returns a model whose calls fail with [lm.KindTransient] if they take longer than the option Attempt, which
// defaults to 10 minutes. Budgets are charged for the returned model, so that a call does not wait for them within its
// time.
func Limited(model llms.Model, attempt time.Duration) llms.Model {
	limit := cmp.Or(max(attempt, 0), 10*time.Minute)
	slow := fmt.Errorf("the reply took longer than %s, the limit for one attempt; raise the option Attempt", limit)
	generate := func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		within, cancel := context.WithTimeoutCause(ctx, limit, slow)
		defer cancel()
		response, err := lm.Generate(lm.WithMeter(within, nil), model, messages, options...)
		if err != nil && ctx.Err() == nil && context.Cause(within) == slow {
			err = &lm.Error{Kind: lm.KindTransient, MaybeCharged: lm.MaybeCharged(err), Err: slow}
		}
		return response, err
	}
	return lm.CapableFunc{Func: generate, States: func() lm.Capabilities { return lm.CapabilitiesOf(model) }}
}
