package docs_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

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
	Customer int `json:"customer"`
}

type debt struct {
	Open     int  `json:"open"`
	Reminded bool `json:"reminded"`
}

type reminder struct {
	Customer int `json:"customer"`
	Amount   int `json:"amount"`
}

var collecting = signature.Must(signature.New[debtor, debt](
	"Add up the customer's open invoices. If the sum is more than 105, remind the customer."))

// newAgent returns an agent with two tools. The second one has an effect.
func newAgent(ctx context.Context, model llms.Model, box *sandbox.Sandbox) (*module.CodeAct[debtor, debt], error) {
	set, err := tools.NewSet(ctx,
		tools.Func("invoices", "Lists the amounts of a customer's open invoices.",
			func(_ context.Context, d debtor) ([]int, error) { return []int{100, d.Customer}, nil },
			&tools.Hints{Class: tools.Read}),
		tools.Func("remind", "Sends a customer a reminder. Returns whether it was delivered.",
			func(context.Context, reminder) (bool, error) { return false, errors.New("there is no mail server") },
			&tools.Hints{Class: tools.Effect}))
	if err != nil {
		return nil, err
	}
	return module.NewCodeAct(collecting, model, box, set, nil), nil
}

// pretend returns a policy that sends no reminders, and writes all calls to w.
func pretend(w io.Writer) tools.Policy {
	delivered := func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("true"), nil }
	return evaluate.Chain(evaluate.Record(w), evaluate.Fakes(map[string]tools.Handler{"remind": delivered}))
}

// compile writes the program that an agent was compiled to, and the calls that it was tested with.
func compile(
	ctx context.Context, agent *module.CodeAct[debtor, debt], examples []evaluate.Example[debtor, debt],
	file, calls io.Writer,
) error {
	program, _, err := optimize.Compile(ctx, agent, examples, evaluate.ExactMatch[debtor, debt](),
		&optimize.CompileOptions{Policy: pretend(calls)})
	if err != nil {
		return err
	}
	return program.Script.Write(file)
}

//go:embed testdata/debt.js
var debtProgram string

//go:embed testdata/debt-calls.jsonl
var debtCalls string

func TestDebt(t *testing.T) {
	box, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	agent, err := newAgent(t.Context(), nil, box)
	if err != nil {
		t.Fatal(err)
	}
	script, err := module.ReadScript(strings.NewReader(debtProgram))
	if err != nil {
		t.Fatal(err)
	}
	program := agent.Program(script)
	recorded, err := evaluate.Recorded(strings.NewReader(debtCalls))
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := evaluate.WithPolicy(t.Context(), program, recorded)
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Verify(ctx); err != nil {
		t.Error(err)
	}
}

// TestOptimizeAgent runs the rest of the code in optimize.md. With -update, it writes the files of TestDebt.
func TestOptimizeAgent(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	agent, err := newAgent(t.Context(), collector(), box)
	if err != nil {
		t.Fatal(err)
	}
	var examples []evaluate.Example[debtor, debt]
	for n := range 80 {
		examples = append(examples, evaluate.Example[debtor, debt]{In: debtor{n}, Want: debt{100 + n, n > 5}})
	}
	ctx := t.Context()
	_, err = evaluate.Evaluate(ctx, agent, examples, evaluate.ExactMatch[debtor, debt](), nil)
	if err == nil || !strings.Contains(err.Error(), "the module has tools with effects: remind; set Options.Policy to ") {
		t.Errorf("without a policy, the error is %v", err)
	}
	file, calls := &bytes.Buffer{}, &bytes.Buffer{}
	report, err := evaluate.Evaluate(ctx, agent, examples, evaluate.ExactMatch[debtor, debt](),
		&evaluate.Options{Policy: pretend(calls)})
	if err != nil || report.Score.Mean != 1 {
		t.Fatalf("got %v, %v", report, err)
	}
	calls.Reset()
	if err := compile(ctx, agent, examples, file, calls); err != nil {
		t.Fatal(err)
	}
	if !*update {
		return
	}
	for name, text := range map[string][]byte{"debt.js": file.Bytes(), "debt-calls.jsonl": calls.Bytes()} {
		if err := os.WriteFile("testdata/"+name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// collector is a model that knows how to collect debts.
func collector() llms.Model {
	return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "```js\n" + `const amounts = await invoices({customer});
const open = amounts.reduce((sum, amount) => sum + amount, 0);
const reminded = open > 105 && await remind({customer, amount: open});
submit({open, reminded});` + "\n```"}, nil
	})
}
