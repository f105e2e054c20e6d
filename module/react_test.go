package module_test

import (
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

func init() {
	scenarios["react report"] = runReAct[orders, report](orders{Limit: 3}, module.Options{})
	scenarios["react extract"] = runReAct[orders, report](orders{Limit: 3}, module.Options{Extract: true})
	scenarios["chainofthought verdict"] = runChainOfThought[review, verdict](review{"Broke twice."})
	scenarios["chainofthought argued"] = runChainOfThought[review, argued](review{"Broke twice."})
	scenarios["chainofthought weighed"] = runChainOfThought[argument, verdict](argument{"It broke, so it is bad."})
}

// argued has a reasoning of its own, as an answer.
type argued struct {
	Mood      string `json:"mood" jsonschema:"enum=good,enum=bad"`
	Reasoning string `json:"reasoning" jsonschema:"description=for the customer"`
}

// argument is a reasoning that goes in.
type argument struct {
	Reasoning string `json:"reasoning"`
}

func runReAct[In, Out any](in In, o module.Options) func(*testing.T, *setup) string {
	return func(t *testing.T, s *setup) string {
		sig := signature.Must(signature.New[In, Out]("Report on the orders."))
		o := o // each scenario has its own
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
