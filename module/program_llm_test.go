package module_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
)

// A program asks a model where it says so, as text or in the form of a schema.
func TestProgramAsksModel(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch {
		case strings.Contains(r.Text(), "fail"):
			return llmtest.Reply{}, errors.New("503")
		case strings.Contains(r.Text(), "number"):
			return llmtest.Reply{Text: "[[ ## reply ## ]]\n4\n\n[[ ## completed ## ]]"}, nil
		}
		return llmtest.Reply{Text: "[[ ## reply ## ]]\nfour\n\n[[ ## completed ## ]]"}, nil
	})
	code := `const word = await llm('a word');
const n = await llm('a number', {type: 'integer', minimum: 3});
let kind;
try { await llm('fail') } catch (e) { kind = e.kind }
if (word !== 'four' || n !== 4 || kind !== 'failed') throw new Error(JSON.stringify({word, n, kind}));
submit({total: n})`
	p := module.NewProgram(adding, module.Script{Code: code}, inProcess(t), nil, nil)
	p.Sub.Model = sub
	pred, err := p.Run(t.Context(), anything)
	if err != nil || pred.Output.Total != 4 {
		t.Fatalf("got %v, %v", pred, err)
	}
	if u := pred.Trajectory.Usage(); u.Calls != 3 || len(pred.Trajectory.Runs) != 3 {
		t.Errorf("the usage is %v in %d runs", u, len(pred.Trajectory.Runs))
	}
	var paths []string
	for path := range module.Predictors(p) {
		paths = append(paths, path)
	}
	if !slices.Equal(paths, []string{"Predictor", "Sub"}) {
		t.Errorf("the predictors are %q", paths)
	}
	for _, b := range module.Tools(p) {
		if b.Path() != "llm" {
			t.Errorf("the tools have %s", b.Path())
		}
	}
	alone := module.NewProgram(adding, module.Script{Code: code}, inProcess(t), nil, nil)
	if _, err := alone.Run(t.Context(), anything); err == nil || !strings.Contains(err.Error(), "llm is not defined") {
		t.Errorf("without a model: %v", err)
	}
}
