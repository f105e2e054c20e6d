package optimize_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/tools"
)

// A search never has effects, not even if its policy permits them.
func TestSearchWithoutEffects(t *testing.T) {
	t.Parallel()
	var effects, faked atomic.Int64
	set, err := tools.NewSet(t.Context(), tools.Func("pay", "Pays.", func(context.Context, question) (string, error) {
		effects.Add(1)
		return "paid", nil
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Last(), "paid") {
			return reply("thought", "Done.", "tool", "submit", "args", `{"text":"ba"}`), nil
		}
		return reply("thought", "I pay.", "tool", "pay", "args", `{"number":1}`), nil
	})
	search := func(policy tools.Policy) error {
		_, err := optimize.Run(t.Context(), module.NewReAct(spelled, model, set, nil), optimize.BootstrapFewShot{},
			numbersData(), right, &optimize.Options{Policy: policy, Dir: t.TempDir()})
		return err
	}
	for want, policy := range map[string]tools.Policy{
		"evaluate: the module has tools with effects: pay; set Options.Policy to Fakes, Recorded or Refuse": nil,
		"tool pay: optimize: pay was not called, since Run and Compile never call tools with effects; set Policy in " +
			"the options to evaluate.Fakes or evaluate.Recorded, with a fake or a recording of this tool": evaluate.Act,
	} {
		if err := search(policy); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	err = search(evaluate.Fakes(map[string]tools.Handler{
		"pay": func(context.Context, json.RawMessage) (json.RawMessage, error) {
			faked.Add(1)
			return json.RawMessage(`"paid"`), nil
		},
	}))
	if err != nil || faked.Load() == 0 || effects.Load() > 0 {
		t.Errorf("%d effects, %d calls of the fake: %v", effects.Load(), faked.Load(), err)
	}
}
