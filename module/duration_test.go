package module_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type waiting struct {
	Pause time.Duration   `json:"pause"           jsonschema:"description=how long to wait"`
	Steps []time.Duration `json:"steps,omitempty"`
	Note  string          `json:"note,omitempty"`
}

// A tool accepts a duration with a unit, as models write it, but only if it is unambiguous.
func TestDurationArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"pause": "30s"}`:                      "30s [] ",
		`{"pause": 30s}`:                        "",
		`{"pause": "1h30m", "steps": ["1 m"]}`:  "1h30m0s [1m0s] ",
		`{"pause": 30}`:                         "30ns [] ",
		`{"pause": 1000000000, "note": "30s"}`:  "1s [] 30s",
		`{"pause": "30"}`:                       "",
		`{"pause": "a few seconds"}`:            "",
		`{"pause": "2-3 s"}`:                    "",
		`{"pause": "1h", "steps": ["10s", 20]}`: "1h0m0s [10s 20ns] ",
	} {
		got := ""
		set := toolSet(t, tools.Func("pause", "Waits.", func(_ context.Context, in waiting) (bool, error) {
			got += fmt.Sprintf("%v %v %s", in.Pause, in.Steps, in.Note)
			return true, nil
		}, nil))
		if _, err := module.NewReAct(adding, llmtest.New(action("pause", args), submits1), set, nil).
			Run(t.Context(), anything); err != nil ||
			got != want {
			t.Errorf("%s: the tool was called with %q, want %q (%v)", args, got, want, err)
		}
	}
}

// A duration with a unit is accepted as an answer, replied or submitted.
func TestDurationAnswers(t *testing.T) {
	t.Parallel()
	const said = `{"pause": "2h", "steps": ["90 s", "1m"]}`
	want := waiting{Pause: 2 * time.Hour, Steps: []time.Duration{90 * time.Second, time.Minute}}
	sig := signature.Must(signature.New[orders, waiting](""))
	object := module.NewPredict(sig, llmtest.New(said), nil)
	object.Predictor.Adapter = module.JSON()
	for name, m := range map[string]module.Module[orders, waiting]{
		"Predict": module.NewPredict(sig,
			llmtest.New("[[ ## pause ## ]]\n2h\n\n[[ ## steps ## ]]\n[\"90 s\", \"1m\"]\n\n[[ ## completed ## ]]"), nil),
		"JSON":  object,
		"ReAct": module.NewReAct(sig, llmtest.New(action("submit", said)), nil, nil),
	} {
		if pred, err := m.Run(t.Context(), orders{1}); err != nil || !reflect.DeepEqual(pred.Output, want) {
			t.Errorf("%s: got %+v, %v", name, pred, err)
		}
	}
}

// The prompt says that a duration may have a unit wherever that is accepted, and nowhere else.
func TestDurationUnitsInPrompts(t *testing.T) {
	t.Parallel()
	const rule = `A duration in nanoseconds may be written with its unit instead, such as "90m".`
	sig := signature.Must(signature.New[orders, waiting](""))
	pauses := toolSet(
		t,
		tools.Func("pause", "Waits.", func(context.Context, waiting) (bool, error) { return true, nil }, nil),
	)
	model := llmtest.New()
	object := module.NewPredict(sig, model, nil)
	object.Predictor.Adapter = module.JSON()
	for _, c := range []struct {
		run  func(context.Context, orders) error
		want bool
	}{
		{errorOf(module.NewPredict(sig, model, nil)), true},
		{errorOf(object), true},
		{errorOf(module.NewReAct(sig, model, nil, nil)), true},
		{errorOf(module.NewReAct(adding, model, pauses, nil)), true},
		{errorOf(module.NewPredict(adding, model, nil)), false},
		{errorOf(module.NewReAct(adding, model, nil, nil)), false},
		{errorOf(module.NewCodeAct(sig, model, inProcess(t), pauses, nil)), false},
	} {
		before := len(model.Requests())
		err := c.run(t.Context(), anything)
		if requests := model.Requests(); len(requests) == before ||
			strings.Contains(requests[before].Text(), rule) != c.want {
			t.Errorf("%d of %d: the prompt has the rule: %v (%v)", before+1, len(requests), !c.want, err)
		}
	}
}

func errorOf[O any](m module.Module[orders, O]) func(context.Context, orders) error {
	return func(ctx context.Context, in orders) error { _, err := m.Run(ctx, in); return err }
}
