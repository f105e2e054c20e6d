package llmtest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type Task struct {
	City string `json:"city"`
}

type Answer struct {
	Umbrella bool `json:"umbrella"`
}

// A test of code whose model writes programs: each reply has one in a code fence. Other modules
// read values under the markers that the prompt shows, or one JSON object: {"umbrella": true}.
func ExampleNew_programs() {
	sig := signature.Must(signature.New[Task, Answer]("Does one need an umbrella?"))
	ctx := context.Background()
	set, err := tools.NewSet(ctx, tools.Func("forecast", "Rain in mm.",
		func(context.Context, Task) ([]float64, error) { return []float64{0.2, 3.1}, nil }, &tools.Hints{Class: tools.Read}))
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()

	model := llmtest.New(
		"I look first.\n```js\nawait forecast({city})\n```",
		"```js\nsubmit({umbrella: Math.max(...await forecast({city})) > 1})\n```",
	)
	pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(ctx, Task{"Bergen"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Umbrella, "after", len(model.Requests()), "requests")
	// Output:
	// true after 2 requests
}
