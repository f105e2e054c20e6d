package declare_test

import (
	"context"
	"fmt"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

type Order struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty" jsonschema:"enum=broken,enum=late"`
}

func refund(context.Context, Order) (bool, error) { return true, nil }

func Example() {
	set, err := tools.NewSet(context.Background(), tools.Func("refund", "Refund one order.", refund, nil))
	if err != nil {
		panic(err)
	}
	fmt.Print(declare.Markdown(set, 0))
	// Output:
	// ```ts
	// declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }
	// /** Refund one order. */
	// declare function refund(args: {id: string; reason?: "broken" | "late"}): Promise<boolean>;
	// ```
}
