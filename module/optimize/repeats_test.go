package optimize_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
)

// unspoiled is a student that reports prompts that contain the question twice, or the answer of the metric.
func unspoiled(spoiled *[]string) predict {
	return module.NewPredict(spelled, llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		asked := inputOf(r.Last(), "number")
		if strings.Count(r.Text(), "[[ ## number ## ]]\n"+asked+"\n") != 1 {
			*spoiled = append(*spoiled, asked)
		}
		var n int
		_, _ = fmt.Sscanf(asked, "%d", &n) // 0 without a number
		if n%2 == 0 {
			return reply("text", nameOf(n)), nil
		}
		return reply("text", "unknown"), nil
	}), nil)
}

// repeated returns each example twice, the second time with another ID.
func repeated(set examples) examples {
	for _, e := range slices.Clone(set) {
		e.ID += "-again"
		set = append(set, e)
	}
	return set
}

// An example of Train that is repeated with another ID is not shown its own answer.
func TestRepeatedExamples(t *testing.T) {
	t.Parallel()
	d := data{Train: repeated(numbers(0, 8)), Val: numbers(100, 120)}
	advisor := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		const example = "<inputs>\n{\"number\":4}"
		own, others, _ := strings.Cut(r.Text(), "other inputs of the whole program")
		if n := strings.Count(others, example); n > 1 || n > 0 && strings.Contains(own, example) {
			t.Errorf("an example is shown again:\n%s", r.Text())
		}
		return llmtest.Reply{Text: fmt.Sprint("Advice ", r.N)}, nil
	})
	for _, by := range []optimize.Optimizer{
		optimize.BootstrapFewShot{MaxBootstrapped: 3}, optimize.BootstrapFewShot{MaxBootstrapped: 6, MaxLabeled: 8},
		optimize.MIPROv2{Demos: 3, Trials: 4},
		optimize.KNNFewShot{Bootstrap: true}, optimize.GEPA{Iterations: 6},
	} {
		var spoiled []string
		r, err := optimize.Run(t.Context(), unspoiled(&spoiled), by, d, right, &optimize.Options{
			Reflection: advisor, Workers: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(spoiled) > 0 {
			t.Errorf("%T: the prompts for %v contain their answers", by, spoiled)
		}
		if by != (optimize.BootstrapFewShot{MaxBootstrapped: 3}) {
			continue
		}
		seen := map[string]int{}
		for _, demo := range r.Candidates[1].Predictors["Predictor"].Demos {
			seen[demo.Inputs.String()]++
		}
		for _, n := range []int{0, 2, 4} { // runs; the others are filled up with examples as they are
			if in := fmt.Sprintf(`{"number":%d}`, n); seen[in] != 1 {
				t.Errorf("there are %d demos of %s", seen[in], in)
			}
		}
	}
}

// Demos that the module has already are left out for the examples of Train that they were made of. Those of Val are a
// warning.
func TestGivenDemos(t *testing.T) {
	t.Parallel()
	var spoiled []string
	m := unspoiled(&spoiled)
	for _, e := range append(numbers(0, 3), numbers(110, 112)...) {
		demo, err := module.NewDemo(spelled, e.In, e.Want)
		if err != nil {
			t.Fatal(err)
		}
		m.Predictor.Demos = append(m.Predictor.Demos, demo)
	}
	by := optimizerFunc(func(ctx context.Context, task *optimize.Task) error {
		spoiled = nil
		_, err := task.Evaluate(ctx, task.Start(), optimize.TrainSplit, nil)
		return err
	})
	r, err := optimize.Run(t.Context(), m, by, numbersData(), right, &optimize.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := "2 examples of Val are demos of the module as it was given, so the scores are too high; use other examples"
	if !slices.Contains(r.Warnings, want) || len(spoiled) > 0 {
		t.Errorf("the prompts for %v contain their answers; warnings: %q", spoiled, r.Warnings)
	}
	if len(r.Module.Predictor.Demos) != 5 {
		t.Errorf("the result has %d demos", len(r.Module.Predictor.Demos))
	}
}

// Examples are the same if their inputs are, whatever the order of the fields.
func TestSharedExamples(t *testing.T) {
	t.Parallel()
	spec, err := signature.Parse("ticket, lang -> team", "Sort.")
	if err != nil {
		t.Fatal(err)
	}
	values := func(fields ...string) (v signature.Values) {
		for i := 0; i < len(fields); i += 2 {
			v = append(v, signature.Value{Name: fields[i], JSON: []byte(fields[i+1])})
		}
		return v
	}
	sales := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return reply("team", "sales"), nil
	})
	m := module.NewPredict(spec, sales, nil)
	set := func(in signature.Values) []evaluate.Example[signature.Values, signature.Values] {
		return []evaluate.Example[signature.Values, signature.Values]{{In: in, Want: values("team", `"sales"`)}}
	}
	for _, c := range []struct {
		in    signature.Values
		warns bool
	}{
		{values("lang", `"de"`, "ticket", `"Help!"`), true},
		{values("lang", `"de"`, "ticket", `"Help?"`), false},
	} {
		d := optimize.Data[signature.Values, signature.Values]{
			Train: set(values("ticket", `"Help!"`, "lang", `"de"`)), Val: set(c.in),
		}
		r, err := optimize.Run(t.Context(), m, optimize.LabeledFewShot{}, d,
			evaluate.ExactMatch[signature.Values, signature.Values](), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "1 examples of Val have the same inputs as examples of Train, so prompts may contain their answers, and " +
			"the scores are too high; remove them, or split the examples with a Group for each input"
		if slices.Contains(r.Warnings, want) != c.warns {
			t.Errorf("%v: warnings %q", c.in, r.Warnings)
		}
	}
}
