package journal_test

import (
	"context"
	"fmt"

	"github.com/writ-go/writ/sandbox"
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
	box, err := sandbox.New(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	j := journal.New(nil)
	for range 2 { // a program that fails after its call, and a rewritten one that repeats the call
		out, err := box.Run(ctx, sandbox.Program{Source: `await send({to: "ann"})`, Tools: set, Attempt: j.Attempt()})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(out.Value), "sent:", sent, "recorded:", out.Calls[0].Recorded)
	}
	j.Accept()
	// Output:
	// "mail 1" sent: 1 recorded: false
	// "mail 1" sent: 1 recorded: true
}

// A call that the rewritten program no longer makes is an orphan.
func ExampleJournal_Accept() {
	set, err := tools.NewSet(context.Background(), tools.Func("send", "Send a mail.",
		func(context.Context, Mail) (string, error) { return "sent", nil }, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		panic(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	j := journal.New(nil)
	for _, to := range []string{"ann", "bob"} { // without distinct, the second call would be held
		_, err := box.Run(context.Background(), sandbox.Program{Source: `await send({to}, {distinct: "all"})`,
			Inputs: map[string]any{"to": to}, Tools: set, Attempt: j.Attempt()})
		if err != nil {
			panic(err)
		}
	}
	for _, e := range j.Accept() {
		fmt.Printf("%s %s%s was done, but the program no longer makes it\n", e.ID, e.Tool, e.Args)
	}
	// Output: E1 send{"to":"ann"} was done, but the program no longer makes it
}
