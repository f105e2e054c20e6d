package docs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// This code is shown in optimize.md.

type debtor struct {
	Customer string `json:"customer"`
}

type debt struct {
	Open int `json:"open"`
}

// compile writes the program that an agent was compiled to into a file.
func compile(
	ctx context.Context, agent *module.CodeAct[debtor, debt], examples []evaluate.Example[debtor, debt], path string,
) error {
	program, _, err := optimize.Compile(ctx, agent, examples, evaluate.ExactMatch[debtor, debt](), nil)
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return program.Script.Write(file)
}

// open returns the program in a file, with the agent behind it.
func open(agent *module.CodeAct[debtor, debt], path string) (*module.Program[debtor, debt], error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	script, err := module.ReadScript(file)
	return agent.Program(script), err
}

func TestOptimizeCompile(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), tools.Func("invoices", "Lists the amounts of a customer's open invoices.",
		func(_ context.Context, d debtor) ([]int, error) { return []int{len(d.Customer), 100}, nil },
		&tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "```js\nconst list = await invoices({customer});\n" +
			"submit({open: list.reduce((sum, amount) => sum + amount, 0)});\n```"}, nil
	})
	agent := module.NewCodeAct(signature.Must(signature.New[debtor, debt]("Add up the open invoices.")), model, box, set, nil)
	var examples []evaluate.Example[debtor, debt]
	for i := range 40 {
		e := evaluate.Example[debtor, debt]{In: debtor{strings.Repeat("x", i+1)}, Want: debt{101 + i}}
		examples = append(examples, e)
	}
	path := filepath.Join(t.TempDir(), "debt.js")
	if err := compile(t.Context(), agent, examples, path); err != nil {
		t.Fatal(err)
	}
	program, err := open(agent, path)
	if err != nil {
		t.Fatal(err)
	}
	pred, err := program.Run(t.Context(), debtor{"Ann"})
	if err != nil || pred.Output.Open != 103 || pred.Trajectory.Usage().Calls != 0 || program.Fallbacks() != 0 {
		t.Errorf("got %+v, %v", pred, err)
	}
}
