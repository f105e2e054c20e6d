package module

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module/internal/lm"
)

// inTurn returns a model whose requests are made when it is their turn, if somebody decides about that.
func inTurn(ctx context.Context, m llms.Model) llms.Model {
	asker := durable.AskerOf(ctx)
	if asker == nil || m == nil {
		return m
	}
	return lm.Wrap(m, func(
		ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
	) (r *llms.ContentResponse, err error) {
		err = asker(ctx, func(ctx context.Context) error {
			r, err = lm.Generate(ctx, m, messages, options...)
			return err
		})
		return r, err
	})
}
