package optimize

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

type topic struct {
	Q string `json:"q"`
}

type found struct {
	A string `json:"a"`
}

type acted struct {
	Tool string `json:"tool"`
	Args any    `json:"args"`
}

// Calls are read from the runs and the samples of a trajectory, once each, with the arguments that the model wrote.
func TestCallsIn(t *testing.T) {
	t.Parallel()
	specs := map[string]*signature.Spec{"P": signature.Must(signature.New[topic, acted]("Act.")).Spec()}
	step := module.Step{Predictor: "P", Reply: "r", Code: "look({\"of\":\n\"mine\"})", Outcome: &sandbox.Outcome{
		Calls: []sandbox.Call{{Tool: "look", Args: json.RawMessage(`{"of":"a policy's"}`)}}}}
	run := func(id uint64, q string) module.Trajectory {
		r := module.Trajectory{ID: id, Steps: []module.Step{step}}
		if q != "" {
			r.Inputs = signature.Values{{Name: "q", JSON: quoted(q)}}
		}
		return r
	}
	whole := module.Trajectory{Steps: []module.Step{step}, Samples: []module.Trajectory{run(3, "sampled")},
		Runs: []module.Trajectory{run(1, "first"), run(2, "")}} // the step is one of the runs'
	var got []string
	for _, c := range callsIn(whole, specs) {
		args, _ := c.Outputs.Get("args")
		got = append(got, fmt.Sprint(c.Inputs, " ", strings.Join(strings.Fields(string(args)), "")))
	}
	const want = `{"q":"first"} {"of":"mine"}|{"q":"sampled"} {"of":"mine"}|{} ` // a large input was left out
	if strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
}

// GEPA improves the instructions of the model that an RLM's programs call.
func TestRLMSub(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	sig := signature.Must(signature.New[topic, found]("Answer."))
	m := module.NewRLM(sig, llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch {
		case strings.Contains(r.Text(), "submit"):
			return llmtest.Reply{Text: "```js\nsubmit({a: await llm(\"what is it\")})\n```"}, nil
		case strings.Contains(r.Text(), "IMPROVED"):
			return llmtest.Reply{Text: "x"}, nil
		}
		return llmtest.Reply{Text: "wrong"}, nil
	}), box, nil, nil)
	reflection := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "<instructions>\nIMPROVED, and say it.\n</instructions>"}, nil
	})
	var train []evaluate.Example[topic, found]
	for i := range 6 {
		train = append(train, evaluate.Example[topic, found]{In: topic{fmt.Sprint("q", i)}, Want: found{"x"}})
	}
	var frozen []string
	for path := range module.Predictors(m) {
		if path != "Sub" {
			frozen = append(frozen, path)
		}
	}
	r, err := Run(t.Context(), m, GEPA{Iterations: 6}, Data[topic, found]{Train: train, Val: train[:3]},
		evaluate.ExactMatch[topic, found](), &Options{Reflection: reflection, Frozen: frozen})
	if err != nil || r.Best.Score != 1 || len(reflection.Requests()) == 0 {
		t.Errorf("got %v, %v", r, err)
	}
}
