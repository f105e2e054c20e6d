package module_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
)

// Runs that share a session see each other's variables, and are told which there are.
func TestCodeActInASession(t *testing.T) {
	t.Parallel()
	session := inProcess(t).NewSession(nil)
	model := llmtest.New(
		fence("const rows = [{id: 1}, {id: 2}];\nsubmit({total: rows.length})"),
		fence("rows.push({id: 3}); throw new Error('no')"),
		fence("submit({total: rows.length + 1})"),
	)
	act := module.NewCodeAct(adding, model, session, nil, nil)
	for _, want := range []int{2, 3} {
		pred, err := act.Run(t.Context(), orders{Limit: 1})
		if err != nil || pred.Output.Total != want {
			t.Fatalf("got %+v, %v", pred, err)
		}
	}
	requests := model.Requests()
	system := requests[0].Messages[0]
	if strings.Contains(requests[0].Text(), "starts fresh") || strings.Contains(requests[0].Last(), "Variables") {
		t.Errorf("the first prompt has\n%s", requests[0].Text())
	}
	const told = "Variables from earlier programs that you can use:\n- rows: array of 2 items {id}\n\n"
	if got := requests[1].Last(); !strings.HasPrefix(got, told) {
		t.Errorf("the second prompt has\n%s", got)
	}
	const undone = "\n\nWhat the program declared or changed is gone; earlier variables are unchanged."
	if got := requests[2].Last(); !strings.Contains(got, undone) {
		t.Errorf("after a failure, the prompt has\n%s", got)
	}
	if fmt.Sprint(system) != fmt.Sprint(requests[2].Messages[0]) {
		t.Error("the system prompt changes")
	}
	var none *sandbox.Session
	if _, err := module.NewCodeAct(adding, model, none, nil, nil).Run(t.Context(), orders{Limit: 1}); err == nil {
		t.Error("a nil session can run")
	}
}

// A long list of variables is cut, and a variable that an input hides is not listed.
func TestVariablesThatAreListed(t *testing.T) {
	t.Parallel()
	session := inProcess(t).NewSession(nil)
	source := "const limit = 1"
	for i := range 40 {
		source += ", v" + string(rune('a'+i/10)) + string(rune('a'+i%10)) + " = 1"
	}
	if _, err := session.Run(t.Context(), sandbox.Program{Source: source}); err != nil {
		t.Fatal(err)
	}
	model := llmtest.New(fence("submit({total: 1})"))
	mustRun(t, module.NewCodeAct(adding, model, session, nil, nil), orders{Limit: 1})
	got, _, _ := strings.Cut(model.Requests()[0].Last(), "\n\n")
	lines := strings.Split(got, "\n")
	if len(lines) != 32 || lines[1] != "- 10 older variables, not listed" || lines[2] != "- vba: number" ||
		lines[31] != "- vdj: number" {
		t.Errorf("got %d lines:\n%s", len(lines), got)
	}
}
