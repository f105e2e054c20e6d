package queue_test

import (
	"context"
	"fmt"

	"github.com/writ-go/writ/agent/queue"
)

// One call runs at a time, and none waits: while ann's call runs, bob's is rejected.
func Example() {
	calls := queue.New(&queue.Options{Running: 1, Waiting: -1})
	ctx := context.Background()
	_ = calls.Do(ctx, "ann", func(context.Context) error {
		fmt.Println("ann's call runs")
		err := calls.Do(ctx, "bob", func(context.Context) error { return nil })
		fmt.Println(err)
		return nil
	})
	// Output:
	// ann's call runs
	// busy: nothing was done; try again in a few seconds
}
