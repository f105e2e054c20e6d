package module_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// own is a user's module.
type own func(ctx context.Context, in orders) (*module.Prediction[sum], error)

func (f own) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) { return f(ctx, in) }

// total1 returns a model that always replies with total 1, and streams it.
func total1() *llmtest.Model {
	return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: `{"total": 1}`, Chunks: []string{`{"total": 1}`}}, nil
	})
}

// A module that violates the contract of [module.Module] fails, whatever runs it, and nothing else does.
func TestInvalidModules(t *testing.T) {
	t.Parallel()
	var none module.Module[orders, sum]
	for want, m := range map[string]module.Module[orders, sum]{
		"module: the module is nil; pass a module": none,
		"module: Run of module_test.own panicked: boom": own(func(context.Context, orders) (*module.Prediction[sum], error) {
			panic("boom")
		}),
		"module: module_test.own returned neither a prediction nor an error": own(func(context.Context,
			orders) (*module.Prediction[sum], error) {
			return nil, nil
		}),
		"module: the run ended with runtime.Goexit instead of returning": own(func(context.Context,
			orders) (*module.Prediction[sum], error) {
			runtime.Goexit()
			return nil, nil
		}),
		"module: the *fs.PathError that Run of module_test.own returned panicked: runtime error: invalid memory " +
			"address or nil pointer dereference": own(func(context.Context, orders) (*module.Prediction[sum], error) {
			var none *fs.PathError
			return nil, none
		}),
	} {
		stream := module.Start(t.Context(), m, anything)
		var ended error
		for _, err := range stream.Events() {
			ended = err
		}
		pred, err := stream.Result()
		if pred != nil || err == nil || err.Error() != want || !errors.Is(ended, err) {
			t.Errorf("Start: got %v and %v, then %v; want %s", pred, err, ended, want)
		}
		results, err := module.Parallel(t.Context(), m, make([]orders, 3), &module.ParallelOptions{Workers: 1, Collect: true})
		if all := "module: 3 of 3 runs failed; the first was inputs[0]: " + strings.TrimPrefix(
			want,
			"module: ",
		); err == nil ||
			err.Error() != all {
			t.Errorf("Parallel: got %v, want %s", err, all)
		}
		for _, r := range results {
			if r.Prediction != nil || r.Err == nil || r.Err.Error() != want {
				t.Errorf("Parallel: got %+v, want %s", r, want)
			}
		}
	}
}

// The error has the value of the panic and the stack.
func TestPanicError(t *testing.T) {
	t.Parallel()
	why := errors.New(strings.Repeat("why ", 1000))
	_, err := module.Start(t.Context(), own(func(context.Context, orders) (*module.Prediction[sum],
		error) {
		panic(why)
	}), anything).
		Result()
	var broken *models.PanicError
	if !errors.As(err, &broken) || !errors.Is(err, why) || !strings.Contains(string(broken.Stack), "TestPanicError") ||
		len(err.Error()) > 600 {
		t.Errorf("got %v", err)
	}
}

// erratic is an adapter that panics in Read.
type erratic struct{ module.Adapter }

func (erratic) Read(*signature.Spec, string, bool) (signature.Values, error) { panic("adapter") }

// openings is an adapter that panics in System.
type openings struct{ module.Adapter }

func (openings) System(*signature.Spec, string) string { panic("adapter") }

type brokenBox struct{}

func (brokenBox) Run(context.Context, sandbox.Program) (*sandbox.Outcome, error) { panic("box") }

// Whatever panics, the run ends with an error and with what was done.
func TestRunPanics(t *testing.T) {
	t.Parallel()
	one := func(o *module.Options) *sumPredict { return module.NewPredict(adding, total1(), o) }
	late, early := &module.Options{
		Adapter: erratic{module.Markers()},
	}, &module.Options{
		Adapter: openings{module.Markers()},
	}
	broken := func(context.Context, orders, *module.Prediction[sum]) (module.Score, error) { panic("reward") }
	for name, c := range map[string]struct {
		m     module.Module[orders, sum]
		calls int
		want  string
	}{
		"Predict":         {one(late), 1, "module: no answer after 1 step: Run of Predict panicked: adapter"},
		"Predict, before": {one(early), 0, "module: Run of Predict panicked: adapter"},
		"ReAct": {module.NewReAct(adding, total1(), nil, late), 1,
			"module: no answer after 1 step: Run of ReAct panicked: adapter"},
		"CodeAct": {module.NewCodeAct(adding, llmtest.New(submit1), brokenBox{}, nil, nil), 1,
			"module: no answer after 1 step: Run of CodeAct panicked: box"},
		"BestOfN": {module.NewBestOfN(one(nil), 2, broken, 1, nil), 2,
			"module: no answer after 2 attempts; the last error: the reward panicked: reward"},
		"BestOfN, before": {module.NewBestOfN(one(early), 2, never, 1, nil), 0, "module: Run of BestOfN panicked: adapter"},
		"Refine": {module.NewRefine(one(nil), 1, broken, 1, nil), 1,
			"module: no answer after 1 run: the reward panicked: reward"},
		"comparison": {module.NewMultiChainComparison(adding, one(nil), 2, total1(), late), 3,
			"module: no answer after 1 step: Run of MultiChainComparison panicked: adapter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pred, err := c.m.Run(t.Context(), anything)
			if pred != nil || err == nil || err.Error() != c.want {
				t.Fatalf("got %v and %v, want %s", pred, err, c.want)
			}
			var part *module.IncompleteError
			if accounted := errors.As(err, &part); accounted != (c.calls > 0) {
				t.Errorf("an account: %t", accounted)
			} else if accounted && part.Trajectory.Usage().Calls != c.calls {
				t.Errorf("%d calls are accounted for, not %d", part.Trajectory.Usage().Calls, c.calls)
			}
		})
	}
	if _, err := module.Samples(
		t.Context(),
		one(early),
		anything,
		2,
		nil,
	); err == nil ||
		err.Error() != "module: Samples panicked: adapter" {
		t.Error(err)
	}
	_, err := module.Parallel(
		t.Context(),
		one(nil),
		[]orders{anything, anything},
		&module.ParallelOptions{Workers: 1, Progress: func(int, int, int) { panic("progress") }},
	)
	var part *module.IncompleteError
	if !errors.As(err, &part) || part.Err.Error() != "module: Progress panicked: progress" ||
		part.Trajectory.Usage().Calls != 1 {
		t.Error(err)
	}
}

// If an observer panics, the run ends and nothing that was done is lost.
func TestObserverPanics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at    func(event.Event) bool
		calls int
	}{
		{func(e event.Event) bool { _, ok := e.(event.ModelRequest); return ok }, 0},
		{func(e event.Event) bool { _, ok := e.(event.ModelResponse); return ok }, 1},
		{func(e event.Event) bool { _, ok := e.(event.TextDelta); return ok }, 1},
		{func(e event.Event) bool { end, ok := e.(event.RunEnd); return ok && end.Err == nil }, 1},
	} {
		failed := false
		m := module.NewPredict(adding, total1(), &module.Options{OnEvent: func(_ context.Context, e event.Event) {
			if c.at(e) {
				panic("observer")
			}
			_, last := e.(event.RunEnd)
			failed = failed || last
		}})
		pred, err := module.Start(t.Context(), m, anything).Result()
		var part *module.IncompleteError
		if !errors.As(err, &part) || pred != nil || part.Err.Error() != "the observer of events panicked: observer" {
			t.Errorf("got %v and %v", pred, err)
			continue
		}
		if calls := part.Trajectory.Usage().Calls; calls != c.calls || !failed {
			t.Errorf("%d calls are accounted for, not %d", calls, c.calls)
		}
	}
}

// A model call that panics releases its part of the budget and is counted.
func TestRLMPanicReleasesBudget(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N <= 3 {
			panic("model")
		}
		return llmtest.Reply{Text: "fine"}, nil
	})
	m, _ := rlm(t, inProcess(t), sub, &module.RLMOptions{Concurrency: 1},
		`let failed = 0; for (let i = 0; i < 3; i++) try { await llm("p" + i) } catch (e) { failed++ } failed`,
		`submit({total: (await llm("p3")).length + failed})`)
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Output.Total != 7 || pred.Trajectory.Spent.Total().Calls != 4 {
		t.Errorf("got %+v, %v", pred, err)
	}
}

// A model call that ends its goroutine releases its part of the budget; the sandbox ends the run.
func TestRLMGoexit(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		runtime.Goexit()
		return llmtest.Reply{}, nil
	})
	outer, _ := rlm(t, inProcess(t), sub, &module.RLMOptions{Concurrency: 1}, `await llm("a")`)
	pred, err := outer.Run(t.Context(), book{"x"})
	var part *module.IncompleteError
	if pred != nil || !errors.As(err, &part) || part.Trajectory.Usage().Calls != 2 {
		t.Errorf("got %+v, %v", pred, err)
	}
}

// If an observer panics on an event of llm, the call still releases its slot.
func TestRLMObserverPanicReleasesBudget(t *testing.T) {
	t.Parallel()
	m, _ := rlm(
		t,
		inProcess(t),
		echoes(),
		&module.RLMOptions{Concurrency: 1, Options: module.Options{OnEvent: func(_ context.Context, e event.Event) {
			if a, ok := e.(event.ModelRequest); ok && a.Question() == "one" {
				panic("observer")
			}
		}}},
		`let failed; try { await llm("one") } catch (e) { failed = e.message } console.log(failed); submit({total: `+
			`(await llm("two")).length})`,
	)
	pred, err := m.Run(t.Context(), book{"x"})
	if err != nil || pred.Output.Total != 3 || pred.Trajectory.Spent.Total().Calls != 1 {
		t.Fatalf("got %+v, %v", pred, err)
	}
	if said := pred.Trajectory.Steps[0].Outcome.Stdout.Text; said != "it failed; the reason is not shown\n" {
		t.Errorf("the program got %q", said)
	}
}

// Zero values and nil modules return an error.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	model, p := total1(), module.NewPredict(adding, total1(), nil).Predictor
	var noStream *module.Stream[sum]
	_, demoless := module.NewDemo[orders, sum](nil, anything, sum{})
	_, tooMany := module.Samples(t.Context(), module.NewPredict(adding, model, nil), anything, math.MaxInt, nil)
	for _, c := range []struct {
		err  error
		want string
	}{
		{second((&module.CodeAct[orders, sum]{Predictor: p}).Run(t.Context(), anything)),
			"module: the CodeAct is nil, or was not made by NewCodeAct"},
		{second((&module.ProgramOfThought[orders, sum]{Predictor: p}).Run(t.Context(), anything)),
			"module: the ProgramOfThought is nil, or was not made by NewProgramOfThought"},
		{second((&module.RLM[orders, sum]{Predictor: p, Sub: p}).Run(t.Context(), anything)),
			"module: the RLM is nil, or was not made by NewRLM"},
		{second(noStream.Result()), "module: the Stream is nil, or was not created by Start"},
		{second(new(module.Stream[sum]).Result()), "module: the Stream is nil, or was not created by Start"},
		{demoless, "module: the signature is missing; create one with signature.New"},
		{(*module.IncompleteError)(nil), "module: no answer"},
		{tooMany, "module: 9223372036854775807 attempts are too many; make at most 10000"},
		{second(module.NewMultiChainComparison(adding, module.NewPredict(adding, model, nil), math.MaxInt, model,
			nil).Run(t.Context(), anything)), tooMany.Error()},
		{module.Save(nil, module.NewPredict(adding, model, nil)), "module: save: the writer is nil"},
		{module.Load(nil, module.NewPredict(adding, model, nil)), "module: load: the reader is nil"},
	} {
		wantError(t, c.err, c.want)
	}
	for e, err := range noStream.Events() {
		if e != nil || err == nil {
			t.Errorf("got %v and %v", e, err)
		}
	}
	if (*module.Predictor)(nil).Clone() != nil {
		t.Error("a nil module was copied")
	}
	results, err := module.Parallel(t.Context(), own(func(context.Context, orders) (*module.Prediction[sum], error) {
		var none *module.IncompleteError
		return nil, none
	}), []orders{anything}, nil)
	if err == nil || results[0].Trajectory().Usage() != (event.Usage{}) {
		t.Error(err)
	}
}

// A nil context is an error.
func TestNoContext(t *testing.T) {
	t.Parallel()
	var none context.Context
	one := module.NewPredict(adding, total1(), nil)
	results, parallel := module.Parallel(none, one, make([]orders, 2), nil)
	errs := map[string]error{
		"Parallel":       parallel,
		"one of several": results[1].Err,
		"Samples":        second(module.Samples(none, one, anything, 2, nil)),
		"Start":          second(module.Start(none, one, anything).Result()),
	}
	for _, k := range everyKind(t, total1()) {
		errs[fmt.Sprintf("%T", k.m)] = second(k.m.Run(none, anything))
	}
	for name, err := range errs {
		if want := "module: the context is nil; pass context.Background() if you have no other"; err == nil ||
			err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}
