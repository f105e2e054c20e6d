package module_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/state"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

var rating = signature.Must(signature.New[crate, sum]("Rate it."))

// ignorant is a program that knows only positive limits, and is right about 0 by chance. It was saved and loaded.
func ignorant(t *testing.T, act *module.CodeAct[crate, sum], code string) *module.Program[crate, sum] {
	t.Helper()
	script := act.Program(module.Script{Code: code}).Script
	script.Seen = []string{".limit is positive"}
	var file bytes.Buffer
	if err := script.Write(&file); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(file.String(), "\n// @seen .limit is positive\n") {
		t.Errorf("the file is %s", file.String())
	}
	loaded, err := module.ReadScript(&file)
	if err != nil {
		t.Fatal(err)
	}
	return act.Program(loaded)
}

// knowing is a model that writes a program that knows all limits.
func knowing() *llmtest.Model {
	return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fence(`submit({total: limit < 0 ? -1 : 7 + 2 * limit})`)}, nil
	})
}

const knowsPositive = `submit({total: 7 + 2 * limit})`

// An input of a kind that no example had goes to the model, too, until the answers are equal. If they differ, that kind
// always goes to the model.
func TestProgramShadow(t *testing.T) {
	t.Parallel()
	model := knowing()
	p := ignorant(t, module.NewCodeAct(rating, model, inProcess(t), nil, nil), knowsPositive)
	const (
		zero     = "no example had an input of this kind: .limit is zero"
		negative = "no example had an input of this kind: .limit is negative"
		differ   = "the program and the model gave different answers; " + negative
	)
	for i, c := range []struct {
		limit, total, requests int
		fallback               string
		compiled               bool // the first step
	}{
		{5, 17, 0, "", true},
		{0, 7, 1, zero, true},
		{0, 7, 0, "", true}, // trusted
		{-2, -1, 1, differ, true},
		{-3, -1, 1, negative, false},
		{-4, -1, 1, negative, false},
		{6, 19, 0, "", true},
	} {
		asked, ended := len(model.Requests()), ""
		ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) {
			if e, ok := e.(event.RunEnd); ok {
				ended = e.Fallback
			}
		})
		pred, err := p.Run(ctx, crate{Limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		requests, steps := len(model.Requests())-asked, pred.Trajectory.Steps
		if pred.Output.Total != c.total || requests != c.requests || steps[0].Compiled != c.compiled {
			t.Errorf("run %d: %d after %d requests:\n%v", i, pred.Output.Total, requests, pred.Trajectory)
		}
		if pred.Trajectory.Fallback != c.fallback || ended != c.fallback {
			t.Errorf("run %d: %q, the event has %q", i, pred.Trajectory.Fallback, ended)
		}
	}
	for _, r := range model.Requests() {
		if strings.Contains(r.Text(), "7 + 2") {
			t.Errorf("the model was shown the program:\n%s", r.Text())
		}
	}
}

// If a call could have an effect, the program does not run in addition to the model.
func TestProgramShadowHasNoEffects(t *testing.T) {
	t.Parallel()
	o := &office{}
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fence(`submit({total: await send({limit: limit - 1})})`)}, nil
	})
	act := module.NewCodeAct(rating, model, inProcess(t), o.tools(t), nil)
	p := ignorant(t, act, `submit({total: await send({limit})})`)
	for range 2 {
		o.sent.Store(0)
		pred, err := p.Run(t.Context(), crate{Limit: -1})
		if err != nil || pred.Output.Total != -2 || o.sent.Load() != 1 || len(pred.Trajectory.Steps) != 1 {
			t.Errorf("%d parcels were sent: %v, %v", o.sent.Load(), pred, err)
		}
	}
}

// What happens to inputs of unseen kinds in other cases.
func TestProgramShadowCases(t *testing.T) {
	t.Parallel()
	box, zero := inProcess(t), crate{}
	act := module.NewCodeAct(rating, knowing(), box, nil, nil)
	frozen := state.Freeze(t.Context())
	off, noModel, failing := ignorant(t, act, knowsPositive), ignorant(t, act, knowsPositive), ignorant(t, act, `null.x`)
	off.Shadow, noModel.Predictor.Model = false, nil
	for name, c := range map[string]struct {
		ctx   context.Context
		p     *module.Program[crate, sum]
		calls [2]int // of the model, in two runs
	}{
		"off":                             {t.Context(), off, [2]int{0, 0}},
		"no model":                        {t.Context(), noModel, [2]int{0, 0}},
		"an evaluation":                   {frozen, ignorant(t, act, knowsPositive), [2]int{1, 1}},
		"the program fails":               {t.Context(), failing, [2]int{1, 1}},
		"another script":                  {t.Context(), act.Program(module.Script{Code: knowsPositive}), [2]int{0, 0}},
		"a clone":                         {t.Context(), module.Clone(ignorant(t, act, knowsPositive)), [2]int{1, 0}},
		"equal in another notation":       {t.Context(), ignorant(t, act, `return {total: 7.0}`), [2]int{1, 0}},
		"program and model use all tools": {t.Context(), ignorant(t, withScales(t), `submit({total: 7})`), [2]int{1, 0}},
	} {
		for i, calls := range c.calls {
			pred, err := c.p.Run(c.ctx, zero)
			if err != nil || pred.Output.Total != 7 || pred.Trajectory.Usage().Calls != calls {
				t.Errorf("%s, run %d: %v, %v", name, i, pred, err)
			}
		}
	}
	down := errors.New("down")
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) { return llmtest.Reply{}, down })
	p := ignorant(t, module.NewCodeAct(rating, model, box, nil, nil), knowsPositive)
	if pred, err := p.Run(t.Context(), zero); pred != nil || !errors.Is(err, down) {
		t.Errorf("without a comparison, the answer is %v, %v", pred, err)
	}
}

// withScales returns an agent with a tool that only reads.
func withScales(t *testing.T) *module.CodeAct[crate, sum] {
	t.Helper()
	weigh := tools.Func("weigh", "", func(_ context.Context, c crate) (int, error) { return c.Limit, nil },
		&tools.Hints{Class: tools.Read})
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fence(`submit({total: 7 + await weigh({limit})})`)}, nil
	})
	return module.NewCodeAct(rating, model, inProcess(t), toolSet(t, weigh), nil)
}

// Concurrent runs compare, too.
func TestProgramShadowIsConcurrent(t *testing.T) {
	t.Parallel()
	p := ignorant(t, module.NewCodeAct(rating, knowing(), inProcess(t), nil, nil), knowsPositive)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			limit := i%3 - 1
			pred, err := p.Run(t.Context(), crate{Limit: limit})
			if want := []int{-1, 7, 9}[i%3]; err != nil || pred.Output.Total != want {
				t.Errorf("%d: %v, %v", limit, pred, err)
			}
		})
	}
	wg.Wait()
}

// A run whose answer or whose calls are unlike those of all examples is compared, too: it took a branch that no example
// took. A program with tools that have effects is not, since its effects have happened.
func TestProgramShadowOfRuns(t *testing.T) {
	t.Parallel()
	const code = `if (limit > 100) await weigh({}); submit({total: limit > 50 ? 0 : 5})`
	for _, class := range []tools.Class{tools.Read, tools.Effect} {
		weigh := tools.Func("weigh", "Weighs.", func(context.Context, struct{}) (int, error) { return 1, nil },
			&tools.Hints{Class: class})
		model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: fence(`submit({total: 3})`)}, nil
		})
		act := module.NewCodeAct(rating, model, inProcess(t), toolSet(t, weigh), nil)
		script := act.Program(module.Script{Code: code}).Script
		script.Seen = []string{".limit is positive", "answer.total is positive"}
		p := act.Program(script)
		const differ = "the program and the model gave different answers; no example had a run of this kind: "
		for limit, want := range map[int]string{5: "", 60: "answer.total is zero", 101: "answer.total is zero, calls weigh"} {
			pred, err := p.Run(t.Context(), crate{Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			if want != "" {
				want = differ + want
			}
			if class == tools.Effect {
				want = ""
			}
			if got := pred.Trajectory.Fallback; got != want {
				t.Errorf("%v, limit %d: got %q, want %q", class, limit, got, want)
			}
		}
	}
}
