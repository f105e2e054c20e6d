package module_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
)

// The prompt of an advisor is bounded, however many calls there were, and so is the advice that an
// attempt gets.
func TestAdviceIsBounded(t *testing.T) {
	t.Parallel()
	for _, calls := range []int{1, 50, 400} {
		advised, advisor, attempts := false, 0, []int{}
		long := strings.Repeat("m", 3000)
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			if strings.Contains(r.Text(), "The parts of the program") {
				advised, advisor = true, max(advisor, len(r.Text()))
				return llmtest.Reply{Text: `{"discussion": "?", "advice": {"Predictor": "` + strings.Repeat("a", 50_000) +
					`", "Sub": ""}}`}, nil
			}
			attempts = append(attempts, len(r.Text()))
			return llmtest.Reply{Text: fence(fmt.Sprintf(`await Promise.all(Array.from({length: %d}, (_, i) => llm(i + `+
				`"p".repeat(3000)))); submit({total: 1})`, calls))}, nil
		})
		sub := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply,
			error) {
			return llmtest.Reply{Text: long}, nil
		})
		m := module.NewRLM(adding, model, largeBox(t), nil, &module.RLMOptions{Sub: sub, MaxCalls: 1000})
		mustRun(t, module.NewRefine(m, 2, never, 1, nil), anything)
		if !advised || advisor > 90_000 || len(attempts) != 2 || attempts[1]-attempts[0] > 5000 {
			t.Errorf("%d calls: the advisor was sent %d bytes, the attempts %d", calls, advisor, attempts)
		}
	}
}

// If all attempts are to be made, no score is sufficient, and the advisor is told so in words.
func TestAdviceWithoutThreshold(t *testing.T) {
	t.Parallel()
	for threshold, want := range map[float64]string{
		math.Inf(1): "0; the highest possible score is wanted\n",
		2:           "0, but at least 2 is wanted\n",
	} {
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: advised(r)}, nil
		})
		if _, err := module.NewRefine(module.NewPredict(adding, model, nil), 2, never, threshold, nil).Run(t.Context(),
			anything); err != nil {
			t.Fatal(err)
		}
		if requests := model.Requests(); len(requests) != 3 || !strings.Contains(requests[1].Text(), want) {
			t.Errorf("%g: %d requests, without %q", threshold, len(requests), want)
		}
	}
}
