package optimize_test

import (
	"context"
	"strings"

	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
)

// writer stands in for the model that writes instructions: it names the teams that its prompt shows.
func writer() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		text := "Reply with one of these teams:"
		for _, name := range []string{"accounts", "support"} {
			if strings.Contains(r.Last(), name) {
				text += "\n" + name
			}
		}
		return llmtest.Reply{Text: "<instructions>\n" + text + "\n</instructions>"}, nil
	})
}

// The reflection model learns the teams from the feedback of the metric.
func ExampleGEPA() {
	improve(optimize.GEPA{}, &optimize.Options{
		Reflection: writer(), Budget: optimize.Budget{StudentCalls: 200},
	})
	// Output:
	// before: 0
	// after: 1 with 0 demos
	// accounts
}

// The proposed instructions are as good as demos here; a search that only chooses instructions needs fewer tokens.
func ExampleMIPROv2() {
	improve(optimize.MIPROv2{DemoSets: -1}, &optimize.Options{
		Reflection: writer(), Budget: optimize.Budget{StudentCalls: 300},
	})
	// Output:
	// before: 0
	// after: 1 with 0 demos
	// accounts
}
