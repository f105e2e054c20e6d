package module_test

import (
	"context"
	"errors"
	"testing"

	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// The module gets the reply, or the error, of the last attempt that somebody else decides about.
func TestRequestsInTurn(t *testing.T) {
	t.Parallel()
	busy := &models.Error{Kind: models.KindRateLimited, Err: errors.New("busy")}
	for attempts := range 3 {
		n := 0
		model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			if n++; n < 2 {
				return llmtest.Reply{}, busy
			}
			return llmtest.Reply{Text: submit1}, nil
		})
		ctx := durable.WithAsker(t.Context(), func(ctx context.Context, ask func(context.Context) error) error {
			err := error(&models.Error{Kind: models.KindCancelled, Err: context.Canceled})
			for range attempts {
				err = ask(ctx)
			}
			return err
		})
		_, err := module.NewCodeAct(adding, model, inProcess(t), nil, nil).Run(ctx, anything)
		if n != attempts || (err == nil) != (attempts == 2) || attempts == 1 && !errors.Is(err, busy.Err) {
			t.Errorf("%d attempts: %d requests and %v", attempts, n, err)
		}
	}
}
