package module_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

type Letter struct {
	Letter string `json:"letter"`
}

// Answering is a module of two modules: one judges a review, and the other answers it in a letter.
// They are in exported fields.
type Answering struct {
	Judge *module.Predict[Review, Verdict]
	Write *module.ChainOfThought[Review, Letter]
}

// NewAnswering returns an Answering.
func NewAnswering(model llms.Model) *Answering {
	write := signature.Must(signature.New[Review, Letter]("Answer the customer kindly."))
	return &Answering{module.NewPredict(judge, model, nil), module.NewChainOfThought(write, model, nil)}
}

// Run implements [module.Module]. The function that runs it records both parts, even if the second one fails.
func (a *Answering) Run(ctx context.Context, in Review) (*module.Prediction[Letter], error) {
	verdict, err := a.Judge.Run(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("judging: %w", err)
	}
	letter, err := a.Write.Run(ctx, Review{fmt.Sprintf("%s (%s)", in.Text, verdict.Output.Mood)})
	if err != nil {
		return nil, fmt.Errorf("writing: %w", err)
	}
	return &module.Prediction[Letter]{Output: letter.Output}, nil
}

// Any struct with a method Run is a module. Its predictors have paths and can be changed, cloned, saved and loaded;
// and it can be streamed, tried several times, or run for many inputs like every other module.
func ExampleModule() {
	model := llmtest.New(
		"[[ ## mood ## ]]\nbad\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]",
		"[[ ## reasoning ## ]]\nIt broke twice.\n\n[[ ## letter ## ]]\nWe are sorry.\n\n[[ ## completed ## ]]",
	)
	answering := NewAnswering(model)

	// Change a clone, and save what it was taught.
	taught := module.Clone(answering)
	for path, p := range module.Predictors(taught) {
		fmt.Println(path, "is told:", p.Spec.Instructions())
	}
	taught.Write.Predictor.Hint = "In one sentence."
	var state bytes.Buffer
	if err := module.Save(&state, taught); err != nil {
		log.Fatal(err)
	}

	// Another program creates the module again, loads the state and observes a run.
	if err := module.Load(&state, answering); err != nil {
		log.Fatal(err)
	}
	stream := module.Start(context.Background(), answering, Review{"Broke twice."})
	for e, err := range stream.Events() {
		if err != nil {
			log.Fatal(err)
		}
		if asked, ok := e.(event.ModelRequest); ok {
			first, _, _ := strings.Cut(asked.Question(), "\n")
			fmt.Println(asked.Module, "asks:", first)
		}
	}
	pred, err := stream.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Letter, pred.Trajectory.Usage().Calls, "calls")
	// Output:
	// Judge is told: Judge the review.
	// Write is told: Answer the customer kindly.
	// Predict asks: [[ ## text ## ]]
	// ChainOfThought asks: In one sentence.
	// We are sorry. 2 calls
}

// The reward says what is wrong, and the next attempt is told about it.
func ExampleRefine() {
	model := llmtest.New(
		"[[ ## reasoning ## ]]\nIt broke.\n\n[[ ## letter ## ]]\nWe are sorry.\n\n[[ ## completed ## ]]",
		"[[ ## reasoning ## ]]\nA refund was asked for.\n\n[[ ## letter ## ]]\nWe are sorry. A refund is on its "+
			"way.\n\n[[ ## completed ## ]]",
	)
	write := NewAnswering(model).Write
	refunds := func(_ context.Context, _ Review, pred *module.Prediction[Letter]) (module.Score, error) {
		if strings.Contains(pred.Output.Letter, "refund") {
			return module.Score{Value: 1}, nil
		}
		return module.Score{Feedback: "Say what becomes of the money."}, nil
	}
	pred, err := module.NewRefine(write, 3, refunds, 1, nil).Run(context.Background(), Review{"Broke twice."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Letter)
	fmt.Println(strings.SplitAfterN(model.Requests()[1].Last(), "\n", 5)[3])
	// Output:
	// We are sorry. A refund is on its way.
	// Say what becomes of the money.
}

// The attempts are made at the same time and compared in one more call.
func ExampleMultiChainComparison() {
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Last(), "[[ ## attempts ## ]]") {
			return llmtest.Reply{Text: `{"reasoning": "Twice is a pattern.", "mood": "bad", "score": 1}`}, nil
		}
		return llmtest.Reply{Text: `{"reasoning": "It broke.", "mood": "bad", "score": 0.6}`}, nil
	})
	think := module.NewChainOfThought(judge, model, nil)
	pred, err := module.NewMultiChainComparison(judge, think, 3, model, nil).
		Run(context.Background(), Review{"Broke twice."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v: %s %d calls\n", pred.Output, pred.Trajectory.Reasoning(), pred.Trajectory.Usage().Calls)
	// Output: {Mood:bad Score:1}: Twice is a pattern. 4 calls
}
