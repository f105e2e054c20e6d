// Approval shows a CodeAct some of whose calls need a person's approval. The program waits until the person decides.
//
//	go run ./examples/approval
//
// Unless -model names a real model, the model is scripted. Its program really runs.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

type Input struct {
	Spam []string `json:"spam" jsonschema:"description=Accounts that were reported."`
}

type Output struct {
	Deleted []string `json:"deleted"`
	Kept    []string `json:"kept" jsonschema:"description=Each with the reason."`
}

type Account struct {
	Name string `json:"name"`
}

func main() {
	models.Main(func(ctx context.Context, m llms.Model, w io.Writer) error { return run(ctx, m, os.Stdin, w) }, script)
}

func run(ctx context.Context, model llms.Model, stdin io.Reader, w io.Writer) error {
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	remove := func(context.Context, Account) (bool, error) { return true, nil }
	set, err := tools.NewSet(ctx, tools.Func("remove", "Deletes an account.", remove, &tools.Hints{Destructive: true}))
	if err != nil {
		return err
	}
	var turn sync.Mutex // calls are concurrent
	ask := func(_ context.Context, r policy.Request) (policy.Decision, error) {
		turn.Lock()
		defer turn.Unlock()
		fmt.Fprintf(w, "%v\napprove? [y/n] ", r)
		var reply string
		_, err := fmt.Fscan(stdin, &reply)
		return policy.Decision{Approved: reply == "y", Reason: "a person said no"}, err
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(ask)))
	sig := signature.Must(signature.New[Input, Output]("Delete the accounts that send spam."))
	pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(ctx, Input{[]string{"win-big", "ann", "cheap-pills"}})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\ndeleted: %q\nkept: %q\n", pred.Output.Deleted, pred.Output.Kept)
	return nil
}

const script = "```js\n" + `const deleted = [], kept = [];
for (const name of spam) {
  await remove({ name }).then(() => deleted.push(name), e => kept.push(name + ": " + e.message));
}
submit({ deleted, kept });
` + "```"
