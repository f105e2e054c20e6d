package optimize_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type account struct {
	Customer string `json:"customer"`
}

type balance struct {
	Open int `json:"open"`
}

// An agent that adds up open invoices is compiled. Its program is saved, loaded, and tested with its own examples,
// without a model.
func ExampleCompile() {
	ctx := context.Background()
	invoices := tools.Func("invoices", "List the amounts of a customer's open invoices.",
		func(_ context.Context, a account) ([]int, error) { return []int{len(a.Customer), 100}, nil },
		&tools.Hints{Class: tools.Read})
	set, err := tools.NewSet(ctx, invoices)
	if err != nil {
		panic(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		panic(err)
	}
	defer box.Close()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) { // or models.Open
		code := "const list = await invoices({customer});\nsubmit({open: list.reduce((a, b) => a + b, 0)});"
		if strings.Contains(r.Text(), "for all questions") && !strings.Contains(r.Last(), "## problem ##") {
			code = "submit({open: (await invoices({customer}))[0]});" // the first draft is wrong
		}
		return llmtest.Reply{Text: "```js\n" + code + "\n```"}, nil
	})
	sig := signature.Must(signature.New[account, balance]("Add up the customer's open invoices."))
	agent := module.NewCodeAct(sig, model, box, set, nil)

	var examples []evaluate.Example[account, balance]
	for i := range 80 {
		name := strings.Repeat("x", i+1)
		examples = append(examples, evaluate.Example[account, balance]{
			In: account{name}, Want: balance{100 + len(name)},
		})
	}
	program, _, err := optimize.Compile(ctx, agent, examples, evaluate.ExactMatch[account, balance](),
		&optimize.CompileOptions{Progress: os.Stdout})
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer // or a file that is under version control
	if err := program.Script.Write(&file); err != nil {
		panic(err)
	}
	script, err := module.ReadScript(&file)
	if err != nil {
		panic(err)
	}
	loaded := module.NewProgram(sig, script, box, set, nil)
	pred, err := loaded.Run(ctx, account{"ann"})
	if err != nil {
		panic(err)
	}
	fmt.Println(pred.Output.Open, "with", pred.Trajectory.Usage().Calls, "model calls")
	_, from, _ := strings.Cut(script.From, ": ") // optimize.Compile
	from, _, _ = strings.Cut(from, "; CodeAct")
	fmt.Println(from)
	// Output:
	// CodeAct: score 1 on 40 training examples
	// program 1: its score on the training examples is 0, but that of the CodeAct is 1
	// CodeAct: score 1 on 20 validation examples
	// CodeAct: score 1 on 20 test examples
	// program 2: accepted, with score 1 on the test examples: 20 of 20 right; up to 14 % of all answers may be wrong
	// 103 with 0 model calls
	// 40 training, 20 validation, 20 test examples: score 1 (20 of 20 right; up to 14 % of all answers may be wrong)
}
