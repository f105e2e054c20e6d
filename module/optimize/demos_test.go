package optimize

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// A demo is the whole run if it is short and made one call at a time. Otherwise it is the last program, or the first
// call of a tool.
func TestWholeRun(t *testing.T) {
	t.Parallel()
	step := func(name, value, observation string) predictorCall {
		raw, _ := json.Marshal(value)
		return predictorCall{Outputs: signature.Values{{Name: name, JSON: raw}}, Problem: observation}
	}
	long, parallel := strings.Repeat("x", maxRun), step("tool", "search", "two results")
	parallel.parallel = true
	for _, c := range []struct {
		name  string
		calls []predictorCall
		steps int
		last  string
	}{
		{"short", []predictorCall{step("code", "a", "1"), step("code", "b", "")}, 1, "b"},
		{"a long observation is cut", []predictorCall{step("code", "a", long), step("code", "b", "")}, 1, "b"},
		{"a long program", []predictorCall{step("code", long, "1"), step("code", "b", "")}, 0, "b"},
		{"long arguments", []predictorCall{step("tool", "search", "1"), step("tool", long, "")}, 0, "search"},
		{"two calls at once", []predictorCall{parallel, step("tool", "submit", "")}, 0, "search"},
	} {
		d := wholeRun(c.calls)
		if got, _ := json.Marshal(c.last); len(d.Steps) != c.steps || string(d.Outputs[0].JSON) != string(got) {
			t.Errorf("%s: got %d steps and %s", c.name, len(d.Steps), d.Outputs)
		}
		if len(d.Steps) > 0 && len(d.Steps[0].Observation) > maxObservation {
			t.Errorf("%s: the observation has %d bytes", c.name, len(d.Steps[0].Observation))
		}
	}
}

// The demos of a module that makes several attempts come from the attempt that it chose.
func TestDemosOfTheChosenAttempt(t *testing.T) {
	t.Parallel()
	call := func(tool, args string) llmtest.Reply {
		return llmtest.Reply{Text: "[[ ## thought ## ]]\nso\n\n[[ ## tool ## ]]\n" + tool + "\n\n[[ ## args ## ]]\n" + args +
			"\n\n[[ ## completed ## ]]"}
	}
	var mu sync.Mutex
	asked := map[string]int{}
	asks := func(question string) int {
		mu.Lock()
		defer mu.Unlock()
		asked[question]++
		return asked[question]
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch {
		case strings.Contains(r.Last(), "rate returned"):
			return call("submit", `{"reply": "7"}`), nil
		case asks(r.Last())%2 == 1: // the first of two attempts
			return call("submit", `{"reply": "I give up"}`), nil
		}
		return call("rate", `{"currency": "EUR"}`), nil
	})
	agent := module.NewReAct(signature.Must(signature.New[question, reply]("Answer.")), model, rateTools(t), nil)
	best := module.NewBestOfN(agent, 3, func(
		ctx context.Context, in question, p *module.Prediction[reply],
	) (module.Score, error) {
		return isSeven(ctx, evaluate.Example[question, reply]{}, p)
	}, 1, nil)
	r, err := Run(t.Context(), best, BootstrapFewShot{MaxLabeled: -1},
		Data[question, reply]{questions(4), questions(4)}, isSeven, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Candidates[len(r.Candidates)-1].states {
		if len(s.Demos) == 0 {
			t.Error("no demos")
		}
		for _, d := range s.Demos {
			if len(d.Steps) != 1 {
				t.Errorf("the demo is %v", d)
			}
		}
	}
}
