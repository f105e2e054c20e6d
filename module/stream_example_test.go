package module_test

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
)

// The events are printed as they happen. The answer is typed.
func ExampleStart() {
	model := llmtest.New("[[ ## mood ## ]]\nbad\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]")
	stream := module.Start(context.Background(), module.NewPredict(judge, model, nil), Review{"Broke twice."})
	for e, err := range stream.Events() {
		if err != nil {
			log.Fatal(err)
		}
		switch e := e.(type) {
		case event.ModelRequest:
			fmt.Println("asked in step", e.Step)
		case event.RunEnd:
			fmt.Println("answered", string(e.Output))
		}
	}
	pred, err := stream.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Mood)
	// Output:
	// asked in step 1
	// answered {"mood":"bad","score":0.9}
	// bad
}

// The model is asked the same question three times, and the most frequent answer is returned.
func ExampleSamples() {
	reply := "[[ ## mood ## ]]\n%s\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]"
	model := llmtest.New(fmt.Sprintf(reply, "bad"), fmt.Sprintf(reply, "good"), fmt.Sprintf(reply, "bad"))
	results, err := module.Samples(
		context.Background(),
		module.NewPredict(judge, model, nil),
		Review{"Broke twice."},
		3,
		nil,
	)
	if err != nil {
		log.Fatal(err)
	}
	pred, err := module.Majority(results, func(v Verdict) any { return v.Mood })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Mood, "after", pred.Trajectory.Usage().Calls, "calls")
	// Output: bad after 3 calls
}
