package temporal

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// tasks returns examples whose answer is "1".
func tasks(from, to int) (all []evaluate.Example[agent.Task, agent.Answer]) {
	for i := range to - from {
		all = append(all, evaluate.Example[agent.Task, agent.Answer]{
			In: agent.Task{Task: fmt.Sprintf("Look at number %d.", from+i)}, Want: agent.Answer{Answer: "1"}})
	}
	return all
}

// An optimization runs its candidates on the workers. The model needs the candidate's instructions for each of its two
// replies, and workers drop the run in between.
func TestOptimize(t *testing.T) {
	t.Parallel()
	for _, by := range []optimize.Optimizer{optimize.MIPROv2{DemoSets: -1, Instructions: 2, Trials: 2},
		optimize.GEPA{Iterations: 2}} {
		t.Run(fmt.Sprintf("%T", by), func(t *testing.T) {
			t.Parallel()
			testOptimize(t, by)
		})
	}
}

func testOptimize(t *testing.T, by optimize.Optimizer) {
	const good = "Look it up in the catalog."
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch text := r.Text(); {
		case !strings.Contains(text, good):
			return llmtest.Reply{Text: fences([]string{`submit({answer: "no idea"})`})[0]}, nil
		case !strings.Contains(text, "found it"):
			return llmtest.Reply{Text: fences([]string{`await look({of: "a"}); console.log("found " + "it")`})[0]}, nil
		}
		return llmtest.Reply{Text: fences([]string{`submit({answer: "1"})`})[0]}, nil
	})
	writer := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if _, reflects := by.(optimize.GEPA); reflects && !strings.Contains(r.Text(), `submit({answer: "no idea"})`) {
			return llmtest.Reply{Text: "<instructions>\nLook.\n</instructions>"}, nil // it was not told what the run did
		}
		return llmtest.Reply{Text: "<instructions>\n" + good + strings.Repeat(" Do.", 20000) + "\n</instructions>"}, nil
	})
	looks := (&shop{}).set(t).Only(func(b *tools.Binding) bool { return b.Hints.Class == tools.Read })
	a := agentWith(t, looks, Options{}, model)
	m := Module[agent.Task, agent.Answer](a, &server{t: t, a: a, dies: true}, "optimize-")
	data := optimize.Data[agent.Task, agent.Answer]{Train: tasks(0, 4), Val: tasks(4, 8)}
	exact := evaluate.ExactMatch[agent.Task, agent.Answer]()
	r, err := optimize.Run(t.Context(), m, by, data, exact, &optimize.Options{Reflection: writer})
	if err != nil {
		t.Fatal(err)
	}
	learned := r.Best.Instructions("Agent.Module")
	if r.Candidates[0].Score != 0 || r.Best.Score != 1 || !strings.HasPrefix(learned, good) {
		t.Errorf("the scores are %v and %v; warnings: %q", r.Candidates[0].Score, r.Best.Score, r.Warnings)
	}

	// What was found can be loaded into the agent's module, and is no change then.
	var saved bytes.Buffer
	if err := module.Save(&saved, r.Module); err != nil {
		t.Fatal(err)
	}
	own := &struct{ Agent any }{a.module}
	if err := module.Load(&saved, own); err != nil {
		t.Fatal(err)
	}
	if p, err := m.Run(t.Context(), agent.Task{Task: "Look."}); err != nil || p.Output.Answer != "no idea" {
		t.Errorf("got %v, %v; the module was changed", p, err)
	}
	if changed, err := r.Module.(*remote[agent.Task, agent.Answer]).changes(); changed != nil || err != nil {
		t.Errorf("got %d bytes, %v", len(changed), err)
	}
}

// Workers use the demos of a candidate. What cannot be sent is an error.
func TestOptimizeDemos(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		answer := "no idea"
		if asked := strings.NewReplacer("4", "0", "5", "0", "6", "0", "7", "0").Replace(r.Last()); asked == r.Last() ||
			strings.Contains(r.Text(), "number 1.") && strings.Contains(r.Text(), "number 2.") {
			answer = "1"
		}
		return llmtest.Reply{Text: "[[ ## answer ## ]]\n" + answer + "\n[[ ## completed ## ]]"}, nil
	})
	objects, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sig := signature.Must(signature.New[agent.Task, agent.Answer]("Look."))
	a, err := New[agent.Task, agent.Answer]("bot", module.NewPredict(sig, model, nil),
		&Options{Store: journal.NewMemory(), Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	m := Module[agent.Task, agent.Answer](a, &server{t: t, a: a, dies: true}, "optimize-")
	data := optimize.Data[agent.Task, agent.Answer]{Train: tasks(0, 4), Val: tasks(4, 8)}
	for _, by := range []optimize.Optimizer{optimize.LabeledFewShot{}, optimize.BootstrapFewShot{MaxLabeled: -1}} {
		r, err := optimize.Run(t.Context(), m, by, data, evaluate.ExactMatch[agent.Task, agent.Answer](), nil)
		if err != nil || r.Candidates[0].Score != 0 || r.Best.Score != 1 {
			t.Errorf("%T: got %v, %v", by, r, err)
		}
	}

	pick := func(context.Context, signature.Values, []module.Demo) ([]module.Demo, error) { return nil, nil }
	for want, change := range map[string]func(*module.Predictor){
		"the model of":   func(p *module.Predictor) { p.Model = llmtest.New() },
		"with PickDemos": func(p *module.Predictor) { p.PickDemos = pick },
	} {
		c := module.Clone(m)
		for _, p := range module.Predictors(c) {
			change(p)
		}
		if _, err := c.Run(t.Context(), agent.Task{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err = Module[string, agent.Answer](a, nil, "").Run(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "are not those of bot") {
		t.Errorf("got %v", err)
	}
}
