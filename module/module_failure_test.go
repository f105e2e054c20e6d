package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// failure is a way in which a model fails, and a check of the error.
type failure struct {
	name  string
	model func(cancel context.CancelFunc) llms.Model
	tells func(error) bool
}

func waysToFail() []failure {
	down := errors.New("the provider is down")
	says := func(r llmtest.Reply, err error) func(context.CancelFunc) llms.Model {
		return func(context.CancelFunc) llms.Model {
			return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) { return r, err })
		}
	}
	is := func(kind models.Kind) func(error) bool {
		return func(err error) bool {
			var e *models.Error
			return errors.As(err, &e) && e.Kind == kind
		}
	}
	noAnswer := func(err error) bool { return errors.Is(err, module.ErrNoAnswer) || errors.Is(err, module.ErrMaxIters) }
	return []failure{
		{"model error", says(llmtest.Reply{}, down), func(err error) bool { return errors.Is(err, down) }},
		{"refusal", says(llmtest.Reply{Text: "I can't", StopReason: "content_filter"}, nil), is(models.KindRefused)},
		{"cut off", says(llmtest.Reply{Text: "[[ ## total ## ]]\n1", StopReason: "length"}, nil), func(err error) bool {
			return errors.Is(err, module.ErrMaxIters) ||
				errors.Is(err, module.ErrNoAnswer) && strings.Contains(err.Error(), "llms.WithMaxTokens")
		}},
		{"cut off at the start", says(llmtest.Reply{StopReason: "length"}, nil), func(err error) bool {
			return strings.Contains(err.Error(), "cut off before its answer began")
		}},
		{"garbage", says(llmtest.Reply{Text: "\xff{{{ ]] ``` <think"}, nil), noAnswer},
		{"cancelled during the call", func(cancel context.CancelFunc) llms.Model {
			return llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
				cancel()
				<-ctx.Done()
				return llmtest.Reply{}, ctx.Err()
			})
		}, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"budget spent", func(context.CancelFunc) llms.Model {
			return bound(llmtest.New("garbage", "garbage"), budget.Limits{Calls: 1})
		}, func(err error) bool { return errors.Is(err, budget.ErrSpent) }},
	}
}

// For every module, every failure of the model is an IncompleteError that wraps the failure and has the calls, and
// never a prediction.
func TestEveryModuleFails(t *testing.T) {
	t.Parallel()
	var model struct{ llms.Model }
	kinds := everyKind(t, &model)
	for _, f := range waysToFail() {
		for _, k := range kinds {
			ctx, cancel := context.WithCancel(t.Context())
			model.Model = f.model(cancel)
			name := fmt.Sprintf(
				"%s of %s",
				f.name,
				strings.TrimPrefix(strings.SplitN(fmt.Sprintf("%T", k.m), "[", 2)[0], "*module."),
			)
			var failed int
			ctx = module.Observe(ctx, func(_ context.Context, e event.Event) {
				if _, ok := e.(event.RunEnd); ok && e.From().Parent == 0 {
					failed++
				}
			})
			pred, err := k.m.Run(ctx, anything)
			cancel()
			var part *module.IncompleteError
			switch {
			case pred != nil || !errors.As(err, &part) || !f.tells(err):
				t.Errorf("%s: got %v and %v", name, pred, err)
			case part.Trajectory.Usage().Calls == 0:
				t.Errorf("%s: no call is accounted for", name)
			case failed != 1:
				t.Errorf("%s: %d events say that the run failed", name, failed)
			}
		}
	}
}
