package optimize_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
)

// instant is a model that answers at once.
type instant struct{ response *llms.ContentResponse }

func (m instant) GenerateContent(
	context.Context, []llms.MessageContent, ...llms.CallOption,
) (*llms.ContentResponse, error) {
	return m.response, nil
}

func (m instant) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

// BenchmarkAccept evaluates candidates on 1,000 examples, with a log of replies. x-raw is the time divided by that of
// evaluate.Evaluate.
func BenchmarkAccept(b *testing.B) {
	response, err := llmtest.New(reply("text", "ba").Text).GenerateContent(b.Context(),
		[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "?")})
	if err != nil {
		b.Fatal(err)
	}
	m := module.NewPredict(spelled, instant{response}, nil)
	d := data{Train: numbers(0, 10), Val: numbers(1000, 2000)}
	var raw, accepted time.Duration
	by := optimize.OptimizerFunc(func(ctx context.Context, t *optimize.Task) error {
		for i := 0; b.Loop(); i++ {
			c := t.New(t.Start(), "another")
			s := c.States()["Predictor"]
			s.Demos = t.Labeled("Predictor", []int{i % 10, i / 10 % 10, i / 100 % 10})
			c.States()["Predictor"] = s
			began := time.Now()
			if err := t.Accept(ctx, c); err != nil {
				return err
			}
			accepted += time.Since(began)
			began = time.Now()
			if _, err := evaluate.Evaluate(ctx, m, d.Val, right, nil); err != nil {
				return err
			}
			raw += time.Since(began)
		}
		return nil
	})
	dir := filepath.Join(b.TempDir(), "search")
	if _, err := optimize.Run(b.Context(), m, by, d, right, &optimize.Options{Dir: dir}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(accepted)/float64(raw), "x-raw")
	b.ReportMetric(float64(b.N)*1000/accepted.Seconds(), "examples/s")
}
