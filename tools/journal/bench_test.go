package journal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// BenchmarkJournal measures what the journal adds to a call: issuing, dispatching and settling it.
func BenchmarkJournal(b *testing.B) {
	set, err := tools.NewSet(b.Context(), &tools.Tool{
		Namespace: "mail", Name: "send", Hints: tools.Hints{Class: tools.Effect, Repeatable: true},
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	all, result := set.Bindings(), json.RawMessage(`{"id":"mail 1"}`)
	var args []json.RawMessage
	for i := range 1000 {
		args = append(args, json.RawMessage(fmt.Sprintf(`{"to":"ann%d","subject":"hello"}`, i)))
	}
	for _, logged := range []bool{false, true} {
		b.Run(fmt.Sprintf("log=%v", logged), func(b *testing.B) {
			b.ReportAllocs()
			var a *journal.Attempt
			for i := 0; b.Loop(); i++ {
				if i%len(args) == 0 {
					j := journal.New(nil)
					if logged {
						if j, err = journal.Open(&memory{}, nil); err != nil {
							b.Fatal(err)
						}
					}
					a = j.Attempt()
				}
				e, err := a.Issue(tools.Call{Tool: all[0], Args: args[i%len(args)]}, all)
				if err == nil {
					err = e.Dispatched(args[i%len(args)])
				}
				if err != nil {
					b.Fatal(err)
				}
				e.Settled(result, nil, "", nil, false)
			}
		})
	}
}
