package module_test

import (
	"context"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools"
)

// turns is a model with one reply at first and another one afterwards.
type turns struct{ first, then steady }

func (m turns) GenerateContent(
	ctx context.Context,
	messages []llms.MessageContent,
	o ...llms.CallOption,
) (*llms.ContentResponse, error) {
	if len(messages) == 2 {
		return m.first.GenerateContent(ctx, messages, o...)
	}
	return m.then.GenerateContent(ctx, messages, o...)
}

func (m turns) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

// BenchmarkReAct measures the cost of two steps besides the model: a call and the answer.
func BenchmarkReAct(b *testing.B) {
	set, err := tools.NewSet(
		b.Context(),
		tools.Func("double", "Doubles.", func(_ context.Context, o orders) (int, error) { return 2 * o.Limit, nil }, nil),
	)
	if err != nil {
		b.Fatal(err)
	}
	act := module.NewReAct(adding, turns{says(action("double", `{"limit": 1}`)), says(submits1)}, set, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := act.Run(b.Context(), anything); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChainOfThought is BenchmarkPredict with reasoning.
func BenchmarkChainOfThought(b *testing.B) {
	c := module.NewChainOfThought(
		grading,
		says(
			"[[ ## reasoning ## ]]\nIt says so.\n\n[[ ## answer ## ]]\nIn Bergen.\n\n[[ ## score ## ]]\n80\n\n[[ ## "+
				"completed ## ]]",
		),
		nil,
	)
	in := inContext{"Where does it rain?", "It rains in Bergen, and it rains again."}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Run(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
