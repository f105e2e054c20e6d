package journal_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

type Mail struct {
	To string `json:"to"`
}

func Example() {
	ctx, sent := context.Background(), 0
	set, err := tools.NewSet(ctx, tools.Func("send", "Send a mail.",
		func(context.Context, Mail) (string, error) { sent++; return fmt.Sprint("mail ", sent), nil }, nil))
	if err != nil {
		panic(err)
	}
	j := journal.New(nil)
	for range 2 { // a program that fails after its call, and the next, which makes it again
		run := set.Dispatcher(j.Attempt())
		call := run.Issue(tools.Call{Args: json.RawMessage(`{"to":"ann"}`)}, 0)
		result, err := call.Perform(ctx)
		fmt.Println(string(result), err, "sent:", sent, "recorded:", call.Recorded)
	}
	j.Accept()
	// Output:
	// "mail 1" <nil> sent: 1 recorded: false
	// "mail 1" <nil> sent: 1 recorded: true
}

// A call that the rewritten program no longer makes is an orphan.
func ExampleJournal_Accept() {
	set, err := tools.NewSet(context.Background(), tools.Func("send", "Send a mail.",
		func(context.Context, Mail) (string, error) { return "sent", nil }, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		panic(err)
	}
	j := journal.New(nil)
	another := &tools.Repeat{Distinct: tools.EntryIDs{"all"}} // otherwise the second call would be held
	for _, to := range []string{"ann", "bob"} {               // the second program is different
		call := set.Dispatcher(j.Attempt()).Issue(tools.Call{Args: fmt.Appendf(nil, `{"to":%q}`, to), Repeat: another}, 0)
		if _, err := call.Perform(context.Background()); err != nil {
			panic(err)
		}
	}
	for _, e := range j.Accept() {
		fmt.Printf("%s %s%s was done, but the program no longer makes it\n", e.ID, e.Tool, e.Args)
	}
	// Output: E1 send{"to":"ann"} was done, but the program no longer makes it
}
