package optimize_test

import (
	"cmp"
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
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

func TestFewShot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by    optimize.Optimizer
		demos int
		score float64
		calls int
	}{
		{optimize.LabeledFewShot{K: 7}, 7, 1, 40}, // one for each answer
		{optimize.LabeledFewShot{}, 14, 1, 40},
		{optimize.BootstrapFewShot{}, 14, 1, 44},
		{optimize.BootstrapFewShot{MaxBootstrapped: 14}, 14, 1, 54},
	} {
		t.Run(fmt.Sprintf("%T%+[1]v", c.by), func(t *testing.T) {
			t.Parallel()
			r := run(t, c.by, nil)
			if n := len(r.Module.Predictor.Demos); c.score > 0 && n != c.demos {
				t.Errorf("%d demos, want %d", n, c.demos)
			}
			if r.Best.Score != c.score || r.Spent.StudentCalls != c.calls {
				t.Errorf("scored %v after %d calls, want %v after %d", r.Best.Score, r.Spent.StudentCalls, c.score, c.calls)
			}
		})
	}
}

// Demos are drawn by the seed, and equally from all labels, although Train is sorted by label.
func TestBalancedDemos(t *testing.T) {
	t.Parallel()
	train := numbers(0, 42)
	slices.SortStableFunc(train, func(a, b evaluate.Example[question, answer]) int {
		return cmp.Compare(a.In.Number%7, b.In.Number%7)
	})
	for _, by := range []optimize.Optimizer{
		optimize.LabeledFewShot{K: 7}, optimize.BootstrapFewShot{MaxBootstrapped: 1, MaxLabeled: 7},
	} {
		drawn := map[string]bool{}
		for seed := range uint64(3) {
			r, err := optimize.Run(t.Context(), newStudent(), by, data{Train: train, Val: numbers(100, 120)}, right,
				&optimize.Options{Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			demos, labels := r.Candidates[1].States()["Predictor"].Demos, map[string]bool{}
			for _, d := range demos {
				labels[d.Outputs.String()] = true
			}
			if len(labels) < 6 || len(demos) != 7 || r.Best.Score < 0.8 { // a run may have the label of an example
				t.Errorf("%T: %d demos of %d labels, score %v", by, len(demos), len(labels), r.Best.Score)
			}
			drawn[fmt.Sprint(demos)] = true
		}
		if len(drawn) < 3 {
			t.Errorf("%T: different seeds draw the same demos", by)
		}
	}
}

func TestBootstrapRandomSearch(t *testing.T) {
	t.Parallel()
	r := run(t, optimize.BootstrapRandomSearch{
		BootstrapFewShot: optimize.BootstrapFewShot{MaxLabeled: 6}, Candidates: 5,
	}, nil)
	if len(r.Candidates) < 4 || r.Candidates[0].Score != 0 || r.Best.Score <= r.Candidates[1].Score-1e-9 {
		t.Errorf("%d candidates, best %v", len(r.Candidates), r.Best.Score)
	}
	for _, c := range r.Candidates[2:] {
		if n := len(c.States()["Predictor"].Demos); n > 6 {
			t.Errorf("candidate %d has %d demos", c.ID, n)
		}
	}
	if top := r.Top(3); len(top) != 3 || len(top[0].Predictor.Demos) != len(r.Module.Predictor.Demos) {
		t.Errorf("top: %v", top)
	}
	if len(r.Top(100)) != len(r.Candidates) || len(r.Top(-1)) != 0 {
		t.Error("Top is not limited to the candidates")
	}
}

// The teacher knows everything; the student learns from its replies.
func TestTeacher(t *testing.T) {
	t.Parallel()
	var temperatures []float64
	teacher := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		var n int
		_, _ = fmt.Sscanf(inputOf(r.Last(), "number"), "%d", &n) // 0 without a number
		if r.N <= 14 {                                           // the first round fails
			return reply("text", "no"), nil
		}
		temperatures = append(temperatures, r.Options.Temperature)
		return reply("text", nameOf(n)), nil
	})
	r := run(t, optimize.BootstrapFewShot{MaxLabeled: -1, MaxBootstrapped: 7, Rounds: 2},
		&optimize.Options{Teacher: teacher, Workers: 1})
	if r.Spent.TeacherCalls != 21 || r.Spent.StudentCalls != 40 || r.Best.Score < 0.5 {
		t.Errorf("scored %v, spent %v", r.Best.Score, r.Spent)
	}
	if len(temperatures) != 7 || temperatures[0] != 1 {
		t.Errorf("the temperatures of the second round were %v", temperatures)
	}
	if text := teacher.Requests()[0].Text(); strings.Contains(text, "ba") {
		t.Errorf("the teacher was shown labeled demos although MaxLabeled is negative: %s", text)
	}
	// An example is never among the demos of the teacher that answers it.
	taught := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		asked := "[[ ## number ## ]]\n" + inputOf(r.Last(), "number") + "\n"
		if strings.Count(r.Text(), asked) != 1 || !strings.Contains(r.Text(), "ba") {
			t.Errorf("the prompt has the example, or no demos: %s", r.Text())
		}
		return reply("text", "no"), nil
	})
	r = run(t, optimize.BootstrapFewShot{}, &optimize.Options{Teacher: taught})
	if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "no run of the teacher reached the score 1") {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

type letter struct {
	Body string `json:"body"`
}

type topic struct {
	Topic string `json:"topic"`
}

type response struct {
	Text string `json:"text"`
}

type routed struct {
	Body  string `json:"body"`
	Topic string `json:"topic"`
}

// desk sorts a letter and answers it.
type desk struct {
	Sort  *module.ChainOfThought[letter, topic]
	Reply *module.Predict[routed, response]
}

func (d *desk) Run(ctx context.Context, in letter) (*module.Prediction[response], error) {
	sorted, err := d.Sort.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	answered, err := d.Reply.Run(ctx, routed{in.Body, sorted.Output.Topic})
	if err != nil {
		return nil, err
	}
	return &module.Prediction[response]{Output: answered.Output}, nil
}

func newDesk() *desk {
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		body := inputOf(r.Last(), "body")
		if name := inputOf(r.Last(), "topic"); name != "" {
			return reply("text", "on "+name), nil
		}
		word, _, _ := strings.Cut(body, " ")
		return reply("reasoning", "It begins with "+word, "topic", word), nil
	})
	return &desk{
		module.NewChainOfThought(signature.Must(signature.New[letter, topic]("Sort.")), model, nil),
		module.NewPredict(signature.Must(signature.New[routed, response]("Reply.")), model, nil),
	}
}

func letters(n int) (set []evaluate.Example[letter, response]) {
	for i := range n {
		word := string(rune('a' + i%26))
		set = append(set, evaluate.Example[letter, response]{
			ID: fmt.Sprint(i), In: letter{fmt.Sprint(word, " letter ", i)}, Want: response{"on " + word},
		})
	}
	return set
}

func sameText(
	_ context.Context, e evaluate.Example[letter, response], got *module.Prediction[response],
) (module.Score, error) {
	if got.Output == e.Want {
		return module.Score{Value: 1}, nil
	}
	return module.Score{}, nil
}

// The demos of a module that is made of several come from its runs, for each predictor.
func TestComposed(t *testing.T) {
	t.Parallel()
	all := letters(40)
	d := optimize.Data[letter, response]{Train: all[:20], Val: all[20:]}
	for _, frozen := range [][]string{nil, {"Sort"}} {
		var captured *optimize.Candidate
		by := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) error {
			c, n, err := optimize.BootstrapFewShot{MaxBootstrapped: 2}.Bootstrap(ctx, task, []int{3, 5, 7}, "test")
			if n != 2 {
				t.Errorf("%d runs", n)
			}
			captured = c
			return err
		})
		o := &optimize.Options{Frozen: frozen}
		if _, err := optimize.Run(t.Context(), newDesk(), by, d, sameText, o); err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(captured.States())
		sorted := `"Sort":{"instructions":"Sort.","demos":[` +
			`{"inputs":{"body":"d letter 3"},"outputs":{"reasoning":"It begins with d","topic":"d"}},` +
			`{"inputs":{"body":"f letter 5"},"outputs":{"reasoning":"It begins with f","topic":"f"}}]}`
		if frozen != nil {
			sorted = `"Sort":{"instructions":"Sort."}`
		}
		want := `{"Reply":{"instructions":"Reply.","demos":[` +
			`{"inputs":{"body":"d letter 3","topic":"d"},"outputs":{"text":"on d"}},` +
			`{"inputs":{"body":"f letter 5","topic":"f"},"outputs":{"text":"on f"}}]},` + sorted + `}`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	_, err := optimize.Run(t.Context(), newDesk(), optimize.LabeledFewShot{}, d, sameText, nil)
	if err == nil || !strings.Contains(err.Error(), "use BootstrapFewShot") {
		t.Errorf("got %v", err)
	}
}

// If examples cannot become demos of a predictor, runs fill the places: up to 16, and with a second round in which the
// teacher has the demos of the first. Long demos are fewer.
func TestBootstrapWithoutFields(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		padding, from, to int
	}{{0, 16, 16}, {5000, 6, 8}} {
		d := optimize.Data[letter, response]{Train: letters(40), Val: letters(60)[40:]}
		for i := range d.Train {
			d.Train[i].In.Body += strings.Repeat("x", test.padding)
		}
		m := newDesk()
		m.Reply.Predictor.Model = llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			if name := inputOf(r.Last(), "topic"); name < "d" || strings.Contains(r.Text(), "on a") {
				return reply("text", "on "+name), nil
			}
			return reply("text", "on nothing"), nil
		})
		r, err := optimize.Run(t.Context(), m, optimize.BootstrapFewShot{}, d, sameText, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(r.Module.Reply.Predictor.Demos); n < test.from || n > test.to || r.Best.Score != 1 {
			t.Errorf("%d more bytes: %d demos, score %v", test.padding, n, r.Best.Score)
		}
	}
}

// The demos of a module that writes programs have the programs that did not fail.
func TestPrograms(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Text(), "bad program") {
			return llmtest.Reply{Text: "Now.\n```js\nsubmit({text: 'ba'.repeat(number % 7 + 1)})\n```"}, nil
		}
		code := "submit({text: 'ba'.repeat(number % 7 + 1)})"
		if strings.Contains(r.Last(), "\n0\n") || strings.Contains(r.Last(), "number = 0") {
			code = "throw new Error('bad program')"
		}
		return llmtest.Reply{Text: "Repeat it.\n```js\n" + code + "\n```"}, nil
	})
	m := module.NewCodeAct(spelled, model, box, nil, nil)
	var captured *optimize.Candidate
	by := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) (err error) {
		captured, _, err = optimize.BootstrapFewShot{MaxBootstrapped: 2}.Bootstrap(ctx, task, []int{0, 1}, "test")
		return err
	})
	if _, err := optimize.Run(t.Context(), m, by, numbersData(), right, nil); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(captured.States()["Predictor"].Demos)
	want := `[{"inputs":{"number":0},"outputs":{"reasoning":"Now.",` +
		`"code":"submit({text: 'ba'.repeat(number % 7 + 1)})"}},` +
		`{"inputs":{"number":1},"outputs":{"reasoning":"Repeat it.",` +
		`"code":"submit({text: 'ba'.repeat(number % 7 + 1)})"}}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The demos of a ReAct are whole runs.
func TestCallsOfTools(t *testing.T) {
	t.Parallel()
	find := tools.Func("find", "Finds a name.", func(_ context.Context, q question) (string, error) {
		return nameOf(q.Number), nil
	}, &tools.Hints{Class: tools.Read})
	set, err := tools.NewSet(t.Context(), find)
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if n := inputOf(r.Last(), "number"); n != "" && n != "2" {
			return reply("thought", "I look it up.", "tool", "find", "args", `{"number":`+n+`}`), nil
		}
		return reply("thought", "I know it.", "tool", "submit", "args", `{"text":"bababa"}`), nil
	})
	var captured *optimize.Candidate
	by := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) (err error) {
		captured, _, err = optimize.BootstrapFewShot{MaxBootstrapped: 3}.Bootstrap(ctx, task, []int{2, 9}, "test")
		return err
	})
	m := module.NewReAct(spelled, model, set, nil)
	if _, err := optimize.Run(t.Context(), m, by, numbersData(), right, nil); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(captured.States()["Predictor"].Demos)
	want := `[{"inputs":{"number":2},"outputs":{"thought":"I know it.","tool":"submit","args":{"text":"bababa"}}},` +
		`{"inputs":{"number":9},"steps":[{"outputs":{"thought":"I look it up.","tool":"find","args":{"number":9}},` +
		`"observation":"find returned:\n\"bababa\""}],` +
		`"outputs":{"thought":"I know it.","tool":"submit","args":{"text":"bababa"}}}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
