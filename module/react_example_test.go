package module_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// The model explains its answer first, in one call. The reasoning is not part of the answer.
func ExampleChainOfThought() {
	model := llmtest.New("[[ ## reasoning ## ]]\nA thing that breaks twice is a bad one.\n\n[[ ## mood ## " +
		"]]\nbad\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]")
	pred, err := module.NewChainOfThought(judge, model, nil).Run(context.Background(), Review{"Broke twice."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", pred.Output)
	fmt.Println(pred.Trajectory.Reasoning())
	// Output:
	// {Mood:bad Score:0.9}
	// A thing that breaks twice is a bad one.
}

// The model calls a Go function, one call at a time, and submits the answer. It is told about its mistakes.
func ExampleReAct() {
	sig := signature.Must(signature.New[City, Population]("Count the inhabitants."))
	set, err := tools.NewSet(context.Background(),
		tools.Func("inhabitants", "Counts the inhabitants of a city.", inhabitants, &tools.Hints{Class: tools.Read}))
	if err != nil {
		log.Fatal(err)
	}
	model := llmtest.New(
		"[[ ## thought ## ]]\nLook it up.\n\n[[ ## tool ## ]]\ninhabitant\n\n[[ ## args ## ]]\n{\"city\": \"Oslo\"}"+
			"\n\n[[ ## completed ## ]]",
		"[[ ## thought ## ]]\nOnce more.\n\n[[ ## tool ## ]]\ninhabitants\n\n[[ ## args ## ]]\n{\"city\": \"Oslo\"}"+
			"\n\n[[ ## completed ## ]]",
		"[[ ## thought ## ]]\nThat is it.\n\n[[ ## tool ## ]]\nsubmit\n\n[[ ## args ## ]]\n{\"total\": 720000}\n\n[[ "+
			"## completed ## ]]",
	)
	pred, err := module.NewReAct(sig, model, set, nil).Run(context.Background(), City{"Oslo"})
	if err != nil {
		log.Fatal(err)
	}
	pred.Trajectory.Duration = 0 // durations differ
	for i := range pred.Trajectory.Steps {
		step := &pred.Trajectory.Steps[i]
		if step.Duration = 0; step.Outcome != nil {
			step.Outcome.Duration = 0
		}
	}
	fmt.Print(pred.Trajectory)
	fmt.Println(pred.Output.Total)
	// Output:
	// ReAct, 0s
	// step 1, 0s, scripted
	//   reply:
	//     [[ ## thought ## ]]
	//     Look it up.
	//
	//     [[ ## tool ## ]]
	//     inhabitant
	//
	//     [[ ## args ## ]]
	//     {"city": "Oslo"}
	//
	//     [[ ## completed ## ]]
	//   told:
	//     Nothing was called: there is no tool "inhabitant"; did you mean inhabitants?
	//     To give the answer, call submit.
	// step 2, 0s, scripted
	//   reasoning:
	//     Once more.
	//   program, 0s:
	//     inhabitants({"city":"Oslo"})
	//   call inhabitants({"city":"Oslo"}) → 720000
	//   told:
	//     inhabitants returned:
	//     720000
	// step 3, 0s, scripted
	//   reasoning:
	//     That is it.
	//   program, 0s:
	//     submit({"total":720000})
	// answer:
	//   {"total":720000}
	// scripted: 3 calls of the model, 1386 tokens in, 86 out
	// 720000
}

// A payment whose outcome is unknown is not made a second time: the run ends and says so.
func ExampleReAct_unknown() {
	sig := signature.Must(signature.New[City, Population]("Pay for the city."))
	pay := func(context.Context, City) (bool, error) { return false, context.DeadlineExceeded }
	set, err := tools.NewSet(context.Background(), tools.Func("pay", "Pays.", pay, nil))
	if err != nil {
		log.Fatal(err)
	}
	again := "[[ ## thought ## ]]\nPay.\n\n[[ ## tool ## ]]\npay\n\n[[ ## args ## ]]\n{\"city\": \"Oslo\"}\n\n[[ " +
		"## completed ## ]]"
	_, err = module.NewReAct(sig, llmtest.New(again, again), set, nil).Run(context.Background(), City{"Oslo"})
	var incomplete *module.IncompleteError
	if errors.As(err, &incomplete) {
		fmt.Println(incomplete.Trajectory.Calls[0].State)
	}
	fmt.Println(err)
	// Output:
	// unknown
	// module: no answer after 2 steps: tool pay: journal: whether E1 pay({"city":"Oslo"}) took effect is unknown, so the call was not made again; find out what happened, set Options.Reconcile, or, if repeating it does no harm, set the tool's class to Idempotent or Read
}
