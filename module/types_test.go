package module_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

func init() {
	scenarios["codeact vendors"] = runCodeAct[orders, report](orders{Limit: 3}, vendorTools...)
}

// vendorTools are tools of a server that declares no types: a list, a record and text.
var vendorTools = []tools.Source{
	undeclared("vendor_list",
		`{"vendors": [{"id": "V1", "name": "Mole"}, {"id": "V2", "name": "Rat", "blocked": true}], "page": 1, "pages": 1}`),
	undeclared("balances", `[{"V1": 20}, {"V2": 30}]`),
	undeclared("motto", `"Messing about in boats"`),
}

func undeclared(name, result string) *tools.Tool {
	return &tools.Tool{
		Namespace: "erp", Name: name, Hints: tools.Hints{Class: tools.Read},
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(result), nil },
	}
}

// vendorAgent submits the number of vendors.
func vendorAgent(
	t *testing.T, types *declare.LearnedTypes, programs ...string,
) (*module.CodeAct[orders, report], *llmtest.Model) {
	t.Helper()
	box := openBox(t, sandbox.NewInProcess, nil)
	set := toolSet(t, vendorTools...)
	var replies []string
	for _, p := range programs {
		replies = append(replies, "Do it.\n\n```js\n"+p+"\n```")
	}
	model := llmtest.New(replies...)
	sig := signature.Must(signature.New[orders, report]("Report on the orders."))
	return module.NewCodeAct(sig, model, box, set, &module.Options{LearnedTypes: types}), model
}

const countVendors = "const {vendors} = await erp.vendor_list({});\nsubmit({total: vendors.length, names: []});"

// A type is learned in a run, declared in the next one from its start to its end, and survives in a file.
func TestLearnedTypesAreDeclared(t *testing.T) {
	t.Parallel()
	const declared = "vendor_list(args?: object): Promise<{page: number; pages: number; vendors: " +
		"{blocked?: boolean; id: string; name: string}[]}>"
	var types declare.LearnedTypes
	agent, model := vendorAgent(t, &types, countVendors, "await erp.balances({})",
		"console.log(await tools.describe('erp.balances'))", countVendors)
	agent.Predictor.Briefing += "Be brief."
	for range 2 {
		mustRun(t, agent, orders{Limit: 3})
	}
	for i, r := range model.Requests() {
		system := textsOf(r)[0]
		if strings.Contains(system, declared) != (i > 0) || !strings.Contains(system, "Be brief.") {
			t.Errorf("request %d: the system prompt is\n%s", i+1, system)
		}
		if strings.Contains(system, "balances(args?: object): Promise<Record") {
			t.Errorf("request %d: the prompt has a type that was learned in the run", i+1)
		}
	}
	text, err := json.Marshal(&types)
	if err != nil {
		t.Fatal(err)
	}
	var read declare.LearnedTypes
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	agent, model = vendorAgent(t, &read, countVendors)
	mustRun(t, agent, orders{Limit: 3})
	system := textsOf(model.Requests()[0])[0]
	if !strings.Contains(system, declared) ||
		!strings.Contains(system, "balances(args?: object): Promise<Record<string, number>[]>") ||
		!strings.Contains(system, "motto(args?: object): Promise<string | Content>") {
		t.Error(system)
	}
}

// A learned type does not refuse a program that knows more, and a member that results lack is still evidence.
func TestLearnedTypesInformOnly(t *testing.T) {
	t.Parallel()
	var types declare.LearnedTypes
	set := toolSet(t, vendorTools...)
	types.Learn(set.Bindings()[0], json.RawMessage(`{"vendors": [{"amount": 1}], "old": 1}`))
	read := "const {vendors} = await erp.vendor_list({});\n" +
		"submit({total: vendors.filter(v => v.amount > 1).length, names: vendors.map(v => v.name)});"
	agent, _ := vendorAgent(t, &types, read, read)
	pred := mustRun(t, agent, orders{Limit: 3})
	if len(pred.Evidence()) != 1 || !strings.Contains(pred.Evidence()[0].Message, "has no amount") {
		t.Errorf("got %v", pred.Evidence())
	}
}

// An evaluation does not learn, so no example depends on those before it.
func TestEvaluationsDoNotLearn(t *testing.T) {
	t.Parallel()
	var types declare.LearnedTypes
	agent, model := vendorAgent(t, &types, countVendors, countVendors, countVendors)
	examples := []evaluate.Example[orders, report]{{In: orders{Limit: 1}}, {In: orders{Limit: 2}}}
	if _, err := evaluate.Evaluate(t.Context(), agent, examples, evaluate.ExactMatch[orders, report](),
		&evaluate.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(&types); string(text) != "null" || err != nil {
		t.Errorf("learned %s, %v", text, err)
	}
	mustRun(t, agent, orders{Limit: 3})
	if text, err := json.Marshal(&types); !strings.Contains(string(text), `"erp.vendor_list"`) || err != nil {
		t.Errorf("learned %s, %v", text, err)
	}
	for _, r := range model.Requests() {
		if strings.Contains(textsOf(r)[0], "vendors:") {
			t.Error("a type is declared before it is known")
		}
	}
}
