package module_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// A program that succeeds costs no request and no tokens.
func ExampleNewProgram() {
	type order struct {
		Amounts []float64 `json:"amounts"`
	}
	type bill struct {
		Total float64 `json:"total"`
	}
	box, err := sandbox.New(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	billing := signature.Must(signature.New[order, bill]("Add up the amounts and round to cents."))
	p := module.NewProgram(billing, module.Script{
		Code: `if (!amounts.length) throw new Error('an empty order');
const sum = amounts.reduce((a, b) => a + b, 0);
submit({total: Math.round(sum * 100) / 100});`,
	}, box, nil, nil)
	pred, err := p.Run(context.Background(), order{Amounts: []float64{0.1, 0.2}})
	if err != nil {
		panic(err)
	}
	fmt.Println(pred.Output.Total, "with", pred.Trajectory.Usage().Calls, "model calls")

	_, err = p.Run(context.Background(), order{})
	if failure := (*sandbox.Failure)(nil); errors.As(err, &failure) {
		fmt.Println(failure.Message)
	}
	// Output:
	// 0.3 with 0 model calls
	// Error: an empty order
}
