package evaluate_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// student is a module whose model counts its calls, and stops the evaluation after a number of them.
func student(calls *atomic.Int32, stop context.CancelFunc, after int32) *module.Predict[Question, Answer] {
	return module.NewPredict(asking, llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
		if n := calls.Add(1); n > after {
			stop()
			<-ctx.Done()
			return llmtest.Reply{}, ctx.Err()
		}
		return llmtest.Reply{Text: `{"capital": "right"}`, Model: "student"}, nil
	}), nil)
}

// However often an evaluation is killed, the report is the same, and no example is run twice.
func TestResultsAreResumed(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(40, all)
	metric := evaluate.ExactMatch[Question, Answer]()
	path := filepath.Join(t.TempDir(), "results.jsonl")
	var calls atomic.Int32
	for attempt, kills := 0, 0; ; attempt++ {
		ctx, cancel := context.WithCancel(t.Context())
		before := calls.Load()
		r, err := evaluate.Evaluate(ctx, student(&calls, cancel, before+7), examples, metric,
			&evaluate.Options{Workers: 1, Results: path})
		cancel()
		if err != nil {
			kills++
			calls.Add(-1) // the call that was interrupted
			tear(t, path, kills)
			continue
		}
		want, err := evaluate.Evaluate(t.Context(), student(new(atomic.Int32), cancel, 100), examples, metric, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Score != want.Score || len(r.Results) != 40 || r.Usage["student"].Calls != 40 || kills < 5 {
			t.Errorf("got %v after %d kills, not %v", r, kills, want)
		}
		if n := calls.Load() - int32(kills/2); n != 40 {
			t.Errorf("%d calls", n)
		}
		if r.Results[0].Trajectory == nil || len(r.Results[0].Trajectory.Steps) != 1 {
			t.Errorf("trajectory %v", r.Results[0].Trajectory)
		}
		return
	}
}

// tear removes the end of the last line after every second kill, as if it had happened during the write.
func tear(t *testing.T, path string, kills int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if kills%2 == 0 {
		text = text[:len(text)-10]
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// If the metric failed, it is called again, with what the module did. The module is not run again.
func TestResumeCallsMetric(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(3, all)
	for _, o := range []evaluate.Options{{}, {DropTrajectories: true}} {
		var calls atomic.Int32
		m, broken := student(&calls, func() {}, 100), true
		metric := func(
			_ context.Context, _ evaluate.Example[Question, Answer], got *module.Prediction[Answer],
		) (module.Score, error) {
			if broken {
				return module.Score{}, errors.New("the judge is down")
			}
			return module.Score{Value: float64(len(got.Trajectory.Steps)) / 2, Feedback: got.Output.Capital}, nil
		}
		o.Workers, o.Results = 1, filepath.Join(t.TempDir(), "results.jsonl")
		_, err := evaluate.Evaluate(t.Context(), m, examples, metric, &o)
		contains(t, err, "3 of 3 runs have no score")
		broken = false
		for range 2 {
			r, err := evaluate.Evaluate(t.Context(), m, examples, metric, &o)
			if err != nil || r.Errors != 0 || r.Results[0].Score.Feedback != "right" || r.Usage["student"].Calls != 3 {
				t.Errorf("got %v, %v", r, err)
			}
			if steps := 2 * r.Score.Mean; steps != 1 || calls.Load() != 3 {
				t.Errorf("%v steps, %d calls", steps, calls.Load())
			}
			if (r.Results[0].Trajectory == nil) != o.DropTrajectories {
				t.Errorf("trajectory %v", r.Results[0].Trajectory)
			}
		}
	}
}

// If the evaluation stops during the metric, the answer is kept, and only the metric is called again.
func TestResumeAfterInterruptedMetric(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(3, all)
	for _, failing := range []int32{0, 2} { // with two errors, the evaluation stops
		var calls, metrics atomic.Int32
		m := student(&calls, func() {}, 100)
		o := &evaluate.Options{MaxErrors: 1, Results: filepath.Join(t.TempDir(), "results.jsonl")}
		ctx, cancel := context.WithCancel(t.Context())
		running, canceled := make(chan struct{}), failing == 0
		metric := func(
			ctx context.Context, _ evaluate.Example[Question, Answer], got *module.Prediction[Answer],
		) (module.Score, error) {
			n := metrics.Add(1)
			if n > 3 {
				return module.Score{Value: float64(len(got.Trajectory.Steps))}, nil
			}
			if n == 3 {
				close(running)
			}
			if <-running; canceled {
				cancel()
			}
			if n > failing {
				<-ctx.Done()
			}
			return module.Score{}, errors.New("no score")
		}
		r, err := evaluate.Evaluate(ctx, m, examples, metric, o)
		if err == nil || len(r.Results) != int(failing) || errors.Is(err, context.Canceled) != canceled {
			t.Errorf("got %v, %v", r, err)
		}
		cancel()
		r, err = evaluate.Evaluate(t.Context(), m, examples, metric, o)
		if err != nil || r.Score.Mean != 1 || r.Score.N != 3 || r.Errors != 0 || calls.Load() != 3 || metrics.Load() != 6 {
			t.Errorf("got %v, %v, %d calls, %d metrics", r, err, calls.Load(), metrics.Load())
		}
	}
}

// Runs that ended with an error are repeated.
func TestResumeRepeatsErrors(t *testing.T) {
	t.Parallel()
	examples, m := numbers(3, all)
	path := filepath.Join(t.TempDir(), "results.jsonl")
	metric := evaluate.ExactMatch[Question, Answer]()
	delete(m, "country 2")
	for _, want := range []int{1, 0} {
		r, err := evaluate.Evaluate(t.Context(), m, examples, metric, &evaluate.Options{Results: path, MaxErrors: -1})
		if err != nil || r.Errors != want || len(r.Results) != 3 {
			t.Errorf("got %v, %v", r, err)
		}
		m["country 2"] = "right"
	}
	text, err := os.ReadFile(path)
	if err != nil || bytes.Count(text, []byte("\n")) != 5 {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestResultsOfTwoEvaluations(t *testing.T) {
	t.Parallel()
	examples, m := numbers(1, all)
	o := &evaluate.Options{Results: filepath.Join(t.TempDir(), "results.jsonl")}
	metric := func(
		ctx context.Context, e evaluate.Example[Question, Answer], got *module.Prediction[Answer],
	) (module.Score, error) {
		_, err := evaluate.Evaluate(ctx, m, examples, evaluate.ExactMatch[Question, Answer](), o)
		contains(t, err, "results.jsonl: another process is using it")
		return module.Score{Value: 1}, nil
	}
	if r, err := evaluate.Evaluate(t.Context(), m, examples, metric, o); err != nil || r.Score.Mean != 1 {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestResultsOfSomethingElse(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(2, all)
	model := capitals(nil)
	m := module.NewPredict(asking, model, nil)
	metric := evaluate.ExactMatch[Question, Answer]()
	path := filepath.Join(t.TempDir(), "results.jsonl")
	o := evaluate.Options{Workers: 1, Results: path}
	if _, err := evaluate.Evaluate(t.Context(), m, examples, metric, &o); err != nil {
		t.Fatal(err)
	}
	type example = evaluate.Example[Question, Answer]
	try := func(m module.Module[Question, Answer], examples []example, o evaluate.Options) error {
		_, err := evaluate.Evaluate(t.Context(), m, examples, metric, &o)
		return err
	}
	contains(t, try(m, examples[:1], o), `results.jsonl: line 3: it has a result of example "2", which is not in the set`)
	changed, _ := numbers(2, all)
	changed[1].Want.Capital = "other"
	contains(t, try(m, changed, o), `example "2" has changed since the result was written`)
	other := module.NewPredict(signature.Must(signature.New[Question, Answer]("Think first.")), model, nil)
	contains(t, try(other, examples, o), "its results come from a module with other instructions, demos or code")
	contains(t, try(module.NewChainOfThought(asking, model, nil), examples, o),
		"its results come from a module of type *module.Predict[github.com/writ-go/writ/module/evaluate_test.Question")
	contains(t, try(module.NewPredict(asking, model.With(models.Capabilities{Model: "better"}), nil), examples, o),
		`line 1: its results come from other models: Predictor: "", not Predictor: "better"`)
	invalid := module.NewPredict(asking, model, nil)
	invalid.Predictor.Temperature = new(float64)
	*invalid.Predictor.Temperature = -1
	contains(t, try(invalid, examples, o), "the temperature -1 is not between 0 and 100")
	o.Samples = 2
	contains(t, try(m, examples, o), "line 1: its results come from an evaluation with 1 as Options.Samples, not 2")
	o = evaluate.Options{Results: filepath.Join(t.TempDir(), "other.txt")}
	if err := os.WriteFile(o.Results, []byte("Dear diary,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, try(m, examples, o), "line 1: it is not a results file")
	o.Results = t.TempDir()
	contains(t, try(m, examples, o), ": open ")
	if n := len(model.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// A last line without a newline is kept if it is JSON, and otherwise removed if it may be the beginning of one.
func TestLastLineOfResults(t *testing.T) {
	t.Parallel()
	examples, _ := numbers(2, all)
	var calls atomic.Int32
	m := student(&calls, func() {}, 100)
	path := filepath.Join(t.TempDir(), "results.jsonl")
	run := func() error {
		_, err := evaluate.Evaluate(t.Context(), m, examples, evaluate.ExactMatch[Question, Answer](),
			&evaluate.Options{Workers: 1, Results: path})
		return err
	}
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	headerEnd := bytes.IndexByte(text, '\n')
	for length, want := range map[int]int32{len(text) - 1: 0, len(text) - 2: 1, headerEnd: 2, headerEnd - 1: 2, 1: 2} {
		write(text[:length])
		before := calls.Load()
		for range 2 {
			if err := run(); err != nil || calls.Load()-before != want {
				t.Errorf("%d bytes: %d calls, %v", length, calls.Load()-before, err)
			}
		}
	}
	for _, foreign := range []string{`{"evaluation":{"score":0.9}}`, `{"evaluation":1}`, "[", `{"evaluatio n`} {
		write([]byte(foreign))
		contains(t, run(), "line 1: it")
		if after, err := os.ReadFile(path); err != nil || string(after) != foreign {
			t.Errorf("%s was overwritten by %s, %v", foreign, after, err)
		}
	}
}

// A file has results of one program, and of one module without predictors.
func TestResultsOfOtherCode(t *testing.T) {
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	examples, _ := numbers(1, all)
	type pair [2]module.Module[Question, Answer]
	program := func(code string) module.Module[Question, Answer] {
		return module.NewProgram(asking, module.Script{Code: code}, box, nil, nil)
	}
	for want, m := range map[string]pair{
		"other instructions, demos or code": {program(`submit({capital: "right"})`), program(`submit({capital: "wrong"})`)},

		"a module of type evaluate_test.atlas, not evaluate_test.panics": {atlas{"country 1": "right"}, panics{}},
	} {
		o := &evaluate.Options{Results: filepath.Join(t.TempDir(), "results.jsonl")}
		for i := range m {
			_, err := evaluate.Evaluate(t.Context(), m[i], examples, evaluate.ExactMatch[Question, Answer](), o)
			if i == 1 {
				contains(t, err, want)
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Whatever a file contains, it is either refused or continued.
func FuzzResults(f *testing.F) {
	examples, _ := numbers(2, all)
	m := module.NewPredict(asking, steady{}, nil)
	metric := evaluate.ExactMatch[Question, Answer]()
	path := filepath.Join(f.TempDir(), "results.jsonl")
	if _, err := evaluate.Evaluate(f.Context(), m, examples, metric, &evaluate.Options{Results: path}); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)-20])
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "results.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := evaluate.Evaluate(t.Context(), m, examples, metric, &evaluate.Options{Results: path})
		if (err == nil) != (r != nil) || r != nil && len(r.Results) != 2 {
			t.Fatalf("got %v, %v", r, err)
		}
		after, readErr := os.ReadFile(path)
		if readErr != nil || err != nil && !bytes.Equal(after, text) {
			t.Fatalf("a file that was refused has changed: %v", readErr)
		}
	})
}
