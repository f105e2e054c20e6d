package optimize_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/tools"
)

// fickle is a student whose replies to the same question differ, and which sometimes fails.
func fickle(seed uint64, replies *atomic.Int64) *llmtest.Model {
	source := rand.New(rand.NewPCG(seed, 0))
	chances := make([]float64, 10_000)
	for i := range chances {
		chances[i] = source.Float64()
	}
	return llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		var n int
		_, _ = fmt.Sscanf(inputOf(r.Last(), "number"), "%d", &n) // 0 without a number
		replies.Add(1)
		switch chance := chances[r.N%len(chances)]; {
		case chance < 0.05:
			return llmtest.Reply{}, errors.New("the line is bad")
		case chance < 0.1:
			return llmtest.Reply{Text: "[[ ## text ##", StopReason: "length"}, nil
		case chance < 0.6:
			return reply("text", nameOf(n)), nil
		}
		return reply("text", "unknown"), nil
	})
}

// reflecting also asks the reflection model.
func reflecting() optimize.Optimizer {
	return optimize.OptimizerFunc(func(ctx context.Context, t *optimize.Task) error {
		for range 2 {
			text, err := t.Ask(ctx, "Write better instructions.")
			if err != nil {
				return err
			}
			c := t.New(t.Start(), "reflecting")
			s := c.States()["Predictor"]
			s.Instructions = fmt.Sprint(text, t.Rand().IntN(1000))
			c.States()["Predictor"] = s
			if _, err := t.Evaluate(ctx, c, optimize.TrainSplit, []int{1, 4, 1}); err != nil {
				return err
			}
			if err := t.Accept(ctx, c); err != nil {
				return err
			}
		}
		search := optimize.BootstrapRandomSearch{Candidates: 1}
		search.Rounds = 2
		return optimize.Optimize(ctx, search, t)
	})
}

// outcome is what must be the same after a search was resumed.
func outcome(r *optimize.Result[predict]) string {
	r.Spent.Time = 0
	var states []any
	for _, c := range r.Candidates {
		states = append(states, c.States())
	}
	raw, err := json.Marshal(map[string]any{
		"candidates": r.Candidates, "states": states, "best": r.Best, "spent": r.Spent, "warnings": r.Warnings,
		"demos": r.Module.Predictor.Demos,
	})
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func searchWith(ctx context.Context, seed uint64, dir string, workers int, replies *atomic.Int64) (string, error) {
	student := module.NewPredict(spelled, fickle(seed, replies), nil)
	advisor := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		n := replies.Add(1)
		return llmtest.Reply{Text: fmt.Sprintf("Advice %d.%d", seed, n)}, nil
	})
	few := data{Train: numbers(0, 8), Val: numbers(100, 110)}
	r, err := optimize.Run(ctx, student, reflecting(), few, right, &optimize.Options{
		Dir: dir, Seed: 7, Workers: workers, Reflection: advisor,
	})
	if err != nil {
		return "", err
	}
	return outcome(r), nil
}

// A search that was killed after any part of its log was written continues to the same result, although the models
// would reply differently the second time, and pays for the rest only.
func TestResume(t *testing.T) {
	t.Parallel()
	var replies atomic.Int64
	whole := t.TempDir()
	want, err := searchWith(t.Context(), 1, whole, 8, &replies)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(whole, "replies.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	paid := replies.Load()
	if n := bytes.Count(log, []byte("\n")); int64(n) != paid {
		t.Fatalf("%d replies, %d in the log", paid, n)
	}
	source := rand.New(rand.NewPCG(1, 2))
	cuts := []int{0, len(log)}
	n := 50
	if testing.Short() {
		n = 10
	}
	for range n {
		cuts = append(cuts, source.IntN(len(log)))
	}
	for i, cut := range cuts {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "replies.jsonl"), log[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		replies.Store(0)
		got, err := searchWith(t.Context(), 2, dir, 3, &replies) // the same search, other replies
		if err != nil {
			t.Fatal(err)
		}
		known := bytes.Count(log[:min(cut+1, len(log))], []byte("\n")) // also a line that lacks only its newline
		if cut == len(log) && (got != want || replies.Load() != 0) {
			t.Fatalf("resumed with the whole log: %d replies\ngot  %s\nwant %s", replies.Load(), got, want)
		}
		after, _ := os.ReadFile(filepath.Join(dir, "replies.jsonl"))
		if n := bytes.Count(after, []byte("\n")); int64(n) != int64(known)+replies.Load() {
			t.Errorf("cut at %d: %d replies were known and %d paid, but %d are in the log", cut, known, replies.Load(), n)
		}
		if i%5 > 0 {
			continue
		}
		// Whatever it received, it received once: another run takes all of it from the log.
		replies.Store(0)
		again, err := searchWith(t.Context(), 3, dir, 5, &replies)
		if err != nil || again != got || replies.Load() != 0 {
			t.Fatalf("cut at %d, and resumed again: %d replies, %v\ngot  %s\nwant %s", cut, replies.Load(), err, again, got)
		}
	}
}

// With replies that depend on the question alone, a search that was killed at any point ends as if it had not been.
func TestResumeAfterCancel(t *testing.T) {
	t.Parallel()
	search := func(ctx context.Context, cancel func(), dir string, after int64) (string, int64, error) {
		var asked atomic.Int64
		inner := learner()
		model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
			if asked.Add(1) == after {
				cancel()
				return llmtest.Reply{}, ctx.Err()
			}
			response, err := inner.GenerateContent(ctx, r.Messages)
			if err != nil {
				return llmtest.Reply{}, err
			}
			return llmtest.Reply{Text: response.Choices[0].Content}, nil
		})
		r, err := optimize.Run(ctx, module.NewPredict(spelled, model, nil),
			optimize.BootstrapRandomSearch{BootstrapFewShot: optimize.BootstrapFewShot{MaxLabeled: 5}, Candidates: 3},
			numbersData(), right, &optimize.Options{Dir: dir, Seed: 3, Workers: 1})
		if err != nil {
			return "", asked.Load(), err
		}
		return outcome(r), asked.Load(), nil
	}
	want, all, err := search(t.Context(), nil, t.TempDir(), -1)
	if err != nil {
		t.Fatal(err)
	}
	for after := int64(1); after <= all; after += 23 {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		_, before, err := search(ctx, cancel, dir, after)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled in call %d: got %v", after, err)
		}
		got, rest, err := search(t.Context(), nil, dir, -1)
		if err != nil || got != want {
			t.Fatalf("cancelled in call %d: %v\ngot  %s\nwant %s", after, err, got, want)
		}
		if before-1+rest != all { // the cancelled call was not answered
			t.Errorf("cancelled in call %d: %d calls, and then %d; undisturbed %d", after, before, rest, all)
		}
	}
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	by := optimize.BootstrapRandomSearch{BootstrapFewShot: optimize.BootstrapFewShot{MaxLabeled: 5}, Candidates: 3}
	search := func(seed uint64, workers int) string {
		return outcome(run(t, by, &optimize.Options{Seed: seed, Workers: workers}))
	}
	first := search(1, 1)
	if again := search(1, 16); again != first {
		t.Errorf("the same seed:\n%s\n%s", first, again)
	}
	if other := search(2, 1); other == first {
		t.Error("another seed gives the same result")
	}
}

// Where the budget ends does not depend on the order of replies.
func TestBudget(t *testing.T) {
	t.Parallel()
	by := optimize.BootstrapRandomSearch{BootstrapFewShot: optimize.BootstrapFewShot{MaxLabeled: 5}, Candidates: 8}
	prices := map[string]budget.Price{"": {Input: 1, Output: 1}}
	for _, budget := range []optimize.Budget{
		{StudentCalls: 20}, {StudentCalls: 45}, {StudentCalls: 70}, {Tokens: 9_000}, {Tokens: 15_000}, {Cost: 0.015},
	} {
		t.Run(fmt.Sprintf("%+v", budget), func(t *testing.T) {
			t.Parallel()
			var want string
			for _, workers := range []int{1, 3, 16} {
				r := run(t, by, &optimize.Options{Budget: budget, Workers: workers, Prices: prices})
				if n := len(r.Warnings); n != 1 || !strings.HasPrefix(r.Warnings[0], "the budget was spent") {
					t.Errorf("warnings: %q", r.Warnings)
				}
				if most := budget.StudentCalls; most > 0 && r.Spent.StudentCalls > most {
					t.Errorf("%d calls", r.Spent.StudentCalls)
				}
				got, _ := json.Marshal(r.Candidates)
				if want == "" {
					want = string(got)
				}
				if string(got) != want {
					t.Errorf("with %d workers:\ngot  %s\nwant %s", workers, got, want)
				}
			}
		})
	}
}

func TestBudgetTooSmall(t *testing.T) {
	t.Parallel()
	model := learner()
	for want, o := range map[string]optimize.Options{
		"Budget.StudentCalls is 19, but one evaluation on the 20 examples of Val takes at least 20": {
			Budget: optimize.Budget{StudentCalls: 19}},
		"the budget of the optimization is spent before the original module": {Budget: optimize.Budget{Tokens: 500}},
		"is negative": {Budget: optimize.Budget{Cost: -1}},
		"needs the prices of the models in Options.Prices": {Budget: optimize.Budget{Cost: 1}},
	} {
		_, err := optimize.Run(t.Context(), module.NewPredict(spelled, model, nil), optimize.LabeledFewShot{},
			numbersData(), right, &o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	good, twice := numbersData(), numbersData()
	twice.Val = append(twice.Val, twice.Val[3])
	heavy := data{Train: numbers(0, 3), Val: append(examples{}, good.Val...)}
	heavy.Val[0].Weight = 1e308
	unset := module.NewPredict(spelled, nil, nil)
	act := tools.Func("act", "Acts.", func(context.Context, question) (answer, error) { return answer{}, nil }, nil)
	set, err := tools.NewSet(t.Context(), act)
	if err != nil {
		t.Fatal(err)
	}
	by := optimize.LabeledFewShot{}
	for _, c := range []struct {
		m    module.Module[question, answer]
		by   optimize.Optimizer
		d    data
		o    optimize.Options
		want string
	}{
		{nil, by, good, optimize.Options{}, "the module is nil"},
		{predict(nil), by, good, optimize.Options{}, "the module is nil"},
		{newStudent(), nil, good, optimize.Options{}, "the optimizer is nil"},
		{newStudent(), (*optimize.GEPA)(nil), good, optimize.Options{}, "the optimizer is nil"},
		{newStudent(), optimize.OptimizerFunc(nil), good, optimize.Options{}, "the optimizer is nil"},
		{newStudent(), by, data{Train: good.Train}, optimize.Options{}, "Data.Val is empty"},
		{newStudent(), by, data{Val: good.Val}, optimize.Options{}, "Data.Train is empty"},
		{newStudent(), by, twice, optimize.Options{}, `Data.Val: evaluate: examples 4 and 21 have the same ID "n103"`},
		{newStudent(), by, heavy, optimize.Options{},
			`Data.Val: evaluate: example "n100" has the weight 1e+308; weights must be from 1e-9 to 1e9`},
		{newStudent(), by, good, optimize.Options{Frozen: []string{"Sort"}},
			`Options.Frozen has "Sort", but the predictors of the module are Predictor`},
		{newStudent(), by, good, optimize.Options{Frozen: []string{"Predictor"}}, "nothing can be optimized"},
		{unset, by, good, optimize.Options{}, "fails on all examples of Val; the first error, of example \"n100\""},
		{newStudent(), optimize.GEPA{}, good, optimize.Options{}, "set Options.Reflection"},
		{module.NewReAct(spelled, llmtest.New(), set, nil), by, good, optimize.Options{}, "tools with effects: act"},
		{silent{}, by, good, optimize.Options{}, "no Predictors found"},
	} {
		_, err := optimize.Run(t.Context(), c.m, c.by, c.d, right, &c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// silent is a module without predictors.
type silent struct{}

func (silent) Run(context.Context, question) (*module.Prediction[answer], error) {
	return &module.Prediction[answer]{}, nil
}

func TestBadMetrics(t *testing.T) {
	t.Parallel()
	metrics := map[string]evaluate.Metric[question, answer]{
		"the metric panicked: oh": func(context.Context, evaluate.Example[question, answer],
			*module.Prediction[answer]) (module.Score, error) {
			panic("oh")
		},
		"the score is NaN": func(context.Context, evaluate.Example[question, answer],
			*module.Prediction[answer]) (module.Score, error) {
			return module.Score{Value: math.NaN()}, nil
		},
	}
	for want, metric := range metrics {
		_, err := optimize.Run(t.Context(), newStudent(), optimize.LabeledFewShot{}, numbersData(), metric, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	partly := func(ctx context.Context, e evaluate.Example[question, answer],
		got *module.Prediction[answer]) (module.Score, error) {
		if e.ID == "n103" {
			return module.Score{}, errors.New("I cannot judge that")
		}
		return right(ctx, e, got)
	}
	r, err := optimize.Run(t.Context(), newStudent(), optimize.LabeledFewShot{}, numbersData(), partly, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "the original module fails on 1 of 20 examples of Val, which count as 0; the first error, of " +
		`example "n103": the metric failed: I cannot judge that`
	if len(r.Warnings) != 1 || r.Warnings[0] != want || r.Best.Score != 0.95 {
		t.Errorf("scored %v, warnings: %q", r.Best.Score, r.Warnings)
	}
}

// A provider that refuses access ends the search. After the key was renewed, it continues.
func TestExpiredKey(t *testing.T) {
	t.Parallel()
	dir, valid := t.TempDir(), 30
	inner, asked := learner(), 0
	model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > valid {
			return llmtest.Reply{}, &models.Error{Kind: models.KindAuth, Err: errors.New("the key has expired")}
		}
		asked++
		response, err := inner.GenerateContent(ctx, r.Messages)
		return llmtest.Reply{Text: response.Choices[0].Content}, err
	})
	search := func() (*optimize.Result[predict], error) {
		return optimize.Run(t.Context(), module.NewPredict(spelled, model, nil), optimize.LabeledFewShot{}, numbersData(),
			right, &optimize.Options{Dir: dir, Workers: 1})
	}
	if _, err := search(); err == nil || !strings.Contains(err.Error(), "the key has expired") {
		t.Fatalf("got %v", err)
	}
	valid = 1000
	r, err := search()
	if err != nil || asked != 40 || r.Best.Score != 1 {
		t.Errorf("got %v after %d calls", err, asked)
	}
}

// A search that is interrupted returns the best module so far, also without a directory.
func TestInterruptedSearchKeepsTheBest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	by := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) error {
		if err := optimize.Optimize(ctx, optimize.LabeledFewShot{}, task); err != nil {
			return err
		}
		cancel()
		return optimize.Optimize(ctx, optimize.BootstrapRandomSearch{}, task)
	})
	r, err := optimize.Run(ctx, newStudent(), by, numbersData(), right, nil)
	if !errors.Is(err, context.Canceled) || r == nil || r.Best.Score != 1 || len(r.Module.Predictor.Demos) != 14 {
		t.Errorf("got %v and %+v", err, r)
	}
	if r, err := optimize.Run(ctx, newStudent(), by, numbersData(), right, nil); err == nil || r != nil {
		t.Errorf("interrupted before the first evaluation ended: got %v and %v", r, err)
	}
}

// Without a budget, the effort bounds a search, and the bound is shown before it is spent.
func TestEffort(t *testing.T) {
	t.Parallel()
	var progress strings.Builder
	by := optimize.BootstrapRandomSearch{Candidates: 1000}
	unlucky := func(
		context.Context, evaluate.Example[question, answer], *module.Prediction[answer],
	) (module.Score, error) {
		return module.Score{Value: 0.5}, nil
	}
	r, err := optimize.Run(t.Context(), newStudent(), by, numbersData(), unlucky,
		&optimize.Options{Effort: optimize.Light, Progress: &progress})
	if err != nil {
		t.Fatal(err)
	}
	const bound = int(optimize.Light) * 20
	if first := r.Candidates[0].Spent; first.StudentCalls != 20 {
		t.Errorf("the first candidate took %+v", first)
	}
	if n := r.Spent.StudentCalls; n < bound-20 || n > bound ||
		!strings.Contains(progress.String(), fmt.Sprintf("takes at most %d student calls", bound-20)) ||
		!strings.Contains(r.Warnings[0], "raise Options.Budget or Options.Effort") {
		t.Errorf("%d calls, warnings %q, progress:\n%s", n, r.Warnings, progress.String())
	}
}

// Events have the progress of each evaluation, and every candidate, also those that are rejected.
func TestEvents(t *testing.T) {
	t.Parallel()
	texts := []string{"Guess.", "Use sevenths.", "Guess again."}
	advisor := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: texts[min(r.N, len(texts))-1]}, nil
	})
	var runs, rejected, accepted []string
	r, err := optimize.Run(t.Context(), newStudent(), optimize.GEPA{Iterations: 3}, numbersData(), right,
		&optimize.Options{Reflection: advisor, Workers: 4, OnEvent: func(e optimize.Event) {
			switch {
			case e.Total > 0:
				runs = append(runs, fmt.Sprintf("%d/%d", e.Done, e.Total))
			case e.Rejected:
				rejected = append(rejected, e.Candidate.Instructions("Predictor"))
			case e.Candidate != nil:
				accepted = append(accepted, e.Candidate.Instructions("Predictor"))
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(runs[:21], " "); !strings.HasPrefix(got, "1/20 ") || !strings.HasSuffix(got, " 20/20 1/3") {
		t.Errorf("runs: %s", got)
	}
	if got, want := fmt.Sprint(rejected, accepted), "[Guess.] [Name the number. Use sevenths.]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(r.Answers) != 20 || r.Answers[0].Candidate != 1 || r.Answers[0].Score != 1 ||
		string(r.Answers[0].Output) != `{"text":"`+nameOf(100)+`"}` {
		t.Errorf("got the answers %+v", r.Answers)
	}
}
