package module_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// cutting is a model whose caller is gone when the reply is there.
type cutting struct {
	llms.Model
	cancel func()
}

func (c cutting) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	defer c.cancel()
	return c.Model.GenerateContent(ctx, m, o...)
}

// A run that is cancelled tells a question that a cache answered from one that was
// under way.
func TestCancelledWithCache(t *testing.T) {
	t.Parallel()
	cache, err := models.NewCache(nil)
	if err != nil {
		t.Fatal(err)
	}
	kept := cache.Model(llmtest.New(`{"total": 1}`), "")
	if _, err := module.NewPredict(adding, kept, nil).Run(t.Context(), anything); err != nil {
		t.Fatal(err)
	}
	underway := func(cancel func()) llms.Model {
		return cache.Model(llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			cancel()
			<-ctx.Done()
			return llmtest.Reply{}, ctx.Err()
		}), "other")
	}
	for name, c := range map[string]struct {
		model func(cancel func()) llms.Model
		want  module.Usage
	}{
		"kept":     {func(cancel func()) llms.Model { return cutting{kept, cancel} }, module.Usage{Hits: 1}},
		"underway": {underway, module.Usage{Calls: 1}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := module.NewPredict(adding, c.model(cancel), nil).Run(ctx, anything)
		var part *module.IncompleteError
		if !errors.As(err, &part) || !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", name, err)
		}
		if got := part.Trajectory.Usage(); got != c.want {
			t.Errorf("%s: it cost %+v, want %+v", name, got, c.want)
		}
	}
}
