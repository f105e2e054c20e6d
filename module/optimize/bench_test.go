package optimize_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
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

// BenchmarkGEPA runs a search in which nearly all proposals are rejected, with models that take 10 ms for a call. x-raw is
// the time of a search divided by the time that sixteen workers need for the same number of calls.
func BenchmarkGEPA(b *testing.B) {
	const workers, latency = 16, 10 * time.Millisecond
	texts := func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		time.Sleep(latency)
		return llmtest.Reply{Text: fmt.Sprint("Attempt ", r.N)}, nil
	}
	student := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		time.Sleep(latency)
		return reply("text", "ba"), nil
	})
	d := data{Train: numbers(0, 200), Val: numbers(1000, 1040)}
	var raw, searched time.Duration
	for b.Loop() {
		began := time.Now()
		r, err := optimize.Run(b.Context(), module.NewPredict(spelled, student, nil), optimize.GEPA{Iterations: 150}, d,
			right, &optimize.Options{Reflection: llmtest.Func(texts), Workers: workers,
				Budget: optimize.Budget{StudentCalls: 1000}})
		if err != nil {
			b.Fatal(err)
		}
		searched += time.Since(began)
		began = time.Now()
		var pool sync.WaitGroup
		for range workers {
			pool.Go(func() { time.Sleep(latency * time.Duration(r.Spent.StudentCalls+r.Spent.ReflectionCalls) / workers) })
		}
		pool.Wait()
		raw += time.Since(began)
		b.ReportMetric(float64(r.Spent.StudentCalls), "calls")
	}
	b.ReportMetric(float64(searched)/float64(raw), "x-raw")
}
