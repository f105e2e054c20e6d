package module_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

func init() {
	scenarios["react report"] = runReAct[orders, report](orders{Limit: 3}, module.Options{})
	scenarios["react extract"] = runReAct[orders, report](orders{Limit: 3}, module.Options{Extract: true})
	scenarios["chainofthought verdict"] = runChainOfThought[review, verdict](review{"Broke twice."})
	scenarios["chainofthought argued"] = runChainOfThought[review, argued](review{"Broke twice."})
	scenarios["chainofthought weighed"] = runChainOfThought[argument, verdict](argument{"It broke, so it is bad."})
}

// argued has an output named "args".
type argued struct {
	Mood      string `json:"mood"      jsonschema:"enum=good,enum=bad"`
	Reasoning string `json:"reasoning" jsonschema:"description=for the customer"`
}

// argument has an input named "args".
type argument struct {
	Reasoning string `json:"reasoning"`
}

func runReAct[In, Out any](in In, o module.Options) func(*testing.T, *setup) string {
	return func(t *testing.T, s *setup) string {
		sig := signature.Must(signature.New[In, Out]("Report on the orders."))
		o := o // a separate copy for each scenario
		o.MaxIters = s.steps
		act := module.NewReAct(sig, s.model, s.handlers.set(t), &o)
		pred, err := act.Run(t.Context(), in)
		return show(t, pred, err)
	}
}

func runChainOfThought[In, Out any](in In) func(*testing.T, *setup) string {
	return func(t *testing.T, s *setup) string {
		sig := signature.Must(signature.New[In, Out]("Judge the review."))
		pred, err := module.NewChainOfThought(sig, s.model, nil).Run(t.Context(), in)
		text := show(t, pred, err)
		if pred != nil {
			text += "--- reasoning ---\n" + pred.Trajectory.Reasoning() + "\n"
		}
		return text
	}
}

// A ReAct works with the JSON adapter.
func TestReActWithJSON(t *testing.T) {
	t.Parallel()
	set := toolSet(
		t,
		tools.Func("double", "", func(_ context.Context, o orders) (int, error) { return 2 * o.Limit, nil }, nil),
	)
	model := llmtest.New(
		`{"thought": "Double it.", "tool": "double", "args": {"limit": 2}}`,
		`{"tool": "submit", "args": {"total": 4}}`,
	)
	pred, err := module.NewReAct(adding, model, set, &module.Options{Adapter: module.JSON()}).Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 4 || pred.Trajectory.Steps[0].Reasoning != "Double it." {
		t.Errorf("got %+v, %v", pred, err)
	}
}

// Earlier turns are shown in the form of calls.
func TestReActWithHistory(t *testing.T) {
	t.Parallel()
	type talk struct {
		Before   signature.History `json:"before,omitempty"`
		Question string            `json:"question"`
	}
	talking := signature.Must(signature.New[talk, sum]("Talk."))
	turn, err := talking.Turn(talk{Question: "One?"}, sum{1})
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New(submits1)
	if _, err := module.NewReAct(talking, model, nil, nil).
		Run(t.Context(), talk{signature.History{turn}, "Two?"}); err != nil {
		t.Fatal(err)
	}
	want := "[[ ## tool ## ]]\nsubmit\n\n[[ ## args ## ]]\n{\"total\":1}\n\n[[ ## completed ## ]]"
	if got := fmt.Sprint(model.Requests()[0].Messages[2].Parts[0]); !strings.HasSuffix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
