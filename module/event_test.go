package module_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
)

// composed is a module of two modules.
type composed struct{ Sort, Check *module.Predict[orders, sum] }

func (c *composed) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	if _, err := c.Sort.Run(ctx, in); err != nil {
		return nil, err
	}
	pred, err := c.Check.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	return &module.Prediction[sum]{Output: pred.Output}, nil
}

// Runs have the names of their fields, however the whole module is run.
func TestNamesOfRuns(t *testing.T) {
	t.Parallel()
	predict := func() *module.Predict[orders, sum] { return module.NewPredict(adding, total1(), nil) }
	for name, m := range map[string]module.Module[orders, sum]{
		"composed":  &composed{predict(), predict()},
		"attempted": module.NewBestOfN[orders, sum](&composed{predict(), predict()}, 1, never, 1, nil),
		"nothing":   pipeline{predict(), predict()},
	} {
		names := []string{}
		ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) {
			if r, ok := e.(event.ModelRequest); ok {
				names = append(names, fmt.Sprintf("%s %s %s", r.Name, r.Module, r.Predictor))
			}
		})
		results, err := module.Parallel(ctx, m, []orders{anything}, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		want := map[string]string{
			"composed":  "Sort Predict Sort, Check Predict Check",
			"attempted": "Module.Sort Predict Module.Sort, Module.Check Predict Module.Check",
			"nothing":   "First Predict First, Second Predict Second",
		}[name]
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if text := results[0].Prediction.Trajectory.String(); !strings.Contains(text, strings.Fields(want)[0]+" (Predict)") {
			t.Errorf("%s: the trajectory does not have the names:\n%s", name, text)
		}
	}
}

// The trajectory has the prompt and the model's name for every step.
func TestTrajectoryHasPrompts(t *testing.T) {
	t.Parallel()
	model := llmtest.New("nothing to read here", fits)
	pred := mustRun(t, module.NewPredict(adding, model, nil), anything)
	for i, asked := range model.Requests() {
		texts := func(list []llms.MessageContent) (texts []string) {
			for _, m := range list {
				texts = append(texts, fmt.Sprint(m.Role, m.Parts))
			}
			return texts
		}
		if got := pred.Trajectory.Steps[i].Prompt; !slices.Equal(texts(got), texts(asked.Messages)) {
			t.Errorf("step %d: got %v, want %v", i+1, got, asked.Messages)
		}
	}
}

type callerKey struct{}

// An observer gets the context of the run, with the values of the caller.
func TestObserverGetsContext(t *testing.T) {
	t.Parallel()
	seen := 0
	onEvent := func(ctx context.Context, _ event.Event) {
		if ctx.Value(callerKey{}) == "caller" {
			seen++
		}
	}
	m := module.NewPredict(adding, total1(), &module.Options{OnEvent: onEvent})
	if _, err := m.Run(context.WithValue(t.Context(), callerKey{}, "caller"), anything); err != nil || seen != 4 {
		t.Errorf("%d events with the caller's context, %v", seen, err)
	}
}
