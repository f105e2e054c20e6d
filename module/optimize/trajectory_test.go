package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type (
	aq = struct {
		Q    string `json:"q"`
		More string `json:"more,omitempty"`
	}
	aa = struct {
		A string `json:"a"`
	}
	amod = module.Module[aq, aa]
)

var asig = signature.Must(signature.New[aq, aa]("Answer."))

func abox(t *testing.T) *sandbox.Sandbox {
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

func scripted(texts ...string) *llmtest.Model {
	var n atomic.Int64
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		text := texts[(int(n.Add(1))-1)%len(texts)]
		if strings.HasPrefix(text, "ERR") {
			return llmtest.Reply{}, errors.New(text)
		}
		return llmtest.Reply{Text: text}, nil
	})
}

func js(code string) string { return "Because.\n```js\n" + code + "\n```" }

func fields(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "[[ ## %s ## ]]\n%s\n\n", pairs[i], pairs[i+1])
	}
	return b.String() + "[[ ## completed ## ]]"
}

func act(tool, args string) string { return fields("thought", "so", "tool", tool, "args", args) }

type thing struct {
	Of string `json:"of"`
}

func asetOf(t *testing.T) *tools.Set {
	set, err := tools.NewSet(t.Context(),
		tools.Func("look", "Looks.", func(_ context.Context, o thing) (string, error) {
			if o.Of == "bad" {
				return "", errors.New("bad thing")
			}
			return "seen " + o.Of, nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("slow", "Waits.", func(ctx context.Context, o thing) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// record evaluates a module on a training example and describes the calls and the demos.
func record(t *testing.T, ctx context.Context, m amod, items ...aq) string {
	var b strings.Builder
	if len(items) == 0 {
		items = []aq{{Q: "hm"}}
	}
	var train []evaluate.Example[aq, aa]
	for _, in := range items {
		train = append(train, evaluate.Example[aq, aa]{In: in, Want: aa{"x"}})
	}
	always := func(context.Context, evaluate.Example[aq, aa], *module.Prediction[aa]) (module.Score, error) {
		return module.Score{Value: 1}, nil
	}
	_, err := Run(ctx, m, OptimizerFunc(func(ctx context.Context, k *task) error {
		var all []int
		for i := range items {
			all = append(all, i)
		}
		out, err := k.evaluate(ctx, k.start, trainSplit, all)
		if err != nil {
			fmt.Fprintf(&b, "  evaluate: %v\n", err)
		}
		for _, o := range out {
			fmt.Fprintf(&b, "  outcome err=%.150v got=%s\n", o.Err, o.Got)
			for _, c := range o.Calls {
				fmt.Fprintf(
					&b,
					"    %s in=%.90s out=%s why=%q reply=%.30q problem=%.120q step=%d failed=%v parallel=%v\n",
					c.Path,
					c.Inputs.String(),
					c.Outputs.String(),
					c.Reasoning,
					c.Reply,
					c.Problem,
					c.step,
					c.failed,
					c.parallel,
				)
				for _, u := range c.ToolCalls {
					fmt.Fprintf(
						&b,
						"      %s(%s) = %.60s %.60v pending=%v\n",
						u.Tool,
						u.Args,
						u.Result,
						u.Error,
						u.Pending,
					)
				}
			}
			for _, p := range k.predictors {
				for _, d := range k.traced(p, o) {
					raw, _ := json.Marshal(d)
					fmt.Fprintf(&b, "    demo %s %.400s\n", p.Path, raw)
				}
			}
		}
		return nil
	}), Data[aq, aa]{Train: train, Val: train}, always, nil)
	if err != nil {
		fmt.Fprintf(&b, "  run: %.200v\n", err)
	}
	return b.String()
}

type pipe struct {
	First  *module.Predict[aq, aa]
	Second *module.ChainOfThought[aq, aa]
	mode   string
}

func (p pipe) Run(ctx context.Context, in aq) (*module.Prediction[aa], error) {
	a, err := p.First.Run(ctx, in)
	if err != nil && p.mode != "swallow" {
		return nil, err
	}
	if err != nil {
		a = &module.Prediction[aa]{}
	}
	b, err := p.Second.Run(ctx, aq{Q: a.Output.A})
	if err != nil {
		return nil, err
	}
	switch p.mode {
	case "second":
		return b, nil
	case "steps": // a trajectory of one's own
		return &module.Prediction[aa]{Output: b.Output, Trajectory: module.Trajectory{
			Steps: append(a.Trajectory.Steps[:1:1], b.Trajectory.Steps...)}}, nil
	case "error":
		return nil, errors.New("no")
	}
	return &module.Prediction[aa]{Output: b.Output}, nil
}

// valOK answers the example of Val itself, so that the module may fail.
type valOK struct {
	M     amod
	limit time.Duration
	kind  string
}

func (v valOK) Run(ctx context.Context, in aq) (*module.Prediction[aa], error) {
	if in.Q == "val" {
		return &module.Prediction[aa]{Output: aa{"x"}}, nil
	}
	if v.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, v.limit)
		defer cancel()
	}
	p, err := v.M.Run(ctx, in)
	switch v.kind {
	case "panic":
		panic("boom")
	case "own error":
		return nil, errors.New("own")
	case "json":
		raw, err := json.Marshal(p.Trajectory)
		if err != nil {
			return nil, err
		}
		q := &module.Prediction[aa]{Output: p.Output}
		return q, json.Unmarshal(raw, &q.Trajectory)
	}
	return p, err
}

func record2(t *testing.T, m amod, in aq) string {
	var b strings.Builder
	always := func(context.Context, evaluate.Example[aq, aa], *module.Prediction[aa]) (module.Score, error) {
		return module.Score{Value: 1}, nil
	}
	_, err := Run(t.Context(), m, OptimizerFunc(func(ctx context.Context, k *task) error {
		out, err := k.evaluate(ctx, k.start, trainSplit, []int{0})
		if err != nil {
			fmt.Fprintf(&b, "  evaluate: %v\n", err)
		}
		for _, o := range out {
			fmt.Fprintf(&b, "  outcome err=%.150v got=%s\n", o.Err, o.Got)
			for _, c := range o.Calls {
				fmt.Fprintf(
					&b,
					"    %s in=%.90s out=%.200s why=%q reply=%.30q problem=%.120q step=%d failed=%v parallel=%v\n",
					c.Path,
					c.Inputs.String(),
					c.Outputs.String(),
					c.Reasoning,
					c.Reply,
					c.Problem,
					c.step,
					c.failed,
					c.parallel,
				)
				for _, u := range c.ToolCalls {
					fmt.Fprintf(
						&b,
						"      %s(%s) = %.60s %.60v pending=%v\n",
						u.Tool,
						u.Args,
						u.Result,
						u.Error,
						u.Pending,
					)
				}
			}
			for _, p := range k.predictors {
				for _, d := range k.traced(p, o) {
					raw, _ := json.Marshal(d)
					fmt.Fprintf(&b, "    demo %s %.400s\n", p.Path, raw)
				}
			}
		}
		return nil
	}), Data[aq, aa]{Train: []evaluate.Example[aq, aa]{{In: in, Want: aa{"x"}}}, Val: []evaluate.Example[aq, aa]{{In: aq{Q: "val"}, Want: aa{"x"}}}}, always, nil)
	if err != nil {
		fmt.Fprintf(&b, "  run: %.200v\n", err)
	}
	return b.String()
}

// GEPA improves the instructions of the model that an RLM's programs call.
func TestRLMSub(t *testing.T) {
	m := module.NewRLM(asig, llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch {
		case strings.Contains(r.Text(), "submit"):
			return llmtest.Reply{Text: js(`submit({a: await llm("what is it")})`)}, nil
		case strings.Contains(r.Text(), "IMPROVED"):
			return llmtest.Reply{Text: "x"}, nil
		}
		return llmtest.Reply{Text: "wrong"}, nil
	}), abox(t), nil, nil)
	asked := 0
	reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		asked++
		return llmtest.Reply{Text: "<instructions>\nIMPROVED, and say it.\n</instructions>"}, nil
	})
	exact := func(_ context.Context, e evaluate.Example[aq, aa], p *module.Prediction[aa]) (module.Score, error) {
		if p.Output.A == "x" {
			return module.Score{Value: 1}, nil
		}
		return module.Score{Feedback: "wrong"}, nil
	}
	var train []evaluate.Example[aq, aa]
	for i := range 6 {
		train = append(train, evaluate.Example[aq, aa]{In: aq{Q: fmt.Sprint("q", i)}, Want: aa{"x"}})
	}
	var frozen []string
	for path := range module.Predictors(m) {
		t.Log(path)
		if path != "Sub" {
			frozen = append(frozen, path)
		}
	}
	r, err := Run(
		t.Context(),
		m,
		GEPA{Iterations: 6},
		Data[aq, aa]{Train: train, Val: train[:3]},
		exact,
		&Options{Reflection: reflection, Frozen: frozen},
	)
	if err != nil {
		t.Fatal(err)
	}
	if r.Best.Score != 1 || asked == 0 {
		t.Errorf(
			"score %v, %d reflections, warnings %q, Sub: %q",
			r.Best.Score,
			asked,
			r.Warnings,
			r.Best.Instructions("Sub"),
		)
	}
}

func TestLargeInputs(t *testing.T) {
	m := valOK{M: module.NewPredict(asig, scripted(fields("a", "x")), nil), kind: "json"}
	got := record2(t, m, aq{Q: strings.Repeat("x", 70<<10)})
	if strings.Contains(got, `demo M {"inputs":{},`) {
		t.Errorf("a demo without its required input:\n%s", got)
	}
}

func TestPolicyArgs(t *testing.T) {
	injecting := asetOf(t).With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			c.Args = json.RawMessage(`{"of":"SECRET"}`)
			return next.Call(ctx, c)
		})
	})
	got := record(
		t,
		t.Context(),
		module.NewReAct(asig, scripted(act("look", `{"of":"mine"}`), act("submit", `{"a":"x"}`)), injecting, nil),
	)
	if strings.Contains(got, `"args":{"of":"SECRET"}`) {
		t.Errorf("the outputs are not those of the model:\n%s", got)
	}
}

func TestOwnSteps(t *testing.T) {
	got := record(
		t,
		t.Context(),
		pipe{
			module.NewPredict(asig, scripted(fields("a", "f")), nil),
			module.NewChainOfThought(asig, scripted(fields("reasoning", "why", "a", "x")), nil),
			"steps",
		},
	)
	if strings.Contains(got, `demo First {"inputs":{},`) {
		t.Errorf("a demo without inputs:\n%s", got)
	}
}
