package module_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// desk is a module whose first part has an effect, and whose second part can be made to fail.
type desk struct {
	Act   *module.CodeAct[orders, sum]
	Tell  *module.Predict[orders, sum]
	whole bool // it calls Compose
	paid  *atomic.Int64
}

var errDown = errors.New("down")

func newDesk(t *testing.T, fails, whole bool) *desk {
	t.Helper()
	paid := new(atomic.Int64)
	set := toolSet(t, tools.Func("pay", "", func(context.Context, orders) (int64, error) { return paid.Add(1), nil }, nil))
	act := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fence(`submit({total: await pay({limit: 1})})`)}, nil
	})
	tell := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		if fails {
			return llmtest.Reply{}, errDown
		}
		return llmtest.Reply{Text: "[[ ## total ## ]]\n2\n\n[[ ## completed ## ]]"}, nil
	})
	return &desk{module.NewCodeAct(adding, act, inProcess(t), set, nil), module.NewPredict(adding, tell, nil), whole, paid}
}

func (d *desk) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	if d.whole {
		return module.Compose(ctx, "desk", func(ctx context.Context) (sum, error) {
			pred, err := d.answer(ctx, in)
			if err != nil {
				return sum{}, err
			}
			return pred.Output, nil
		})
	}
	return d.answer(ctx, in)
}

func (d *desk) answer(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	if _, err := d.Act.Run(ctx, in); err != nil {
		return nil, err
	}
	return d.Tell.Run(ctx, in)
}

// ways are the ways to run a module.
var ways = map[string]func(context.Context, *desk) (*module.Prediction[sum], error){
	"Run": func(ctx context.Context, d *desk) (*module.Prediction[sum], error) { return d.Run(ctx, anything) },
	"Start": func(ctx context.Context, d *desk) (*module.Prediction[sum], error) {
		return module.Start(ctx, d, anything).Result()
	},
	"Parallel": func(ctx context.Context, d *desk) (*module.Prediction[sum], error) {
		results, err := module.Parallel(ctx, d, []orders{anything}, nil)
		return results[0].Prediction, err
	},
	"BestOfN": func(ctx context.Context, d *desk) (*module.Prediction[sum], error) {
		return module.NewBestOfN(d, 1, func(context.Context, orders, *module.Prediction[sum]) (module.Score, error) {
			return module.Score{Value: 1}, nil
		}, 1, nil).Run(ctx, anything)
	},
	"Start within Parallel within Compose": func(ctx context.Context, d *desk) (*module.Prediction[sum], error) {
		return module.Compose(ctx, "outermost", func(ctx context.Context) (sum, error) {
			_, err := module.Parallel(ctx, started{d}, []orders{anything}, nil)
			return sum{}, err
		})
	},
}

type started struct{ d *desk }

func (s started) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	return module.Start(ctx, s.d, in).Result()
}

// The calls of a user's module are recorded, whatever it returns.
func TestComposeTrajectory(t *testing.T) {
	t.Parallel()
	for name, run := range ways {
		for _, whole := range []bool{false, true} {
			if name == "Run" && !whole {
				continue // only the module itself can record its calls
			}
			d := newDesk(t, false, whole)
			pred, err := run(t.Context(), d)
			if got := usageOf(t, pred, err); err != nil || got.Calls != 2 {
				t.Errorf("%s: %d calls are accounted for, not 2: %v", name, got.Calls, err)
			}
			d = newDesk(t, true, whole)
			pred, err = run(t.Context(), d)
			part := (*module.IncompleteError)(nil)
			if !errors.As(err, &part) || !errors.Is(err, errDown) || !part.MayHaveActed() || usageOf(t, pred, err).Calls != 2 ||
				d.paid.Load() != 1 {
				t.Errorf(
					"%s, failing: paid %d times, %d calls are accounted for: %v",
					name,
					d.paid.Load(),
					usageOf(t, pred, err).Calls,
					err,
				)
			}
		}
	}
}

// If there is an answer and then something outside of the module fails, the error has all calls of
// the run.
func TestErrorHasAllCalls(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(context.Context, *desk) error{
		"a reward": func(ctx context.Context, d *desk) error {
			_, err := module.NewBestOfN(d, 1, func(context.Context, orders, *module.Prediction[sum]) (module.Score, error) {
				return module.Score{}, errDown
			}, 1, nil).Run(ctx, anything)
			return err
		},
		"another run": func(ctx context.Context, d *desk) error {
			_, err := module.Parallel(ctx, d, []orders{anything, {}}, &module.ParallelOptions{Workers: 1})
			return err
		},
		"an error afterwards": func(ctx context.Context, d *desk) error {
			_, err := module.Compose(ctx, "after", func(ctx context.Context) (sum, error) {
				_, err := module.Parallel(ctx, d, []orders{anything}, nil)
				return sum{}, errors.Join(err, errDown)
			})
			return err
		},
	} {
		for _, whole := range []bool{false, true} {
			d, part := newDesk(t, false, whole), (*module.IncompleteError)(nil)
			err := run(t.Context(), d)
			if !errors.As(err, &part) || !part.MayHaveActed() || part.Trajectory.Usage().Calls != 2 || d.paid.Load() != 1 {
				t.Errorf("%s: paid %d times: %v", name, d.paid.Load(), err)
			}
		}
	}
}

// Calls that a module makes with another context are at least in its error.
func TestComposePartWithAnotherContext(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true, true)
	stray := own(func(ctx context.Context, in orders) (*module.Prediction[sum], error) {
		for range 3 {
			_, _ = module.NewPredict(adding, total1(), nil).Run(ctx, in)
		}
		return d.Run(context.Background(), in)
	})
	_, err := module.Parallel(t.Context(), stray, []orders{anything}, nil)
	part := (*module.IncompleteError)(nil)
	if !errors.As(err, &part) || !part.MayHaveActed() || part.Trajectory.Usage().Calls != 5 {
		t.Errorf("got %v", err)
	}
}

// A run whose answer is discarded because an observer panics is recorded once.
func TestComposeRunThatEndsTwice(t *testing.T) {
	t.Parallel()
	ctx := module.Observe(t.Context(), func(_ context.Context, e module.Event) {
		if _, done := e.(module.Answered); done && e.From().Module == "Predict" {
			panic("observer")
		}
	})
	pred, err := module.Compose(ctx, "twice", func(ctx context.Context) (int, error) {
		for range 2 {
			if _, err := module.NewPredict(adding, total1(), nil).Run(ctx, anything); err == nil {
				t.Error("no error")
			}
		}
		return 1, nil
	})
	if err != nil || len(pred.Trajectory.Runs) != 2 || pred.Trajectory.Usage().Calls != 2 {
		t.Errorf("got %v, %v", pred, err)
	}
}

// If a tool runs a module that had effects and fails, the tool is not called again as if nothing
// had happened.
func TestPipelineAsTool(t *testing.T) {
	t.Parallel()
	for name, run := range ways {
		d := newDesk(t, true, false)
		agent := tools.Func("agent", "", func(ctx context.Context, _ struct{}) (int, error) {
			_, err := run(ctx, d)
			return 0, errors.New(fmt.Sprint(err)) // which does not say that there was an effect
		}, nil)
		model := llmtest.New(fence(`await agent({})`), fence(`await agent({})`), submit1)
		_, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, agent), nil).Run(t.Context(), anything)
		if unknown := (*journal.UnknownError)(nil); d.paid.Load() != 1 || !errors.As(err, &unknown) {
			t.Errorf("%s: paid %d times: %v", name, d.paid.Load(), err)
		}
	}
}

func TestCompose(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false, true)
	var events []string
	ctx := module.Observe(t.Context(), func(_ context.Context, e module.Event) {
		o := e.From()
		events = append(events, strings.TrimPrefix(fmt.Sprintf("%T", e), "module.")+" "+o.Module)
	})
	pred, err := d.Run(ctx, anything)
	if err != nil || pred.Output.Total != 2 {
		t.Fatal(pred, err)
	}
	if runs := pred.Trajectory.Runs; len(runs) != 2 || states(runs[0].Calls) != "pay ok" || len(runs[1].Steps) != 1 ||
		pred.Trajectory.Spent != nil {
		t.Errorf("did %+v", pred.Trajectory)
	}
	var all []string
	for e := range pred.Trajectory.AllCalls() {
		all = append(all, e.Tool)
	}
	if got := strings.Join(all, ", "); got != "pay" || string(pred.Trajectory.Answer()) != `{"total":2}` {
		t.Errorf("called %s, answered %s", got, pred.Trajectory.Answer())
	}
	want := "RunStart desk, RunStart CodeAct, ModelRequest CodeAct, ModelResponse CodeAct, ProgramStart CodeAct, " +
		"ToolCallStart CodeAct, ToolCallEnd CodeAct, " +
		"ProgramEnd CodeAct, Answered CodeAct, RunStart Predict, ModelRequest Predict, ModelResponse Predict, " +
		"Answered Predict, Answered desk"
	if got := strings.Join(events, ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestComposeFails(t *testing.T) {
	t.Parallel()
	ask := func(ctx context.Context) error {
		_, err := module.NewPredict(adding, total1(), nil).Run(ctx, anything)
		return err
	}
	tests := []struct {
		name string
		f    func(context.Context) (func(), error)
		want string
		part bool
	}{
		{"no call", func(context.Context) (func(), error) { return nil, errDown }, "down", false},
		{
			"one call",
			func(ctx context.Context) (func(), error) { return nil, errors.Join(ask(ctx), errDown) },
			"module: no answer after 1 run: down",
			true,
		},
		{"one fails", func(ctx context.Context) (func(), error) {
			_, err := newDesk(t, true, true).Tell.Run(ctx, anything)
			return nil, err
		}, "module: no answer after 1 run: the model: down", true},
		{
			"panics",
			func(ctx context.Context) (func(), error) { _ = ask(ctx); panic("x") },
			"module: no answer after 1 run: Run of f panicked: x",
			true,
		},
		{"an error that panics", func(ctx context.Context) (func(), error) {
			_ = ask(ctx)
			return nil, fmt.Errorf("cannot open: %w", (*fs.PathError)(nil))
		}, "module: no answer after 1 run: the *fmt.wrapError that Run of f returned panicked: runtime error: invalid " +
			"memory address or nil pointer dereference", true},
		{
			"no JSON",
			func(ctx context.Context) (func(), error) { return func() {}, ask(ctx) },
			"module: no answer after 1 run: json: unsupported type: func()",
			true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pred, err := module.Compose(t.Context(), "f", test.f)
			part := (*module.IncompleteError)(nil)
			if pred != nil || err == nil || err.Error() != test.want || errors.As(err, &part) != test.part {
				t.Errorf("got %v, %v", pred, err)
			}
		})
	}
	if pred, err := module.Compose[int](
		t.Context(),
		"f",
		nil,
	); pred != nil || err == nil ||
		err.Error() != "module: Compose got a nil function" {
		t.Errorf("got %v, %v", pred, err)
	}
}

// totalling is a desk that can be a tool.
type totalling struct{ *desk }

func (d totalling) Run(ctx context.Context, _ struct{}) (*module.Prediction[int], error) {
	pred, err := d.desk.Run(ctx, anything)
	if err != nil {
		return nil, err
	}
	return &module.Prediction[int]{Output: pred.Output.Total, Trajectory: pred.Trajectory}, nil
}

func TestToolOfNilModule(t *testing.T) {
	t.Parallel()
	_, err := tools.NewSet(t.Context(), module.Tool[orders, sum]("desk", "", (*desk)(nil), nil))
	if err == nil || err.Error() != `tools: tool "desk": the function is nil` {
		t.Errorf("got %v", err)
	}
}

// Runs of a module in a tool belong to the enclosing run.
func TestToolRuns(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*tools.Set) module.Module[orders, sum]{
		"CodeAct": func(set *tools.Set) module.Module[orders, sum] {
			return module.NewCodeAct(adding, llmtest.New(fence(`submit({total: await desk({})})`)), inProcess(t), set, nil)
		},
		"RLM": func(set *tools.Set) module.Module[orders, sum] {
			return module.NewRLM(adding, llmtest.New(fence(`submit({total: await desk({})})`)), inProcess(t), set, nil)
		},
		"ReAct": func(set *tools.Set) module.Module[orders, sum] {
			return module.NewReAct(adding, llmtest.New(action("desk", `{}`), submits1), set, nil)
		},
	} {
		for way, runs := range map[string]int{"a function": 2, "a function, composed": 1, "a tool": 1,
			"a tool, composed": 1} {
			d := newDesk(t, false, strings.HasSuffix(way, "composed"))
			desk := tools.Func("desk", "", func(ctx context.Context, _ struct{}) (int, error) {
				pred, err := d.Run(ctx, anything)
				if err != nil {
					return 0, err
				}
				return pred.Output.Total, nil
			}, nil)
			if strings.HasPrefix(way, "a tool") {
				desk = module.Tool("desk", "", totalling{d}, nil)
			}
			pred, err := make(toolSet(t, desk)).Run(t.Context(), anything)
			if err != nil {
				t.Fatal(name, err)
			}
			var all []string
			for e := range pred.Trajectory.AllCalls() {
				all = append(all, e.Tool)
			}
			if got := strings.Join(
				all,
				", ",
			); got != "desk, pay" || len(pred.Trajectory.Runs) != runs ||
				pred.Trajectory.Spent != nil {
				t.Errorf("%s, %s: called %s, %d runs, spent %+v", name, way, got, len(pred.Trajectory.Runs), pred.Trajectory.Spent)
			}
		}
	}
}
