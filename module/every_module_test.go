package module_test

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
)

// kind is a module of one kind, and the paths of its predictors.
type kind struct {
	m     module.Module[orders, sum]
	paths string
}

func everyKind(t *testing.T, model llms.Model) []kind {
	box := inProcess(t)
	one := module.NewPredict(adding, model, nil)
	return []kind{
		{one, "Predictor"},
		{module.NewChainOfThought(adding, model, nil), "Predictor"},
		{module.NewReAct(adding, model, nil, nil), "Predictor"},
		{module.NewCodeAct(adding, model, box, nil, nil), "Predictor"},
		{module.NewProgramOfThought(adding, model, box, nil), "Predictor"},
		{module.NewChat(adding, model, box, nil, nil), "Predictor"},
		{module.NewRLM(adding, model, box, nil, nil), "Predictor Sub"},
		{module.NewRLM(adding, model, box, nil, &module.RLMOptions{Depth: 2}), "Predictor Sub Nested Nested.Sub"},
		{module.NewBestOfN(one, 2, fairly, 0, nil), "Module"},
		{module.NewRefine(one, 2, fairly, 0, nil), "Module Advisor"},
		{module.NewMultiChainComparison(adding, one, 2, model, nil), "Module Predictor"},
	}
}

// Of every module the predictors are found, copied, saved and loaded.
func TestEveryModuleHasPredictors(t *testing.T) {
	t.Parallel()
	fresh := everyKind(t, llmtest.New())
	for i, k := range everyKind(t, llmtest.New()) {
		before := save(t, k.m)
		c := module.Clone(k.m)
		for path, p := range module.Predictors(c) {
			p.Hint = "of " + path
		}
		if paths(k.m) != k.paths || paths(c) != k.paths || save(t, k.m) != before {
			t.Errorf("%T: got %s, and %s of the clone, want %s", k.m, paths(k.m), paths(c), k.paths)
		}
		if err := module.Load(strings.NewReader(save(t, c)), fresh[i].m); err != nil || save(t, fresh[i].m) != save(t, c) {
			t.Errorf("%T: %v", k.m, err)
		}
	}
}

// Attempts of every module are told apart, except a Chat, which makes none.
func TestEveryModuleMakesAttempts(t *testing.T) {
	t.Parallel()
	for i := range everyKind(t, llmtest.New()) {
		var seen rollouts
		m := everyKind(t, seen.model())[i].m
		if _, ok := m.(*module.Chat[orders, sum]); ok {
			continue
		}
		_, _ = module.Samples(t.Context(), m, anything, 2, &module.ParallelOptions{Collect: true}) // the replies are no programs
		first, other := strings.Contains(seen.String(), "0 at 1"), strings.Contains(seen.String(), "1 at 1") || strings.Contains(seen.String(), "2 at 1")
		if !first || !other {
			t.Errorf("%T: got %s", m, seen.String())
		}
	}
}
