package wire_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// The time that a call waits for its budget does not count as time of the attempt, and the attempt is charged once.
func TestLimitedWaitsForBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := lm.Func(func(context.Context, []llms.MessageContent, []llms.CallOption) (*llms.ContentResponse, error) {
			time.Sleep(time.Minute)
			return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "x", StopReason: "stop"}}}, nil
		})
		model := wire.Limited(slow, 2*time.Minute)
		ctx := budget.With(t.Context(), budget.Limits{Concurrency: 1})
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				question := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "?")}
				if _, err := lm.Generate(ctx, model, question); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := budget.Of(ctx).Spent().Calls; n != 5 {
			t.Errorf("%d calls were charged", n)
		}
	})
}
