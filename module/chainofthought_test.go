package module_test

import (
	"context"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// A model that reasons before its reply may put the reasoning only there.
func TestReasoningKeptApart(t *testing.T) {
	t.Parallel()
	const bare = "[[ ## total ## ]]\n3\n\n[[ ## completed ## ]]"
	for reply, want := range map[string]string{bare: "thought before", "[[ ## reasoning ## ]]\nOne and two.\n\n" +
		bare: "One and two."} {
		model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: reply, Reasoning: "thought before"}, nil
		})
		pred, err := module.NewChainOfThought(adding, model, nil).Run(t.Context(), anything)
		if err != nil || pred.Output.Total != 3 || pred.Trajectory.Reasoning() != want || len(model.Requests()) != 1 {
			t.Errorf("got %+v, %v, want %s", pred, err, want)
		}
	}
	if got := new(module.Trajectory).Reasoning(); got != "" {
		t.Errorf("got the reasoning %q from an empty trajectory", got)
	}
}

// Additional outputs of a predictor are part of the reasoning.
func TestMoreThanTheSignature(t *testing.T) {
	t.Parallel()
	model := llmtest.New("[[ ## plan ## ]]\nAdd.\n\n[[ ## total ## ]]\n3\n\n[[ ## check ## ]]\n3\n\n[[ ## completed ## ]]")
	p := module.NewPredict(adding, model, nil)
	spec := p.Predictor.Spec
	outputs := append([]signature.Field{{Name: "plan", Required: true}}, spec.Outputs()...)
	outputs = append(
		outputs,
		signature.Field{Name: "check", Required: true},
		signature.Field{Name: "doubt", Required: true},
	)
	var err error
	if p.Predictor.Spec, err = signature.NewSpec("", spec.Inputs(), outputs); err != nil {
		t.Fatal(err)
	}
	pred, err := p.Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 3 || pred.Trajectory.Reasoning() != "Add.\n\n3" {
		t.Errorf("got %+v, %v", pred, err)
	}
}

// ChainOfThought streams as Predict does, under its own name.
func TestChainOfThoughtStream(t *testing.T) {
	t.Parallel()
	s := module.Start(t.Context(), module.NewChainOfThought(adding, llmtest.New(fits), nil), anything)
	got, err := kinds(t, s)
	if len(got) != 4 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	var from []string
	ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) { from = append(from, e.From().Module) })
	if _, err := module.NewChainOfThought(adding, llmtest.New(fits), nil).
		Run(ctx, anything); err != nil ||
		from[0] != "ChainOfThought" {
		t.Errorf("events of %v, %v", from, err)
	}
}
