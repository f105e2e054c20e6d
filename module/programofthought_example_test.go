package module_test

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

type Prices struct {
	Prices []float64 `json:"prices"`
}

type Median struct {
	Median float64 `json:"median"`
}

// The model writes a program that computes the answer. The first one is right, so the model is called once.
func ExampleProgramOfThought() {
	sig := signature.Must(signature.New[Prices, Median]("Find the median of the prices."))
	box, err := sandbox.NewInProcess(nil) // sandbox.New for programs of real models
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New("```js\nconst sorted = prices.toSorted((a, b) => a - b), n = sorted.length;\n" +
		"submit({median: (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2});\n```")
	pred, err := module.NewProgramOfThought(sig, model, box, nil).
		Run(context.Background(), Prices{[]float64{30, 10, 20, 40}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Median, "after", pred.Trajectory.Usage().Calls, "call")
	// Output:
	// 25 after 1 call
}

// A model that never submits is asked for an answer when the steps are used up.
func ExampleOptions_extract() {
	sig := signature.Must(signature.New[Prices, Median]("Find the median of the prices."))
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New(
		"```js\nprices.toSorted((a, b) => a - b)\n```",
		"[[ ## median ## ]]\n20\n\n[[ ## completed ## ]]",
	)
	options := &module.Options{MaxIters: 1, Extract: true}
	pred, err := module.NewCodeAct(sig, model, box, nil, options).Run(context.Background(), Prices{[]float64{30, 10, 20}})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range pred.Trajectory.Steps {
		fmt.Printf("extracted: %t, program: %q\n", step.Extracted, step.Code)
	}
	fmt.Println(pred.Output.Median)
	// Output:
	// extracted: false, program: "prices.toSorted((a, b) => a - b)"
	// extracted: true, program: ""
	// 20
}
