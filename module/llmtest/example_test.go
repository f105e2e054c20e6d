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
		func(context.Context, Task) ([]float64, error) { return []float64{0.2, 3.1}, nil },
		&tools.Hints{Class: tools.Read}))
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

// A test of an agent, offline: the model and the tools answer from the folder. To record it again, run the test with
// WRIT_UPDATE=1.
func ExampleRecord() {
	t := &fakeTB{} // in a test, use its *testing.T
	defer t.end()
	ctx := context.Background()
	set, err := tools.NewSet(ctx, tools.Func("forecast", "Rain in mm.",
		func(context.Context, Task) ([]float64, error) { return []float64{0.2, 3.1}, nil },
		&tools.Hints{Class: tools.Read}))
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	// Without a key, the real model may be nil, unless it is recorded.
	real := llmtest.New("```js\nsubmit({umbrella: Math.max(...await forecast({city})) > 1})\n```")

	model, set := llmtest.Record(t, "testdata/weather", real, set, nil)
	sig := signature.Must(signature.New[Task, Answer]("Does one need an umbrella?"))
	pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(ctx, Task{"Bergen"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Umbrella, "after", len(real.Requests()), "requests to the real model")
	// Output:
	// true after 0 requests to the real model
}
