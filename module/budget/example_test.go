package budget_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
)

func ExampleWith() {
	type place struct {
		Country string `json:"country"`
	}
	type capital struct {
		Name string `json:"name"`
	}
	model := llmtest.New(`{"name": "Paris"}`, `{"name": "Rome"}`).With(models.Capabilities{Model: "small"})
	m := module.NewPredict(signature.Must(signature.New[place, capital]("Name the capital.")), model, nil)

	ctx := budget.With(context.Background(), budget.Limits{
		Calls: 1, Cost: 0.10,
		Prices: map[string]budget.Price{"small": {Input: 1, Output: 4}},
	})
	pred, err := m.Run(ctx, place{"France"})
	if err != nil {
		panic(err)
	}
	fmt.Println(pred.Output.Name)
	_, err = m.Run(ctx, place{"Italy"})
	if spent, ok := errors.AsType[*budget.Error](err); ok {
		fmt.Println("limit:", spent.Limit)
	}
	fmt.Println("calls:", budget.Of(ctx).Spent().Calls)
	// Output:
	// Paris
	// limit: 1 model call
	// calls: 1
}
