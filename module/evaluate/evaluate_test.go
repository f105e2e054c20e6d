package evaluate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
)

func TestEvaluate(t *testing.T) {
	t.Parallel()
	examples := []evaluate.Example[Question, Answer]{
		{ID: "no", In: Question{"Norway"}, Want: Answer{"Oslo"}},
		{ID: "fr", In: Question{"France"}, Want: Answer{"Paris"}, Weight: 2},
		{ID: "de", In: Question{"Germany"}, Want: Answer{"Berlin"}, Note: "The capital moved in 1990."},
		{ID: "?", In: Question{"Mordor"}, Want: Answer{"Barad-dûr"}},
	}
	m := atlas{"Norway": "Oslo", "France": "paris.", "Germany": "Bonn"}
	r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.TextMatch[Question, Answer](), nil)
	contains(t, err, "evaluate: 1 of 4 runs have no score because of errors, more than 2%; the first error, of "+
		`example "?": no such country: Mordor`)
	if r.Score.Mean != 0.75 || r.Score.N != 3 || r.Errors != 1 || len(r.Results) != 4 {
		t.Errorf("got %v", r)
	}
	de, unknown := r.Results[2], r.Results[3]
	if want := "capital: expected \"Berlin\", got \"Bonn\".\nThe capital moved in 1990."; de.Score.Feedback != want {
		t.Errorf("feedback %q", de.Score.Feedback)
	}
	if string(de.Inputs)+string(de.Want)+string(de.Got) != `{"country":"Germany"}{"capital":"Berlin"}{"capital":"Bonn"}` {
		t.Errorf("got %s, %s, %s", de.Inputs, de.Want, de.Got)
	}
	if unknown.Err != "no such country: Mordor" || unknown.Got != nil || unknown.Score.Value != 0 {
		t.Errorf("got %+v", unknown)
	}
}

func TestEvaluateMistakes(t *testing.T) {
	t.Parallel()
	type example = evaluate.Example[Question, Answer]
	metric := evaluate.ExactMatch[Question, Answer]()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	chat := module.NewChat(asking, llmtest.New(), box, nil, nil)
	shared := module.NewCodeAct(asking, llmtest.New(), box.NewSession(nil), nil, nil)
	for _, test := range []struct {
		name     string
		m        module.Module[Question, Answer]
		examples []example
		metric   evaluate.Metric[Question, Answer]
		want     string
	}{
		{"no examples", atlas{}, nil, metric, "the set of examples is empty"},
		{"duplicate", atlas{}, []example{{ID: "a"}, {ID: "a"}}, metric, "examples 1 and 2 have the same ID"},
		{"number taken", atlas{}, []example{{ID: "2"}, {}}, metric, "examples 1 and 2 have the same ID"},
		{"negative weight", atlas{}, []example{{Weight: -1}}, metric, `example "1" has the weight -1`},
		{"weight NaN", atlas{}, []example{{Weight: math.NaN()}}, metric, "weights must be from 1e-9 to 1e9"},
		{"large weight", atlas{}, []example{{}, {Weight: 1e308}}, metric, `"2" has the weight 1e+308; weights must be`},
		{"infinite weight", atlas{}, []example{{Weight: math.Inf(1)}}, metric, `example "1" has the weight +Inf`},
		{"tiny weight", atlas{}, []example{{Weight: 5e-324}}, metric, `"1" has the weight 5e-324; weights must be`},
		{"no module", nil, []example{{}}, metric, "the module is nil"},
		{"nil pointer", (*module.Predict[Question, Answer])(nil), []example{{}}, metric, "the module is nil"},
		{"no metric", atlas{}, []example{{}}, nil, "the metric is nil"},
		{"chat", chat, []example{{}}, metric, "evaluate: the answers would depend on the order of the examples: " +
			"the runs of Predictor share a conversation; use a CodeAct with a *sandbox.Sandbox"},
		{"session", wrapped{shared}, []example{{}}, metric, "the runs of Act share a session; use a CodeAct with a " +
			"*sandbox.Sandbox"},
	} {
		r, err := evaluate.Evaluate(t.Context(), test.m, test.examples, test.metric, nil)
		if contains(t, err, test.want); r != nil {
			t.Errorf("%s: got a report", test.name)
		}
	}
}

// wrapped is a module that has another one in a field.
type wrapped struct {
	Act *module.CodeAct[Question, Answer]
}

func (w wrapped) Run(ctx context.Context, in Question) (*module.Prediction[Answer], error) {
	return w.Act.Run(ctx, in)
}

// A metric that fails is never counted as a score.
func TestMetricMistakes(t *testing.T) {
	t.Parallel()
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	examples, m := numbers(1, all)
	type prediction = module.Prediction[Answer]
	returns := func(s module.Score, err error) func() (module.Score, error) {
		return func() (module.Score, error) { return s, err }
	}
	const bounds = "; it must be from -1e9 to 1e9"
	for want, metric := range map[string]func() (module.Score, error){
		"the metric failed: module: the run ended with runtime.Goexit instead of returning": func() (
			module.Score, error) {
			runtime.Goexit()
			panic("unreachable")
		},
		"the metric failed: no idea": returns(module.Score{}, errors.New("no idea")),

		"the metric failed: the score is NaN" + bounds:    returns(module.Score{Value: math.NaN()}, nil),
		"the metric failed: the score is 1e+308" + bounds: returns(module.Score{Value: 1e308}, nil),
		`the metric failed: the part "x" of the score is -Inf` + bounds: returns(
			module.Score{Parts: map[string]float64{"x": math.Inf(-1)}}, nil),
		"the metric took longer than 1ms; raise Options.MetricTimeout": func() (module.Score, error) {
			<-forever
			return module.Score{}, nil
		},
	} {
		timeout := time.Minute
		if strings.Contains(want, "longer") {
			timeout = time.Millisecond
		}
		r, err := evaluate.Evaluate(t.Context(), m, examples,
			func(context.Context, evaluate.Example[Question, Answer], *prediction) (module.Score, error) {
				return metric()
			},
			&evaluate.Options{MetricTimeout: timeout})
		contains(t, err, "evaluate: 1 of 1 runs have no score because of errors, more than 2%; the first error, of "+
			`example "1": `+want)
		if r.Errors != 1 || r.Score.N != 0 || r.Results[0].Err != want {
			t.Errorf("%q: got %v", want, r)
		}
	}
}

// The error for a panic of a metric says where it was, and wraps the module's error with the stack.
func TestMetricPanics(t *testing.T) {
	t.Parallel()
	type prediction = module.Prediction[Answer]
	var nowhere *Answer
	var unmade map[string]bool
	for want, metric := range map[string]func(){
		"the metric panicked: oops, at ":                                       func() { panic("oops") },
		"the metric panicked: runtime error: invalid memory address or nil po": func() { nowhere.Capital = "" },
		"the metric panicked: assignment to entry in nil map, at ":             func() { unmade["x"] = true },
	} {
		examples, m := numbers(20, all)
		for i, most := range []int{10, 100} {
			r, err := evaluate.Evaluate(t.Context(), m, examples,
				func(context.Context, evaluate.Example[Question, Answer], *prediction) (module.Score, error) {
					metric()
					return module.Score{}, nil
				},
				&evaluate.Options{Workers: 1, MaxErrors: most})
			contains(t, err, []string{"stopped after 11 errors", "20 of 20 runs have no score"}[i])
			if panicked, ok := errors.AsType[*models.PanicError](err); !ok || len(panicked.Stack) == 0 {
				t.Errorf("%q: got %v", want, err)
			}
			if got := r.Results[0].Err; !strings.HasPrefix(got, want) || !panicPlace.MatchString(got) {
				t.Errorf("%q: got %q", want, got)
			}
		}
	}
}

var panicPlace = regexp.MustCompile(`, at .+/evaluate/evaluate_test\.go:\d+$`)

// panics is a module that panics.
type panics struct{}

func (panics) Run(context.Context, Question) (*module.Prediction[Answer], error) { panic("oops") }

func TestModulePanics(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(3, all)
	r, err := evaluate.Evaluate(t.Context(), panics{}, examples, evaluate.ExactMatch[Question, Answer](), nil)
	_, panicked := errors.AsType[*models.PanicError](err)
	if !panicked || r.Errors != 3 || !strings.Contains(r.Results[2].Err, "oops") {
		t.Errorf("got %v, %v", r, err)
	}
}

// Without a score, the report is not a result. The error is that of the first run, whichever ends first.
func TestNoScore(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(5, all)
	metric := evaluate.ExactMatch[Question, Answer]()
	r, err := evaluate.Evaluate(t.Context(), atlas{}, examples, metric, nil)
	contains(t, err, `evaluate: 5 of 5 runs have no score because of errors, more than 2%; the first error, of `+
		`example "1": no such country: country 1`)
	if r == nil || r.Errors != 5 {
		t.Errorf("got %v", r)
	}
}

func TestMaxErrors(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(50, all)
	for _, test := range []struct{ max, errors int }{{0, 11}, {3, 4}, {-1, 50}} {
		r, err := evaluate.Evaluate(t.Context(), atlas{}, examples, evaluate.ExactMatch[Question, Answer](),
			&evaluate.Options{Workers: 1, MaxErrors: test.max})
		if r.Errors != test.errors || len(r.Results) != test.errors {
			t.Errorf("%d: %d errors of %d results", test.max, r.Errors, len(r.Results))
		}
		if test.max >= 0 {
			contains(t, err, fmt.Sprintf("stopped after %d errors", test.errors))
		} else if err != nil {
			t.Error(err)
		}
	}
}

// When the context ends, the results so far are returned, without those that it interrupted.
func TestEvaluateCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	examples, m := numbers(20, all)
	var n atomic.Int32
	metric := func(ctx context.Context, _ evaluate.Example[Question, Answer], _ *module.Prediction[Answer],
	) (module.Score, error) {
		if n.Add(1) == 8 {
			cancel()
			<-ctx.Done()
			return module.Score{}, ctx.Err()
		}
		return module.Score{Value: 1}, nil
	}
	r, err := evaluate.Evaluate(ctx, m, examples, metric, &evaluate.Options{Workers: 1})
	if !errors.Is(err, context.Canceled) || len(r.Results) != 7 || r.Errors != 0 {
		t.Errorf("got %v, %v", r, err)
	}
}

// Samples have rollouts of their own, and their dependence is taken into account.
func TestSamples(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	temperatures := map[float64]int{}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		temperatures[r.Options.Temperature]++
		return llmtest.Reply{Text: "[[ ## capital ## ]]\nright\n\n[[ ## completed ## ]]"}, nil
	})
	cache, err := models.OpenStore(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := module.NewPredict(asking, cache.Model(model, "student"), nil)
	examples, _ := numbers(2, all)
	r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](),
		&evaluate.Options{Samples: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 6 || r.Score.N != 2 || r.Results[4].ID != "2" || r.Results[4].Sample != 1 {
		t.Errorf("got %v", r)
	}
	if want := map[float64]int{1: 6}; !reflect.DeepEqual(temperatures, want) || m.Predictor.Temperature != nil {
		t.Errorf("temperatures %v", temperatures)
	}
	_, err = evaluate.Evaluate(t.Context(), atlas{}, examples, evaluate.ExactMatch[Question, Answer](),
		&evaluate.Options{Samples: 2})
	contains(t, err, "has no Predictor in its exported fields, so all samples of an example would be the same")
}

// The report has the usage and the cost of the module and, apart from them, of the metric.
func TestReportUsage(t *testing.T) {
	t.Parallel()
	judge := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		text := `{"feedback": "fine", "grade": 7}`
		return llmtest.Reply{Text: text, Model: "judge", InputTokens: 1000, OutputTokens: 10}, nil
	})
	student := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: `{"capital": "right"}`, Model: "student", InputTokens: 100, OutputTokens: 20}, nil
	})
	examples, _ := numbers(10, all)
	r, err := evaluate.Evaluate(t.Context(), module.NewPredict(asking, student, nil), examples,
		evaluate.Judge[Question, Answer](judge, "It is right."), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := event.ModelUsage{"student": {Calls: 10, InputTokens: 1000, OutputTokens: 200}}
	if !reflect.DeepEqual(r.Usage, want) {
		t.Errorf("usage %v", r.Usage)
	}
	if r.MetricUsage["judge"].Calls != 10 {
		t.Errorf("metric %v", r.MetricUsage)
	}
	if math.Abs(r.Score.Mean-0.7) > 1e-9 || r.Results[0].Score.Feedback != "fine" {
		t.Errorf("score %v, %+v", r.Score, r.Results[0].Score)
	}
	text := r.String()
	for _, line := range []string{
		"score    0.700 [0.463, 0.802] over 10 examples\n",
		"\nmodel    student: 10 calls of the model, 1000 tokens in, 200 out\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

// A report can be saved as JSON and read again.
func TestReportJSON(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(3, all)
	m := module.NewPredict(asking, capitals(map[string]string{"country": "right"}), nil)
	r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.F1[Question, Answer](), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var read evaluate.Report
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(read)
	if err != nil || !bytes.Equal(raw, again) || read.String() != r.String() {
		t.Errorf("got %s, %v, not %s", again, err, raw)
	}
}

func TestDropTrajectories(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(1, all)
	m := module.NewPredict(asking, capitals(nil), nil)
	for _, drop := range []bool{false, true} {
		r, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](),
			&evaluate.Options{DropTrajectories: drop})
		if err != nil || (r.Results[0].Trajectory == nil) != drop || r.Results[0].Usage.Total().Calls != 1 {
			t.Errorf("%v: got %+v, %v", drop, r.Results[0], err)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	examples, m := numbers(5, func(i int) bool { return i != 0 })
	delete(m, "country 4")
	m["country 5"] = ""
	var b bytes.Buffer
	_, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](),
		&evaluate.Options{Progress: &b, MaxErrors: -1})
	if want := "5/5  score 0.500  1 without an answer  1 error  "; err != nil || !strings.HasPrefix(b.String(), want) {
		t.Errorf("got %q, %v", b.String(), err)
	}
}
