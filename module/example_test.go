package module_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type Review struct {
	Text string `json:"text"`
}

type Verdict struct {
	Mood  string  `json:"mood"  jsonschema:"enum=good,enum=bad"`
	Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
}

var judge = signature.Must(signature.New[Review, Verdict]("Judge the review."))

// The first reply violates the signature. The model is told what is wrong and called again.
func ExamplePredict() {
	model := llmtest.New(
		"[[ ## mood ## ]]\nawful\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]",
		"[[ ## mood ## ]]\nbad\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]",
	)
	pred, err := module.NewPredict(judge, model, nil).Run(context.Background(), Review{"Broke twice."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v after %d calls\n", pred.Output, pred.Trajectory.Usage().Calls)
	fmt.Println(pred.Trajectory.Steps[0].Observation)
	// Output:
	// {Mood:bad Score:0.9} after 2 calls
	// Your reply cannot be used:
	// the field "mood" has a value that is not allowed: the value must be one of "good", "bad", not "awful"
	//
	// Reply with [[ ## mood ## ]], [[ ## score ## ]], and at the end [[ ## completed ## ]].
}

type Country struct {
	Name string `json:"name"`
}

type Population struct {
	Total int `json:"total" jsonschema:"minimum=1"`
}

type City struct {
	City string `json:"city"`
}

func inhabitants(_ context.Context, c City) (int, error) {
	known := map[string]int{"Bergen": 290000, "Oslo": 720000}
	n, ok := known[c.City]
	if !ok {
		return 0, fmt.Errorf("no such city: %s", c.City)
	}
	return n, nil
}

// The model writes a program that calls a Go function as a tool and submits the answer. The first program misspells
// an argument, so the check refuses it.
func ExampleCodeAct() {
	sig := signature.Must(signature.New[Country, Population]("Add up the cities."))
	set, err := tools.NewSet(context.Background(),
		tools.Func("inhabitants", "Counts the inhabitants of a city.", inhabitants, &tools.Hints{Class: tools.Read}))
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil) // sandbox.New for programs of real models
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New(
		"```js\nsubmit({total: await inhabitants({town: 'Oslo'})})\n```",
		"```js\nconst all = await Promise.all(['Oslo', 'Bergen'].map(city => inhabitants({city})));\nsubmit({total: "+
			"all[0] + all[1]})\n```",
	)
	options := &module.Options{OnEvent: func(_ context.Context, e event.Event) {
		if e, ok := e.(event.ProgramEnd); ok && e.Outcome.Failure != nil {
			fmt.Println(e.Outcome.Failure)
		}
	}}
	pred, err := module.NewCodeAct(sig, model, box, set, options).Run(context.Background(), Country{"Norway"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pred.Output.Total)
	// Output:
	// line 1, column 22: inhabitants: city is required; town is not a known property (known: city) (it is declared as inhabitants(args: {city: string}))
	// 1 | submit({total: await inhabitants({town: 'Oslo'})})
	//   |                      ^
	// 1010000
}

// If there is no answer, the error has the calls.
func ExampleIncompleteError() {
	sig := signature.Must(signature.New[Country, Population]("Move somebody to Oslo."))
	move := func(context.Context, City) (string, error) { return "moved", nil }
	set, err := tools.NewSet(context.Background(), tools.Func("move", "Moves somebody.", move, nil))
	if err != nil {
		log.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New("```js\nawait move({city: 'Oslo'})\n```")
	_, err = module.NewCodeAct(sig, model, box, set, &module.Options{MaxIters: 1}).
		Run(context.Background(), Country{"Norway"})

	var incomplete *module.IncompleteError
	if errors.As(err, &incomplete) {
		for _, e := range incomplete.Trajectory.Calls {
			fmt.Printf("%s(%s): %s\n", e.Tool, e.Args, e.State)
		}
	}
	fmt.Println(errors.Is(err, module.ErrMaxIters))
	// Output:
	// move({"city":"Oslo"}): ok
	// true
}
