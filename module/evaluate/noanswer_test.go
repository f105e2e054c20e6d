package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// hard returns 60 examples, and a module that gives no readable reply to the last ten.
func hard(calls *atomic.Int32) ([]evaluate.Example[Question, Answer], *module.Predict[Question, Answer]) {
	examples, _ := numbers(60, all)
	return examples, module.NewPredict(asking, llmtest.Func(
		func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			calls.Add(1)
			for i := 51; i <= 60; i++ {
				if strings.Contains(r.Last(), fmt.Sprintf("country %d", i)) {
					return llmtest.Reply{StopReason: "length"}, nil
				}
			}
			return llmtest.Reply{Text: `{"capital": "right"}`}, nil
		}), nil)
}

// A module must not gain from giving no answer to hard questions.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for _, value := range []float64{0, -1} {
		var calls atomic.Int32
		examples, m := hard(&calls)
		o := &evaluate.Options{NoAnswer: value, Results: filepath.Join(t.TempDir(), "results.jsonl")}
		metric := func(
			context.Context, evaluate.Example[Question, Answer], *module.Prediction[Answer],
		) (module.Score, error) {
			return module.Score{Value: 1, Parts: map[string]float64{"capital": 1}}, nil
		}
		want := (50 + 10*value) / 60
		for range 2 { // the second evaluation makes no run
			r, err := evaluate.Evaluate(t.Context(), m, examples, metric, o)
			if err != nil || calls.Load() != 60 {
				t.Fatalf("%d calls, %v", calls.Load(), err)
			}
			if math.Abs(r.Score.Mean-want) > 1e-9 || r.Score.N != 60 || r.NoAnswers != 10 || r.Errors != 0 {
				t.Errorf("got %v, not %v", r, want)
			}
			if parts := r.Parts["capital"]; math.Abs(parts.Mean-50.0/60) > 1e-9 || parts.N != 60 {
				t.Errorf("got parts %v", parts)
			}
			last := r.Results[59]
			if !last.NoAnswer || last.Score.Value != value || !strings.Contains(last.Err, "cut off before its answer") {
				t.Errorf("got %+v", last)
			}
			text := "no answer  10, counted in the score; the first, of example \"51\": module: no answer after 1 step"
			if !strings.Contains(r.String(), text) {
				t.Errorf("no %q in\n%s", text, r)
			}
			raw, err := json.Marshal(r)
			if err != nil || !strings.Contains(string(raw), `"no_answers":10`) ||
				strings.Count(string(raw), `"no_answer":true`) != 10 {
				t.Errorf("got %s, %v", raw, err)
			}
			perfect := reportOn(t, 60, all)
			c, err := evaluate.Compare(perfect, r)
			if err != nil || len(c.Unpaired) > 0 || math.Abs(c.Difference.Mean-(want-1)) > 1e-9 ||
				len(c.Changed) != 10 {
				t.Errorf("got %v, %v", c, err)
			}
		}
	}
	examples, m := numbers(1, all)
	_, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](),
		&evaluate.Options{NoAnswer: math.NaN()})
	contains(t, err, "evaluate: Options.NoAnswer: the score is NaN; it must be from -1e9 to 1e9")
}

// If no run of a module has an answer, all parts of the other module's scores count as gains.
func TestComparePartsWithoutAnswer(t *testing.T) {
	t.Parallel()
	examples, m := numbers(3, all)
	empty := atlas{"country 1": "", "country 2": "", "country 3": ""}
	metric := evaluate.JSONFields[Question, Answer]()
	var reports [2]*evaluate.Report
	for i, m := range []atlas{empty, m} {
		var err error
		if reports[i], err = evaluate.Evaluate(t.Context(), m, examples, metric, nil); err != nil {
			t.Fatal(err)
		}
		for at := range reports[i].Results {
			if !reports[i].Results[at].NoAnswer {
				reports[i].Results[at].Score.Parts = map[string]float64{"capital": 1}
			}
		}
	}
	c, err := evaluate.Compare(reports[0], reports[1])
	if err != nil || c.Parts["capital"].Mean != 1 || c.A.Mean != 0 {
		t.Errorf("got %v, %v", c, err)
	}
}

// spentWithin returns the error of a run that has spent a budget of its own.
func spentWithin() error {
	ctx := budget.With(context.Background(), budget.Limits{Calls: 1})
	model := models.Retry(llmtest.New("a"), nil)
	question := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "question")}
	_, _ = model.GenerateContent(ctx, question)
	_, err := model.GenerateContent(ctx, question)
	return err
}

// What shows how good a module is counts as no answer. Everything else is an error.
func TestNoAnswerOrError(t *testing.T) {
	t.Parallel()
	model := func(kind models.Kind) error { return &models.Error{Kind: kind, Err: errors.New("oops")} }
	failures := func(errs ...error) error {
		return &module.IncompleteError{Err: errors.Join(errs...), Trajectory: module.Trajectory{Module: "BestOfN"}}
	}
	examples, _ := numbers(1, all)
	for _, test := range []struct {
		err      error
		noAnswer bool
	}{
		{module.ErrNoAnswer, true},
		{failures(module.ErrMaxIters), true},
		{failures(spentWithin()), true},
		{failures(model(models.KindRefused)), true},
		{failures(model(models.KindContextTooLong)), true},
		{failures(model(models.KindRefused), module.ErrNoAnswer), true},
		{failures(model(models.KindRefused), model(models.KindTransient)), false},
		{failures(module.ErrNoAnswer, model(models.KindRateLimited)), false},
		{model(models.KindAuth), false},
		{model(models.KindInvalid), false},
		{model(models.KindOverBudget), false},
		{failures(tools.Fatal(module.ErrNoAnswer)), false},
		{failures(&journal.UnknownError{}), false},
		{failures(sandbox.ErrClosed), false},
		{failures(context.DeadlineExceeded), false},
		{&models.PanicError{Value: module.ErrNoAnswer}, false},
		{errors.New("the database is down"), false},
	} {
		m := concealed[Question, Answer]{func(context.Context, Question) (*module.Prediction[Answer], error) {
			return nil, test.err
		}}
		r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](), nil)
		if (err == nil) != test.noAnswer || r.Results[0].NoAnswer != test.noAnswer || r.Results[0].Err == "" {
			t.Errorf("%v: got %v, %v", test.err, r, err)
		}
	}
}

// A compiled program without a fallback that fails, or whose answer is not valid, gives no answer.
func TestProgramWithoutAnswer(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	examples, _ := numbers(1, all)
	for _, code := range []string{`throw new Error("no")`, "submit({})"} {
		m := module.NewProgram(asking, module.Script{Code: code}, box, nil, nil)
		r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](), nil)
		if err != nil || r.NoAnswers != 1 {
			t.Errorf("%s: got %v, %v", code, r, err)
		}
	}
}

// A judge without an answer is an error of the metric, not of the module.
func TestJudgeWithoutAnswer(t *testing.T) {
	t.Parallel()
	examples, m := numbers(1, all)
	r, err := evaluate.Evaluate(t.Context(), m, examples,
		evaluate.Judge[Question, Answer](llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{StopReason: "length"}, nil
		}), ""), nil)
	if contains(t, err, "the metric failed"); r.Errors != 1 || r.NoAnswers != 0 {
		t.Errorf("got %v", r)
	}
}

// Up to 2% of the runs may have an error.
func TestShareOfErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		runs, failing, max int
		want               string
	}{
		{100, 2, 0, ""},
		{100, 3, 0, `3 of 100 runs have no score because of errors, more than 2%; the first error, of example "1": `},
		{100, 3, 50, "3 of 100 runs have no score"},
		{100, 90, -1, ""},
		{1000, 20, 0, ""},
		{1000, 30, 0, "evaluate: stopped after 21 errors"},
		{100, 12, 0, "evaluate: stopped after 11 errors"},
	} {
		examples, m := numbers(test.runs, all)
		for i := range test.failing {
			delete(m, fmt.Sprintf("country %d", i+1))
		}
		r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](),
			&evaluate.Options{MaxErrors: test.max})
		if test.want != "" {
			contains(t, err, test.want)
		} else if err != nil {
			t.Errorf("%+v: %v", test, err)
		}
		if complete := !strings.Contains(test.want, "stopped"); complete && len(r.Results) != test.runs {
			t.Errorf("%+v: %d results", test, len(r.Results))
		}
	}
}

// A run that never ends has no answer, whether or not the module notices the end of its context.
func TestRunTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		forever := make(chan struct{})
		defer close(forever)
		examples, _ := numbers(2, all)
		polite := module.NewPredict(asking, llmtest.Func(
			func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
				if strings.Contains(r.Last(), "country 1") {
					<-ctx.Done()
				}
				return llmtest.Reply{Text: `{"capital": "right"}`}, ctx.Err()
			}), nil)
		deaf := concealed[Question, Answer]{func(_ context.Context, in Question) (*module.Prediction[Answer], error) {
			if in.Country == "country 1" {
				<-forever
			}
			return &module.Prediction[Answer]{Output: Answer{"right"}}, nil
		}}
		for i, m := range []module.Module[Question, Answer]{polite, deaf} {
			for timeout, want := range map[time.Duration]string{0: "10m0s", time.Minute: "1m0s"} {
				r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](),
					&evaluate.Options{RunTimeout: timeout})
				if err != nil || r.Score.Mean != 0.5 || r.NoAnswers != 1 {
					t.Errorf("got %v, %v", r, err)
				}
				if first := r.Results[0]; first.Err != "the run was stopped after "+want+"; to allow more time, raise "+
					"Options.RunTimeout" || (len(first.Trajectory.Steps) == 1) != (i == 0) {
					t.Errorf("got %+v", first)
				}
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := evaluate.Evaluate(ctx, deaf, examples, evaluate.ExactMatch[Question, Answer](), nil)
		if !errors.Is(err, context.DeadlineExceeded) || len(r.Results) != 1 {
			t.Errorf("got %v, %v", r, err)
		}
		slow := concealed[Question, Answer]{func(context.Context, Question) (*module.Prediction[Answer], error) {
			time.Sleep(time.Hour)
			return &module.Prediction[Answer]{Output: Answer{"right"}}, nil
		}}
		r, err = evaluate.Evaluate(t.Context(), slow, examples, evaluate.ExactMatch[Question, Answer](),
			&evaluate.Options{RunTimeout: -1})
		if err != nil || r.Score.Mean != 1 {
			t.Errorf("got %v, %v", r, err)
		}
	})
}
