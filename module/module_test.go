package module_test

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/typescript"
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

// The predictors of every module can be found, copied, saved and loaded.
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

// Every module can make attempts with different rollouts, except a Chat.
func TestEveryModuleMakesAttempts(t *testing.T) {
	t.Parallel()
	var seen rollouts
	for _, k := range everyKind(t, seen.model()) {
		seen.seen = nil
		m := k.m
		_, isChat := m.(*module.Chat[orders, sum])
		if isChat {
			continue
		}
		_, _ = module.Samples(
			t.Context(),
			m,
			anything,
			2,
			&module.ParallelOptions{Collect: true},
		) // the replies have no program
		first, other := strings.Contains(
			seen.String(),
			"0 at 1",
		), strings.Contains(seen.String(), "1 at 1") ||
			strings.Contains(seen.String(), "2 at 1")
		if !first || !other {
			t.Errorf("%T: got %s", m, seen.String())
		}
	}
}

// A sandbox or compiler that cannot run programs is reported before the model is called.
func TestSandboxIsReadyBeforeRun(t *testing.T) {
	t.Parallel()
	closed, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	isolated, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	isolated.Close()
	compiler, err := typescript.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	compiler.Close()
	const (
		isClosed   = "sandbox: the sandbox has been closed"
		isEmpty    = "sandbox: the sandbox is nil or empty; create it with New, and check New's error"
		noCompiler = "typescript: this Compiler is nil or empty; create one with New and check the error that New returns"
	)
	open := inProcess(t)
	for _, c := range []struct {
		box      *sandbox.Sandbox
		compiler sandbox.Compiler
		want     string
	}{
		{closed, nil, isClosed},
		{isolated, nil, isClosed},
		{&sandbox.Sandbox{}, nil, isEmpty},
		{open, (*typescript.Compiler)(nil), noCompiler},
		{open, &typescript.Compiler{}, noCompiler},
		{open, compiler, "typescript: the compiler has been closed"},
	} {
		model := llmtest.New()
		o := &module.Options{Compiler: c.compiler}
		for _, m := range []module.Module[orders, sum]{
			module.NewCodeAct(adding, model, c.box, nil, o),
			module.NewProgramOfThought(adding, model, c.box, o),
			module.NewRLM(adding, model, c.box, nil, &module.RLMOptions{Options: *o}),
			module.NewRLM(adding, model, c.box, nil, &module.RLMOptions{Options: *o, Depth: 2}),
		} {
			if _, err := m.Run(t.Context(), anything); err == nil || err.Error() != c.want {
				t.Errorf("%T: got %v, want %s", m, err, c.want)
			}
		}
		if n := len(model.Requests()); n > 0 {
			t.Errorf("%s: the model was called %d times", c.want, n)
		}
	}
}
