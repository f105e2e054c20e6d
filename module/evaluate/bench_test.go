package evaluate_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
)

// steady is a model that gives the same reply immediately.
type steady struct{}

var reply = &llms.ContentResponse{Choices: []*llms.ContentChoice{{
	Content: "[[ ## capital ## ]]\nright\n\n[[ ## completed ## ]]", StopReason: "stop",
	GenerationInfo: map[string]any{"PromptTokens": 1, "CompletionTokens": 1},
}}}

func (steady) GenerateContent(
	context.Context, []llms.MessageContent, ...llms.CallOption,
) (*llms.ContentResponse, error) {
	return reply, nil
}

func (steady) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return reply.Choices[0].Content, nil
}

// BenchmarkEvaluate measures what an evaluation of 1,000 examples costs, without the model. The raw floor is the same
// runs of the module in a loop, and x-raw how often it fits into the evaluation.
func BenchmarkEvaluate(b *testing.B) {
	for _, test := range []struct {
		name string
		o    func(b *testing.B) *evaluate.Options
	}{
		{"memory", func(*testing.B) *evaluate.Options { return &evaluate.Options{Workers: 1} }},
		{"no trajectories", func(*testing.B) *evaluate.Options {
			return &evaluate.Options{Workers: 1, DropTrajectories: true}
		}},
		{"file", func(b *testing.B) *evaluate.Options {
			return &evaluate.Options{Workers: 1, Results: filepath.Join(b.TempDir(), "results.jsonl")}
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			const n = 1000
			examples, _ := numbers(n, all)
			m := module.NewPredict(asking, steady{}, nil)
			var ours, floor time.Duration
			b.ReportAllocs()
			for b.Loop() {
				o := test.o(b)
				start := time.Now()
				r, err := evaluate.Evaluate(b.Context(), m, examples, evaluate.ExactMatch[Question, Answer](), o)
				if err != nil || r.Score.Mean != 1 {
					b.Fatal(r, err)
				}
				middle := time.Now()
				for _, e := range examples {
					if _, err := m.Run(b.Context(), e.In); err != nil {
						b.Fatal(err)
					}
				}
				ours, floor = ours+middle.Sub(start), floor+time.Since(middle)
			}
			b.ReportMetric(float64(n*b.N)/ours.Seconds(), "examples/s")
			b.ReportMetric(float64(ours)/float64(floor), "x-raw")
		})
	}
}

// BenchmarkWaitingModel measures an evaluation of 5,000 examples with 16 workers and a model that takes 10 ms. The raw
// floor is as many workers that only sleep.
func BenchmarkWaitingModel(b *testing.B) {
	const n, workers, wait = 5000, 16, 10 * time.Millisecond
	examples, _ := numbers(n, all)
	m := module.NewPredict(asking, waiting{wait}, nil)
	for _, name := range []string{"memory", "file"} {
		b.Run(name, func(b *testing.B) {
			var ours, floor time.Duration
			for b.Loop() {
				o := &evaluate.Options{Workers: workers}
				if name == "file" {
					o.Results = filepath.Join(b.TempDir(), "results.jsonl")
				}
				start := time.Now()
				r, err := evaluate.Evaluate(b.Context(), m, examples, evaluate.ExactMatch[Question, Answer](), o)
				if err != nil || r.Score.Mean != 1 {
					b.Fatal(r, err)
				}
				middle := time.Now()
				var next atomic.Int64
				var running sync.WaitGroup
				for range workers {
					running.Go(func() {
						for next.Add(1) <= n {
							time.Sleep(wait)
						}
					})
				}
				running.Wait()
				ours, floor = ours+middle.Sub(start), floor+time.Since(middle)
			}
			b.ReportMetric(float64(n*b.N)/ours.Seconds(), "examples/s")
			b.ReportMetric(float64(ours)/float64(floor), "x-raw")
		})
	}
}

// waiting is a steady model that takes some time.
type waiting struct{ time.Duration }

func (w waiting) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	time.Sleep(w.Duration)
	return steady{}.GenerateContent(ctx, messages, options...)
}

func (w waiting) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return reply.Choices[0].Content, nil
}
