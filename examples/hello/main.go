// Hello is a minimal complete program.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type City struct {
	Name string `json:"name"`
}

type Advice struct {
	Umbrella bool   `json:"umbrella"`
	Why      string `json:"why" jsonschema:"description=one sentence"`
}

func forecast(ctx context.Context, c City) ([]float64, error) { // any Go function
	return []float64{0.2, 3.1, 0}, nil
}

func main() {
	ctx := context.Background()
	model := must(models.Open("openai:gpt-5.1", nil)) // or any langchaingo llms.Model
	box := must(sandbox.New(nil))
	defer box.Close()
	set := must(tools.NewSet(ctx, tools.Func("forecast", "Rain in mm for the next three hours.", forecast,
		&tools.Hints{Class: tools.Read}))) // it changes nothing; without this hint, each call counts as an effect
	advise := signature.Must(signature.New[City, Advice]("Do I need an umbrella in this city?"))

	pred := must(module.NewCodeAct(advise, model, box, set, nil).Run(ctx, City{"Bergen"}))
	fmt.Println(pred.Output.Umbrella, pred.Output.Why)
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
