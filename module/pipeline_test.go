package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// desk is a module whose first part has an effect, and whose second part can be made to fail.
type desk struct {
	Act  *module.CodeAct[orders, sum]
	Tell *module.Predict[orders, sum]
	paid *atomic.Int64
}

var errDown = errors.New("down")

func newDesk(t *testing.T, fails bool) *desk {
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
	return &desk{module.NewCodeAct(adding, act, inProcess(t), set, nil), module.NewPredict(adding, tell, nil), paid}
}

func (d *desk) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	if _, err := d.Act.Run(ctx, in); err != nil {
		return nil, err
	}
	return d.Tell.Run(ctx, in)
}

// ways are the ways to run a module.
var ways = map[string]func(context.Context, *desk) (*module.Prediction[sum], error){
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
	"Start within Parallel": func(ctx context.Context, d *desk) (*module.Prediction[sum], error) {
		results, err := module.Parallel(ctx, started{d}, []orders{anything}, nil)
		return results[0].Prediction, err
	},
}

type started struct{ d *desk }

func (s started) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	return module.Start(ctx, s.d, in).Result()
}

// The calls of a user's module are recorded, whatever it returns.
func TestPipelineTrajectory(t *testing.T) {
	t.Parallel()
	for name, run := range ways {
		d := newDesk(t, false)
		pred, err := run(t.Context(), d)
		if got := usageOf(t, pred, err); err != nil || got.Calls != 2 {
			t.Errorf("%s: %d calls are accounted for, not 2: %v", name, got.Calls, err)
		}
		d = newDesk(t, true)
		pred, err = run(t.Context(), d)
		calls, part := usageOf(t, pred, err).Calls, (*module.IncompleteError)(nil)
		if !errors.As(err, &part) || !errors.Is(err, errDown) || !part.MayHaveActed() || calls != 2 || d.paid.Load() != 1 {
			t.Errorf("%s, failing: paid %d times, %d calls are accounted for: %v", name, d.paid.Load(), calls, err)
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
	} {
		d, part := newDesk(t, false), (*module.IncompleteError)(nil)
		err := run(t.Context(), d)
		if !errors.As(err, &part) || !part.MayHaveActed() || part.Trajectory.Usage().Calls != 2 || d.paid.Load() != 1 {
			t.Errorf("%s: paid %d times: %v", name, d.paid.Load(), err)
		}
	}
}

// A run whose answer is discarded because an observer panics is recorded once.
func TestRunThatEndsTwice(t *testing.T) {
	t.Parallel()
	ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) {
		if _, done := e.(event.RunEnd); done && e.From().Module == "Predict" {
			panic("observer")
		}
	})
	twice := own(func(ctx context.Context, in orders) (*module.Prediction[sum], error) {
		for range 2 {
			if _, err := module.NewPredict(adding, total1(), nil).Run(ctx, in); err == nil {
				t.Error("no error")
			}
		}
		return &module.Prediction[sum]{}, nil
	})
	pred, err := module.Start(ctx, twice, anything).Result()
	if err != nil || len(pred.Trajectory.Runs) != 2 || pred.Trajectory.Usage().Calls != 2 {
		t.Errorf("got %v, %v", pred, err)
	}
}

// If a tool runs a module that had effects and fails, the tool is not called again as if nothing
// had happened.
func TestPipelineAsTool(t *testing.T) {
	t.Parallel()
	for name, run := range ways {
		d := newDesk(t, true)
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
	wantError(t, err, `tools: tool "desk": the function is nil`)
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
		for way, runs := range map[string]int{"a function": 2, "a tool": 1} {
			d := newDesk(t, false)
			desk := tools.Func("desk", "", func(ctx context.Context, _ struct{}) (int, error) {
				pred, err := d.Run(ctx, anything)
				if err != nil {
					return 0, err
				}
				return pred.Output.Total, nil
			}, nil)
			if way == "a tool" {
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
