package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// erp is a server with 57 customers in pages of 20, and with effects that fail.
type erp struct {
	credited []string
	failing  map[string]string // the errors of credits
}

func (e *erp) tools(t *testing.T) *tools.Set {
	t.Helper()
	const paging = `{"type": "object", "properties": {"page": {"type": "integer"}, "limit": {"type": "integer"}, ` +
		`"status": {"type": "string"}}}`
	tool := func(name, input string, call func(args map[string]any) (any, error)) *tools.Tool {
		return &tools.Tool{Namespace: "erp", Name: name, InputSchema: json.RawMessage(input),
			Handler: func(_ context.Context, raw json.RawMessage) (json.RawMessage, error) {
				var args map[string]any
				if err := json.Unmarshal(raw, &args); err != nil {
					return nil, err
				}
				result, err := call(args)
				if err != nil {
					return nil, &tools.ToolError{Kind: tools.KindFailed, Message: err.Error()}
				}
				return json.Marshal(result)
			}}
	}
	customers := func(args map[string]any) (any, error) {
		page, size := 1, 20
		if n, ok := args["page"].(float64); ok {
			page = int(n)
		}
		if n, ok := args["limit"].(float64); ok {
			size = int(n)
		}
		rows := []map[string]any{}
		for i := (page - 1) * size; i < min(page*size, 57); i++ {
			rows = append(rows, map[string]any{"id": fmt.Sprintf("c%d", i), "debt": 0.1})
		}
		return map[string]any{"rows": rows, "page": page, "pages": (57 + size - 1) / size, "total": 57}, nil
	}
	return toolSet(t,
		tool("list_customers", paging, customers),
		tool("search_customers", paging, customers),
		tool("get_customer", `{}`, func(args map[string]any) (any, error) {
			if _, ok := args["id"].(string); !ok {
				return nil, fmt.Errorf("no such customer")
			}
			return args, nil
		}),
		tool("list_credits", `{}`, func(map[string]any) (any, error) { return append([]string{}, e.credited...), nil }),
		tool("credit", `{}`, func(args map[string]any) (any, error) {
			id, _ := args["id"].(string)
			if message := e.failing[id]; message != "" {
				return nil, fmt.Errorf("%s", message)
			}
			e.credited = append(e.credited, id)
			return true, nil
		}))
}

type figure struct {
	Answer any `json:"answer"`
}

// ask runs programs over the server until one is accepted.
func (e *erp) ask(t *testing.T, o *module.Options, programs ...string) *module.Prediction[figure] {
	t.Helper()
	sig := signature.Must(signature.New[orders, figure](""))
	pred := mustRun(t, module.NewCodeAct(sig, llmtest.New(fences(programs)...), inProcess(t), e.tools(t), o), anything)
	if n := len(pred.Trajectory.Steps); n != len(programs) {
		t.Fatalf("%d programs were run; the last observation:\n%s", n, pred.Trajectory.Steps[n-1].Observation)
	}
	return pred
}

const everyPage = `let rows = [];
for (let page = 1, pages = 1; page <= pages; page++) {
  const got = await erp.list_customers({page});
  rows.push(...got.rows);
  pages = got.pages;
}
`

// An answer that facts of the run contradict is questioned once, with the fact and what to do about it.
func TestAnswerIsQuestioned(t *testing.T) {
	t.Parallel()
	const right = "submit({answer: 'right'})"
	for name, test := range map[string]struct{ program, fact string }{
		"first page": {"const {rows} = await erp.list_customers({});\nsubmit({answer: rows.length})",
			"line 1, column 26: erp.list_customers: page 1 of 3 was read (20 rows of 57). Call it with {page: 2} and {page: 3}, and use all rows."},
		"other arguments": {"await erp.list_customers({status: 'open', page: 3});\nsubmit({answer: 1})",
			`page 3 of 3 was read (17 rows of 57). Call it with {"status":"open", page: 1} and {"status":"open", page: 2}, and`},
		"two of three pages": {"for (const page of [1, 2]) await erp.list_customers({page});\nsubmit({answer: 1})",
			"2 of 3 pages were read (40 rows of 57). Call it with {page: 3}, and use all rows."},
		"not a number":          {"submit({answer: `Total: ${0/0}`})", `answer.answer contains ": NaN": "Total: NaN". Find the`},
		"text of object":        {"submit({answer: ['' + {}]})", `answer.answer[0] contains "[object Object]"`},
		"rounding error":        {"submit({answer: 0.1 + 0.2})", "answer.answer is 0.30000000000000004, which has rounding errors of binary fractions. Round it: 0.3."},
		"rounding in text":      {"submit({answer: JSON.stringify({sum: 0.1 + 0.2})})", "Round it: 0.3."},
		"NaN becomes null":      {"submit({answer: [{sum: 0/0}]})", "in the answer, sum is NaN. JSON has no such value: submit"},
		"undefined is left out": {"submit({answer: {a: 1, b: undefined}})", "in the answer, b is undefined. JSON has no such value"},
		"undefined in JSON text": {"submit({answer: 'It is ' + JSON.stringify({a: [0, {b: undefined}]})})",
			`in the answer, b is undefined. JSON has no such value`},
		"failed effect": {"await erp.credit({id: 'c1'}).catch(() => 0);\nsubmit({answer: 'done'})",
			`line 1, column 11: erp.credit({"id":"c1"}) may not have taken effect: 504.`},
		"failed effect, other read": {"await erp.credit({id: 'c1'}).catch(() => 0);\nawait erp.get_customer({id: 'c2'});\nsubmit({answer: 1})",
			`erp.credit({"id":"c1"}) may not have taken effect: 504.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &erp{failing: map[string]string{"c1": "504"}}
			pred := e.ask(t, &module.Options{MaxIters: 1}, test.program, right)
			if got := pred.Trajectory.Steps[0].Observation; !strings.Contains(got, test.fact) {
				t.Errorf("got\n%s\nwant\n%s", got, test.fact)
			}
		})
	}
}

// Answers that no fact contradicts are accepted at once.
func TestAnswerIsNotQuestioned(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{
		"all pages":         everyPage + "submit({answer: rows.length})",
		"a few on purpose":  "const {rows} = await erp.list_customers({limit: 5});\nsubmit({answer: rows})",
		"other JSON text":   "JSON.stringify({a: 0/0});\nsubmit({answer: JSON.stringify({a: 1, b: null}, null, 1)})",
		"search":            "const {rows} = await erp.search_customers({status: 'best'});\nsubmit({answer: rows})",
		"exact numbers":     "submit({answer: [1/3, 0.5, 1e21, 12345678901234567890, '1.5', 'NaNny', 'an undefined behavior']})",
		"empty":             "submit({answer: []})",
		"failed read":       "await erp.get_customer({id: 5}).catch(() => 0);\nsubmit({answer: 1})",
		"repeated at once":  "await erp.credit({id: 'c3'});\nsubmit({answer: 1})",
		"looked after":      "await erp.credit({id: 'c1'}).catch(() => 0);\nawait erp.list_credits({});\nsubmit({answer: 1})",
		"looked at it":      "await erp.credit({id: 'c1'}).catch(() => 0);\nawait erp.get_customer({id: 'c1'});\nsubmit({answer: 1})",
		"was done already":  "await erp.credit({id: 'c2'}).catch(() => 0);\nsubmit({answer: 1})",
		"failed, then list": "await erp.credit({id: 'c1'}).catch(() => 0);\n" + everyPage + "submit({answer: 1})",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &erp{failing: map[string]string{"c1": "504", "c2": "c2 was already credited"}}
			if pred := e.ask(t, nil, program); pred.Evidence() != nil {
				t.Errorf("evidence: %v", pred.Evidence())
			}
		})
	}
}

// A list that one program read in part counts if the next one submits what it saw, until some program finishes it.
func TestPartialListOfEarlierProgram(t *testing.T) {
	t.Parallel()
	const first, rest = "(await erp.list_customers({})).rows.length", "for (const page of [2, 3]) await erp.list_customers({page});"
	const told = "Warnings:\nline 1, column 12: erp.list_customers: page 1 of 3 was read (20 rows of 57). Call it with"
	pred := new(erp).ask(t, nil, first, "submit({answer: 20})", "submit({answer: 20})")
	if got := pred.Trajectory.Steps[0].Observation; !strings.Contains(got, told) {
		t.Errorf("got\n%s\nwant\n%s", got, told)
	}
	if got := pred.Trajectory.Steps[1].Observation; !strings.Contains(got, "page 1 of 3 was read") {
		t.Error(got)
	}
	if got := pred.Evidence(); len(got) != 1 || got[0].Kind != "partial_list" {
		t.Errorf("evidence: %v", got)
	}
	new(erp).ask(t, nil, first, rest, "submit({answer: 57})")
}

// New facts are questioned again, the same ones are not, and no more than three times.
func TestQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	program := func(n int) string { return fmt.Sprintf("submit({answer: ['%d [object Object]']})", n) }
	pred := new(erp).ask(t, nil, program(1), program(2), program(3), program(4))
	if got := pred.Evidence(); len(got) != 1 {
		t.Errorf("evidence: %v", got)
	}
	const page = "await erp.list_customers({});\n"
	new(erp).ask(t, nil, page+"submit({answer: 1})", page+"submit({answer: 2})")
}

// If the model confirms an answer, the effects of its program are no orphans, and the evidence is kept.
func TestConfirmedAnswer(t *testing.T) {
	t.Parallel()
	e := new(erp)
	pred := e.ask(t, nil, "await erp.credit({id: 'c3'});\nsubmit({answer: 0.1 + 0.2})", "submit({answer: 0.1 + 0.2})")
	if len(e.credited) != 1 || len(pred.Trajectory.Orphans) > 0 || len(pred.Evidence()) != 1 {
		t.Errorf("got %v, orphans %v, evidence %v", e.credited, pred.Trajectory.Orphans, pred.Evidence())
	}
	// without a free turn, nothing is asked
	pred = e.ask(t, &module.Options{FreeTurns: -1}, "submit({answer: 0.1 + 0.2})")
	if len(pred.Evidence()) != 1 {
		t.Errorf("evidence: %v", pred.Evidence())
	}
}

// The first effect of a run waits until its program has read its lists to the end, or is written again.
func TestHoldBeforeFirstEffect(t *testing.T) {
	t.Parallel()
	const one = "const {rows} = await erp.list_customers({});\nfor (const {id} of rows) await erp.credit({id});\nsubmit({answer: rows.length})"
	const want = `The program was stopped before the call erp.credit({"id":"c0"}), which was not made: it is the first that ` +
		`may change data, and lists that this program read are not complete: line 1: erp.list_customers: page 1 of 3 was ` +
		`read (20 rows of 57). Call it with {page: 2} and {page: 3}, and use all rows. If the program needs no more of ` +
		`them, write it again as it is.`
	e := new(erp)
	pred := e.ask(t, &module.Options{MaxIters: 1}, one, everyPage+"for (const {id} of rows) await erp.credit({id});\nsubmit({answer: 57})")
	if got := pred.Trajectory.Steps[0].Observation; !strings.HasPrefix(got, want) || len(e.credited) != 57 {
		t.Errorf("got %d credits and\n%s", len(e.credited), got)
	}
	e = new(erp)
	e.ask(t, nil, one, one, "submit({answer: 20})")
	if len(e.credited) != 20 {
		t.Errorf("%d credits", len(e.credited))
	}
	e = new(erp)
	e.ask(t, &module.Options{FreeTurns: -1}, one)
	if len(e.credited) != 20 {
		t.Errorf("%d credits without a free turn", len(e.credited))
	}
}

// Evidence of a ReAct is kept, and nothing is questioned.
func TestReActEvidence(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.New[orders, figure](""))
	model := llmtest.New(action("erp.list_customers", "{}"), action("submit", `{"answer": 20}`))
	pred, err := module.NewReAct(sig, model, new(erp).tools(t), nil).Run(t.Context(), anything)
	if err != nil || len(pred.Evidence()) != 1 || !strings.Contains(pred.Evidence()[0].Message, "page 1 of 3 was read") {
		t.Errorf("got %v, %v", pred, err)
	}
}

// An error has the evidence about the last program.
func TestEvidenceOfIncompleteRun(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.New[orders, figure](""))
	model := llmtest.New(fence("await erp.list_customers({});"))
	_, err := module.NewCodeAct(sig, model, inProcess(t), new(erp).tools(t), &module.Options{MaxIters: 1}).Run(t.Context(),
		anything)
	part, ok := errors.AsType[*module.IncompleteError](err)
	if !ok || len(part.Trajectory.Evidence) != 1 {
		t.Errorf("got %v", err)
	}
}
