package optimize_test

import (
	"context"
	"encoding/json"
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
		for _, demo := range r.Candidates[1].States()["Predictor"].Demos {
			seen[demo.Inputs.String()]++
		}
		for in, n := range seen {
			if n > 1 {
				t.Errorf("there are %d demos of %s", n, in)
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
	by := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) error {
		spoiled = nil
		_, err := task.Evaluate(ctx, task.Start(), optimize.TrainSplit, nil)
		return err
	})
	r, err := optimize.Run(t.Context(), m, by, numbersData(), right, &optimize.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := "the original module has demos with the inputs of 2 of 20 examples of Val, so the scores are too high; use " +
		"other examples"
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
		want := "Train has the inputs of 1 of 1 examples of Val, so prompts may contain the answers, and the scores " +
			"are too high; remove these examples, or split the examples with a Group for each input"
		if slices.Contains(r.Warnings, want) != c.warns {
			t.Errorf("%v: warnings %q", c.in, r.Warnings)
		}
	}
}

// Examples are the same if the module takes their inputs for the same.
func TestEqualInputs(t *testing.T) {
	t.Parallel()
	type inputs struct {
		Number float64  `json:"number"`
		Tags   []string `json:"tags,omitempty"`
		Lang   string   `json:"lang,omitempty" jsonschema:"default=en"`
	}
	sig := signature.Must(signature.New[inputs, answer]("Name the number."))
	m := module.NewPredict(signature.Must(signature.Typed[signature.Values, answer](sig.Spec())),
		llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) { return reply("text", "ba"), nil }), nil)
	example := func(text string) (e evaluate.Example[signature.Values, answer]) {
		if err := json.Unmarshal([]byte(text), &e.In); err != nil {
			t.Fatal(err)
		}
		e.Want = answer{"ba"}
		return e
	}
	for _, c := range []struct {
		train, val string
		same       bool
	}{
		{`{"number":1}`, `{"number":1.0}`, true},
		{`{"number":1e2}`, `{"number":100}`, true},
		{`{"number":1}`, `{"number":2}`, false},
		{`{"number":9007199254740993}`, `{"number":9007199254740992}`, false},
		{`{"number":1}`, `{"number":1,"tags":[]}`, false}, // a missing list is not an empty one
		{`{"number":1,"tags":["a"]}`, `{"tags":["a"],"number":1.0}`, true},
		{`{"number":1}`, `{"number":1,"tags":["a"]}`, false},
		{`{"number":1}`, `{"number":1,"lang":"en"}`, true},
		{`{"number":1}`, `{"number":1,"lang":"de"}`, false},
	} {
		first := example(c.val)
		first.ID = "first"
		d := optimize.Data[signature.Values, answer]{Val: []evaluate.Example[signature.Values, answer]{first}}
		d.Train = append(d.Train, example(c.train))
		r, err := optimize.Run(t.Context(), m, optimize.LabeledFewShot{}, d, evaluate.ExactMatch[signature.Values, answer](),
			nil)
		if err != nil {
			t.Fatal(err)
		}
		repeats := func(warning string) bool { return strings.HasPrefix(warning, "Train has the inputs of 1 of 1") }
		if slices.ContainsFunc(r.Warnings, repeats) != c.same {
			t.Errorf("%s and %s: warnings %q", c.train, c.val, r.Warnings)
		}
	}
}

// Of an example with nil slices there is a demo with empty lists. Another search recognizes it.
func TestNilSlices(t *testing.T) {
	t.Parallel()
	type tagged struct {
		Number int      `json:"number"`
		Tags   []string `json:"tags"`
	}
	type named struct {
		Names []string `json:"names"`
	}
	var spoiled []string
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		asked := inputOf(r.Last(), "number")
		if strings.Count(r.Text(), "[[ ## number ## ]]\n"+asked+"\n") != 1 {
			spoiled = append(spoiled, asked)
		}
		return reply("names", "[]"), nil
	})
	m := module.NewPredict(signature.Must(signature.New[tagged, named]("Name the number.")), model, nil)
	var d optimize.Data[tagged, named]
	for i := range 3 {
		d.Train = append(d.Train, evaluate.Example[tagged, named]{In: tagged{Number: i}})
		d.Val = append(d.Val, evaluate.Example[tagged, named]{In: tagged{Number: 100 + i}})
	}
	by := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) error {
		if _, err := task.Evaluate(ctx, task.Start(), optimize.TrainSplit, nil); err != nil {
			return err
		}
		m.Predictor.Demos = task.Labeled("Predictor", []int{0, 1})
		return nil
	})
	for range 2 {
		_, err := optimize.Run(t.Context(), m, by, d, evaluate.ExactMatch[tagged, named](), &optimize.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := json.Marshal(m.Predictor.Demos)
	want := `[{"inputs":{"number":0,"tags":[]},"outputs":{"names":[]}},` +
		`{"inputs":{"number":1,"tags":[]},"outputs":{"names":[]}}]`
	if string(got) != want || err != nil || len(spoiled) > 0 {
		t.Errorf("the prompts for %v contain their answers; demos: %s", spoiled, got)
	}
}
