package module_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// An invalid setting of any predictor of a module is reported before the model is called.
func TestPredictorsAreChecked(t *testing.T) {
	t.Parallel()
	demo := func(name, value string) []module.Demo {
		return []module.Demo{{}, {Outputs: signature.Values{{Name: name, JSON: json.RawMessage(value)}}}}
	}
	for want, spoil := range map[string]func(*module.Predictor){
		"the temperature -1 is not between 0 and 100":   func(p *module.Predictor) { p.Temperature = new(-1.) },
		"the temperature 1000 is not between 0 and 100": func(p *module.Predictor) { p.Temperature = new(1000.) },
		"the temperature NaN is not between 0 and 100":  func(p *module.Predictor) { p.Temperature = new(math.NaN()) },
		`demo 2: the signature has no output "tottal"`:  func(p *module.Predictor) { p.Demos = demo("tottal", "1") },
		"must be": func(p *module.Predictor) {
			p.Demos = demo(p.Spec.Outputs()[0].Name, `[[1]]`)
		},
	} {
		model := llmtest.New()
		for _, k := range everyKind(t, model) {
			for path := range module.Predictors(k.m) {
				m := module.Clone(k.m)
				for at, p := range module.Predictors(m) {
					if at == path {
						spoil(p)
					}
				}
				if _, err := m.Run(t.Context(), anything); err == nil || !strings.HasPrefix(err.Error(), "module: ") ||
					!strings.Contains(err.Error(), want) {
					t.Errorf("%s of %T: got %v, want %s", path, m, err, want)
				}
				if n := len(model.Requests()); n > 0 {
					t.Errorf("%s of %T, %s: the model was called %d times", path, m, want, n)
				}
			}
		}
	}
}

// Changed demos are validated again, and so are those of a clone.
func TestDemosAreCheckedAgain(t *testing.T) {
	t.Parallel()
	m := module.NewPredict(adding, llmtest.New(total(1), total(1), total(1)), nil)
	good := signature.Values{{Name: "total", JSON: json.RawMessage("1")}}
	bad := signature.Values{{Name: "total", JSON: json.RawMessage(`"one"`)}}
	const want = `module: demo 1: the output "total": the value must be an integer, not "one"`
	m.Predictor.Demos = []module.Demo{{Outputs: good}}
	for i, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, ""},
		{func() {}, ""},
		{func() { m.Predictor.Demos[0].Outputs = bad }, want},
		{func() {}, want},
		{func() { m = module.Clone(m) }, want},
		{func() { m.Predictor.Demos = nil }, ""},
	} {
		c.change()
		got := ""
		if _, err := m.Run(t.Context(), anything); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d: got %q, want %q", i, got, c.want)
		}
	}
}

// A demo with several steps is shown as the conversation that it was: with programs, with calls as text, and with calls
// in the provider's protocol.
func TestDemoSteps(t *testing.T) {
	t.Parallel()
	demo := func(first, observation, last string) []module.Demo {
		return []module.Demo{{
			Inputs: values(t, `{"limit": 2}`), Outputs: values(t, last),
			Steps: []module.DemoStep{{Outputs: values(t, first), Observation: observation}},
		}}
	}
	program := demo(`{"code": "console.log(limit)"}`, "Output:\n2", `{"code": "submit({total: 2})"}`)
	call := demo(`{"thought": "Add.", "tool": "add", "args": {}}`, "add returned:\n2",
		`{"thought": "Done.", "tool": "submit", "args": {"total": 2}}`)
	model := llmtest.New()
	act := module.NewCodeAct(adding, model, inProcess(t), nil, nil)
	text := module.NewReAct(adding, model, toolSet(t, adder()), nil)
	native := module.NewReAct(adding, model.With(canTools), toolSet(t, adder()), nil)
	act.Predictor.Demos, text.Predictor.Demos, native.Predictor.Demos = program, call, call
	var got strings.Builder
	for _, m := range []module.Module[orders, sum]{act, text, native} {
		_, err := m.Run(t.Context(), anything)
		incomplete, ok := errors.AsType[*module.IncompleteError](err)
		if !ok {
			t.Fatal(err)
		}
		_, shown, _ := strings.Cut(incomplete.Trajectory.Steps[0].Sent(), "--- human ---")
		got.WriteString("--- human ---" + shown[:strings.LastIndex(shown, "--- human ---")])
	}
	if got := got.String(); got != golden(t, "demo_steps.txt") {
		if *update {
			err := os.WriteFile(filepath.Join("testdata", "state", "demo_steps.txt"), []byte(got), 0o600)
			t.Fatal("updated", err)
		}
		t.Errorf("got\n%s", got)
	}
}
