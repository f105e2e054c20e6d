package module_test

import (
	"encoding/json"
	"math"
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
