package module_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

// totalModel returns a model that always answers with a total.
func totalModel(n int) *llmtest.Model {
	return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fmt.Sprintf("[[ ## total ## ]]\n%d\n\n[[ ## completed ## ]]", n)}, nil
	})
}

// passes returns a model whose program submits what a tool returns.
func passes(call string) *llmtest.Model {
	return llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fence("submit(await " + call + "({limit: 1}))")}, nil
	})
}

var onlyReads = &tools.Hints{Class: tools.Read}

func askTool(m module.Module[orders, sum]) *tools.Tool {
	return module.Tool("ask", "Asks.", m, onlyReads)
}

type totaler = module.Module[orders, sum]

// late is a module that is made after the tool that runs it.
type late struct{ Module totaler }

func (l *late) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	return l.Module.Run(ctx, in)
}

// toolsOf are the ways to give a module to another one as a tool, and the path of the tool.
var toolsOf = map[string]func(m totaler) (tools.Source, string){
	"plain": func(m totaler) (tools.Source, string) { return askTool(m), "ask" },
	"classified": func(m totaler) (tools.Source, string) {
		return tools.WithHints(module.Tool("ask", "", m, nil), func(*tools.Tool) tools.Hints { return *onlyReads }), "ask"
	},
	"renamed, with another handler": func(m totaler) (tools.Source, string) {
		t := *askTool(m)
		inner := t.Handler
		t.Namespace, t.Name = "desk", "ask me"
		t.Handler = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) { return inner(ctx, args) }
		return &t, "desk.ask_me"
	},
}

// outers are the modules that call tools.
func outers(t *testing.T, set *tools.Set, path string) map[string]totaler {
	box, act := inProcess(t), passes(path)
	return map[string]totaler{
		"CodeAct": module.NewCodeAct(adding, act, box, set, nil),
		"Chat":    module.NewChat(adding, act, box, set, nil),
		"RLM":     module.NewRLM(adding, act, box, set, nil),
		"ReAct": module.NewReAct(adding, llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			if _, told, ok := strings.Cut(r.Last(), " returned:\n"); ok {
				return llmtest.Reply{Text: action("submit", told[:strings.Index(told, "}")+1])}, nil
			}
			return llmtest.Reply{Text: action(path, `{"limit": 1}`)}, nil
		}), set, nil),
		"Program": module.NewProgram(adding, module.Script{Code: "submit(await " + path + "({limit: 1}))"}, box, set, nil),
		"Program of a CodeAct": module.NewCodeAct(adding, act, box, set, nil).
			Program(module.Script{Code: "submit(await " + path + "({limit: 1}))"}),
	}
}

// Predictors finds the predictors of modules that are tools, after all others.
func TestPredictorsInTools(t *testing.T) {
	t.Parallel()
	box, one := inProcess(t), newSum()
	act := func(sources ...tools.Source) *module.CodeAct[orders, sum] {
		return module.NewCodeAct(adding, llmtest.New(), box, toolSet(t, sources...), nil)
	}
	later := &late{}
	self := act(askTool(later))
	later.Module = self
	best := module.NewBestOfN[orders, sum](newSum(), 2, fairly, 1, nil)
	for _, test := range []struct {
		name string
		m    any
		want string
	}{
		{"a tool", act(askTool(one)), "Predictor Tools[ask]"},
		{"in a field", struct{ Act any }{act(askTool(one))}, "Act Act.Tools[ask]"},
		{"after other fields", struct{ Act, Ask any }{act(askTool(best)), newSum()}, "Act Ask Act.Tools[ask].Module"},
		{"which is a field, too", struct{ Act, Ask any }{act(askTool(one)), one}, "Act Ask"},
		{"a tool of a tool", act(askTool(act(askTool(one)))), "Predictor Tools[ask] Tools[ask].Tools[ask]"},
		{"a module in two tools", act(askTool(one), module.Tool("an", "", totaler(one), nil)), "Predictor Tools[an]"},
		{"a tool of two modules", []any{act(askTool(one)), act(askTool(one))}, "[0] [1] [0].Tools[ask]"},
		{"itself", self, "Predictor"},
		{"no module", act(adder()), "Predictor"},
		{"of an RLM", module.NewRLM(adding, llmtest.New(), box, toolSet(t, askTool(one)), nil), "Predictor Sub Tools[ask]"},
	} {
		if got := paths(test.m); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	for name, way := range toolsOf {
		source, path := way(one)
		if got, want := paths(act(source)), "Predictor Tools["+path+"]"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// When a clone calls a tool that is a module, the clone of that module runs, and the original still runs its own.
func TestCloneOfTools(t *testing.T) {
	t.Parallel()
	pass := func(next tools.Caller) tools.Caller { return next }
	for way, make := range toolsOf {
		source, path := make(module.NewPredict(adding, totalModel(1), nil))
		for name, m := range outers(t, toolSet(t, source).With(pass), path) {
			c := module.Clone(m)
			for at, p := range module.Predictors(c) {
				if at == "Tools["+path+"]" {
					p.Model = totalModel(2)
				}
			}
			again := module.Clone(c)
			for _, test := range []struct {
				m    totaler
				want int
			}{{m, 1}, {c, 2}, {again, 2}, {m, 1}} {
				pred, err := test.m.Run(tools.WithPolicies(t.Context(), pass), anything)
				if err != nil || pred.Output.Total != test.want {
					t.Errorf("%s, %s: got %+v, %v, want %d", way, name, pred, err, test.want)
				}
			}
		}
	}
}

// The modules in tools of tools are cloned as well, once, even if one of them is its own tool.
func TestCloneOfToolsWithin(t *testing.T) {
	t.Parallel()
	inner, later := module.NewPredict(adding, totalModel(1), nil), &late{}
	manager := module.NewCodeAct(adding, passes("ask"), inProcess(t),
		toolSet(t, askTool(inner), module.Tool("again", "", totaler(later), nil)), nil)
	later.Module = manager
	boss := module.NewCodeAct(adding, passes("again"), inProcess(t),
		toolSet(t, module.Tool("again", "", totaler(manager), onlyReads)), nil)
	type firm struct{ Boss, Manager, Inner totaler }
	m := firm{boss, manager, inner}
	c := module.Clone(m)
	if got, want := paths(c), paths(m); got != want || got != "Boss Manager Inner" {
		t.Errorf("got %s, want %s", got, want)
	}
	c.Inner.(*sumPredict).Predictor.Model = totalModel(2)
	for _, test := range []struct {
		m    totaler
		want int
	}{{c.Boss, 2}, {c.Manager, 2}, {m.Boss, 1}, {m.Manager, 1}} {
		if pred, err := test.m.Run(t.Context(), anything); err != nil || pred.Output.Total != test.want {
			t.Errorf("got %+v, %v, want %d", pred, err, test.want)
		}
	}
}

// A budget binds the modules in tools.
func TestBudgetOfTools(t *testing.T) {
	t.Parallel()
	model := totalModel(1)
	act := module.NewCodeAct(adding, passes("ask"), inProcess(t),
		toolSet(t, askTool(module.NewPredict(adding, model, nil))), nil)
	_, err := act.Run(budget.With(t.Context(), budget.Limits{Calls: 1}), anything)
	if !errors.Is(err, budget.ErrSpent) {
		t.Errorf("got %v", err)
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the module in the tool called the model %d times", n)
	}
}

// A state has the predictors of modules in tools.
func TestStateOfTools(t *testing.T) {
	t.Parallel()
	make := func() (act *module.CodeAct[orders, sum], inner *sumPredict) {
		inner = newSum()
		return module.NewCodeAct(adding, llmtest.New(), inProcess(t), toolSet(t, askTool(inner)), nil), inner
	}
	act, inner := make()
	inner.Predictor.Hint = "Add carefully."
	var file bytes.Buffer
	if err := module.Save(&file, act); err != nil {
		t.Fatal(err)
	}
	fresh, changed := make()
	if err := module.Load(bytes.NewReader(file.Bytes()), fresh); err != nil || changed.Predictor.Hint != "Add carefully." {
		t.Errorf("the hint is %q, %v", changed.Predictor.Hint, err)
	}
	other := module.NewCodeAct(adding, llmtest.New(), inProcess(t), nil, nil)
	want := "module: load: *module.CodeAct[github.com/writ-go/writ/module_test.orders,github.com/writ-go/writ/" +
		"module_test.sum] has no predictor Tools[ask]; the state is for a different module"
	wantError(t, module.Load(&file, other), want)
}

// The attempts of modules in tools differ, too, and their requests have the paths of their predictors.
func TestRolloutsOfTools(t *testing.T) {
	t.Parallel()
	model := totalModel(1)
	act := module.NewCodeAct(adding, passes("ask"), inProcess(t),
		toolSet(t, askTool(module.NewPredict(adding, model, nil))), nil)
	var mu sync.Mutex
	var seen []string
	ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) {
		if e, ok := e.(event.ModelRequest); ok {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprintf("%s %d", e.Predictor, e.Rollout))
		}
	})
	if _, err := module.Samples(ctx, act, anything, 2, nil); err != nil {
		t.Fatal(err)
	}
	slices.Sort(seen)
	if want := []string{"Predictor 0", "Predictor 1", "Tools[ask] 0", "Tools[ask] 1"}; !slices.Equal(seen, want) {
		t.Errorf("got %q", seen)
	}
}

// Modules in tools that cannot be copied cannot make attempts, and are named.
func TestChatInTool(t *testing.T) {
	t.Parallel()
	chat := module.NewChat(adding, llmtest.New(), inProcess(t), nil, nil)
	act := module.NewCodeAct(adding, llmtest.New(), inProcess(t), toolSet(t, askTool(chat)), nil)
	if _, err := module.Samples(t.Context(), act, anything, 2, nil); err == nil {
		t.Error("a Chat made attempts")
	}
	for path, p := range module.Predictors(act) {
		if want := map[string]string{"Tools[ask]": "conversation"}[path]; p.Shared() != want {
			t.Errorf("%s shares %q", path, p.Shared())
		}
	}
}
