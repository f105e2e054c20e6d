package module_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// A Spec that no longer fits the signature is reported before the model is called.
func TestEditedSpec(t *testing.T) {
	t.Parallel()
	field, err := signature.ParseField("extra: str")
	if err != nil {
		t.Fatal(err)
	}
	without, err := grading.Spec().Delete("score")
	if err != nil {
		t.Fatal(err)
	}
	more, err := grading.Spec().AppendInputs(field)
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New()
	for _, test := range []struct {
		spec *signature.Spec
		want string
	}{
		{more, `module: the Predictor's Spec has the input "extra", which the signature lacks; use a signature that has it`},
		{without, `module: the Predictor's Spec lacks the output "score", which the answer needs; add it`},
	} {
		p := module.NewPredict(grading, model, nil)
		p.Predictor.Spec = test.spec
		if pred, err := p.Run(t.Context(), inContext{"a", "b"}); pred != nil || err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was called %d times", n)
	}
}

// acting returns the modules that work in steps.
func acting(t *testing.T, model llms.Model, o *module.Options) map[string]editable {
	box := inProcess(t)
	react, act := module.NewReAct(adding, model, nil, o), module.NewCodeAct(adding, model, box, nil, o)
	thought := module.NewProgramOfThought(adding, model, box, o)
	rlm := module.NewRLM(adding, model, box, nil, &module.RLMOptions{Options: *o})
	return map[string]editable{
		"ReAct": {react, react.Predictor}, "CodeAct": {act, act.Predictor},
		"ProgramOfThought": {thought, thought.Predictor}, "RLM": {rlm, rlm.Predictor},
	}
}

type editable struct {
	m module.Module[orders, sum]
	p *module.Predictor
}

// Additional outputs of a step are part of its reasoning, wherever they are.
func TestFurtherOutputsOfSteps(t *testing.T) {
	t.Parallel()
	plan, err := signature.ParseField("plan: str")
	if err != nil {
		t.Fatal(err)
	}
	const before, behind = "[[ ## plan ## ]]\nCount.\n\n", "[[ ## plan ## ]]\nCount.\n\n[[ ## completed ## ]]"
	for name := range acting(t, llmtest.New(), &module.Options{}) {
		step,
			why := "[[ ## reasoning ## ]]\nIt is one.\n\n[[ ## code ## ]]\n```js\nsubmit({total: 1})\n```\n\n[[ ## "+
			"completed ## ]]", "It is one."
		if name == "ReAct" {
			step, why = submits1, "Go on."
		}
		for reply, want := range map[string]string{
			before + step: "Count.\n\n" + why,
			strings.Replace(step, "[[ ## completed ## ]]", behind, 1): why + "\n\nCount.",
			step: why,
		} {
			model := llmtest.New(reply)
			a := acting(t, model, &module.Options{})[name]
			edit := a.p.Spec.AppendOutputs
			if strings.HasPrefix(reply, before) {
				edit = a.p.Spec.PrependOutputs
			}
			if a.p.Spec, err = edit(plan); err != nil {
				t.Fatal(err)
			}
			pred, err := a.m.Run(t.Context(), anything)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := pred.Trajectory.Reasoning(); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
}

// The same is true of the Spec of a step.
func TestEditedSpecOfSteps(t *testing.T) {
	t.Parallel()
	extra, err := signature.ParseField("extra: str")
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New()
	for name := range acting(t, model, &module.Options{}) {
		needed := "code"
		if name == "ReAct" {
			needed = "tool"
		}
		for want, edit := range map[string]func(*signature.Spec) (*signature.Spec, error){
			`module: the Predictor's Spec has the input "extra", which the signature lacks; ` +
				`use a signature that has it`: func(s *signature.Spec) (*signature.Spec, error) {
				return s.AppendInputs(extra)
			},
			`module: the Predictor's Spec lacks the output "` + needed +
				`", which the answer needs; add it`: func(s *signature.Spec) (*signature.Spec, error) {
				return s.Delete(needed)
			},
		} {
			a := acting(t, model, &module.Options{})[name]
			if a.p.Spec, err = edit(a.p.Spec); err != nil {
				t.Fatal(err)
			}
			if pred, err := a.m.Run(t.Context(), anything); pred != nil || err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was called %d times", n)
	}
}

// lined is a user's adapter, with one line for each output.
type lined struct{ module.Adapter }

func (lined) Read(spec *signature.Spec, reply string, _ bool) (values signature.Values, _ error) {
	for line := range strings.Lines(reply) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " = ")
		if _, asked := spec.Field(name); asked {
			value, err := signature.ValuesOf(map[string]string{name: text})
			if err != nil {
				return nil, err
			}
			values = append(values, value...)
		}
	}
	if len(values) == 0 {
		return nil, errors.New("write name = value")
	}
	return values, nil
}

// A user's adapter reads the replies, but a program in a fence is accepted in any case.
func TestOwnAdapterOfSteps(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"CodeAct": "reasoning = One.\ncode = submit({total: 1})", "RLM": "code = submit({total: 1})",
		"ProgramOfThought": "```js\nsubmit({total: 1})\n```", "ReAct": "tool = submit\nargs = {\"total\": 1}",
	} {
		model := llmtest.New("?", reply)
		a := acting(t, model, &module.Options{Adapter: lined{module.Markers()}})[name]
		if pred, err := a.m.Run(t.Context(), anything); err != nil || pred.Output.Total != 1 {
			t.Errorf("%s: got %v and %v", name, pred, err)
		}
		if asked := model.Requests(); len(asked) != 2 || !strings.Contains(asked[1].Last(), "write name = value") {
			t.Errorf("%s: the model is not told what is missing in its reply", name)
		}
	}
}
