package module_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// echo is a model that answers a question about a limit with that limit, but fails for 13.
func echo() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		var limit int
		_, rest, _ := strings.Cut(r.Last(), "[[ ## limit ## ]]")
		if _, err := fmt.Sscan(rest, &limit); err != nil || limit == 13 {
			return llmtest.Reply{}, errors.New("unlucky")
		}
		return llmtest.Reply{Text: total(limit), InputTokens: 10, OutputTokens: 1}, nil
	})
}

func limits(list ...int) (inputs []orders) {
	for _, n := range list {
		inputs = append(inputs, orders{Limit: n})
	}
	return inputs
}

func totals(results []module.Result[sum]) string {
	var list []string
	for _, r := range results {
		switch {
		case r.Err == nil:
			list = append(list, fmt.Sprint(r.Prediction.Output.Total))
		case r.Prediction != nil:
			list = append(list, "both")
		default:
			list = append(list, "-")
		}
	}
	return strings.Join(list, " ")
}

func TestParallel(t *testing.T) {
	t.Parallel()
	m := module.NewPredict(adding, echo(), nil)
	for _, test := range []struct {
		name    string
		inputs  []orders
		options *module.ParallelOptions
		want    string
		err     string
		usage   event.Usage
	}{
		{"in the order of the inputs", limits(3, 1, 2), nil, "3 1 2", "",
			event.Usage{Calls: 3, InputTokens: 30, OutputTokens: 3}},
		{"none", nil, nil, "", "", event.Usage{}},
		{"the first error", limits(3, 13, 2, 13), &module.ParallelOptions{Workers: 1}, "3 - - -",
			"module: inputs[1]: no answer: the model: unlucky", event.Usage{Calls: 2, InputTokens: 10, OutputTokens: 1}},
		{"all errors", limits(3, 13, 2, 13), &module.ParallelOptions{Workers: 1, Collect: true}, "3 - 2 -",
			"module: 2 of 4 runs failed; the first was inputs[1]: no answer: the model: unlucky", event.Usage{Calls: 4,
				InputTokens: 20, OutputTokens: 2}},
	} {
		results, err := module.Parallel(t.Context(), m, test.inputs, test.options)
		if got := totals(
			results,
		); got != test.want || err == nil != (test.err == "") ||
			err != nil && err.Error() != test.err {
			t.Errorf("%s: got %s and %v", test.name, got, err)
		}
		var usage event.Usage
		for _, r := range results {
			usage = usage.Add(r.Trajectory().Usage())
		}
		if usage != test.usage {
			t.Errorf("%s: got %+v, want %+v", test.name, usage, test.usage)
		}
	}
}

// There are never more runs than workers, and Progress is called after each.
func TestParallelIsBounded(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	full := make(chan struct{})
	filled := sync.OnceFunc(func() { close(full) })
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == 4 {
			filled()
		}
		<-full
		now.Add(-1)
		return llmtest.Reply{Text: total(1)}, nil
	})
	var progress []string
	options := &module.ParallelOptions{Workers: 4, Progress: func(ended, failed, all int) {
		progress = append(progress, fmt.Sprintf("%d-%d/%d", ended, failed, all))
	}}
	_, err := module.Parallel(t.Context(), module.NewPredict(adding, model, nil), limits(1, 2, 3, 4, 5, 6), options)
	if want := "1-0/6 2-0/6 3-0/6 4-0/6 5-0/6 6-0/6"; err != nil || most.Load() != 4 ||
		strings.Join(progress, " ") != want {
		t.Errorf("got %v, %d at a time and %v", err, most.Load(), progress)
	}
}

// The first error cancels the runs in progress and is returned, not the errors of the runs that it cancelled.
func TestParallelCancelsOtherRuns(t *testing.T) {
	t.Parallel()
	var begun sync.WaitGroup
	begun.Add(2)
	broken := errors.New("broken")
	model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Last(), "\n13\n") {
			begun.Wait()
			return llmtest.Reply{}, broken
		}
		begun.Done()
		<-ctx.Done()
		return llmtest.Reply{}, ctx.Err()
	})
	results, err := module.Parallel(
		t.Context(),
		module.NewPredict(adding, model, nil),
		limits(1, 2, 13, 4),
		&module.ParallelOptions{Workers: 3},
	)
	if !errors.Is(err, broken) || errors.Is(err, context.Canceled) || totals(results) != "- - - -" {
		t.Errorf("got %s and %v", totals(results), err)
	}
	for i, want := range []error{context.Canceled, context.Canceled, broken, context.Canceled} {
		if !errors.Is(results[i].Err, want) {
			t.Errorf("%d: got %v", i, results[i].Err)
		}
	}
	if results[3].Err.Error() != "module: the run was not started: context canceled" || len(model.Requests()) != 3 {
		t.Errorf("got %v after %d requests", results[3].Err, len(model.Requests()))
	}
}

func TestParallelCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	leaving := errors.New("shutting down")
	cancel(leaving)
	const first = "inputs[0]: the run was not started: context canceled: shutting down"
	for collect, want := range map[bool]string{false: "module: " + first,
		true: "module: 2 of 2 runs failed; the first was " + first} {
		for range 50 { // which of them ends first is random; the reported error is not
			results, err := module.Parallel(
				ctx,
				module.NewPredict(adding, echo(), nil),
				limits(1, 2),
				&module.ParallelOptions{Collect: collect},
			)
			if !errors.Is(err, context.Canceled) || !errors.Is(err, leaving) || err.Error() != want || totals(results) != "- -" {
				t.Fatalf("got %s and %v", totals(results), err)
			}
		}
	}
	if _, err := module.Parallel[orders, sum](
		t.Context(),
		nil,
		limits(1),
		nil,
	); err == nil ||
		err.Error() != "module: inputs[0]: the module is nil; pass a module" {
		t.Errorf("got %v", err)
	}
}

// Samples of the same question differ, even with a cache.
func TestSamples(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: total(int(n.Add(1)))}, nil
	})
	cache, err := models.OpenStore(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := module.NewPredict(adding, cache.Model(model, ""), nil)
	for range 2 { // the second time, from the cache
		results, err := module.Samples(t.Context(), m, anything, 3, &module.ParallelOptions{Workers: 1})
		if err != nil || totals(results) != "1 2 3" {
			t.Errorf("got %s and %v", totals(results), err)
		}
	}
	var seen rollouts
	if _, err := module.Samples(t.Context(), module.NewPredict(adding, seen.model(), nil), anything, 3, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := seen.String(), "0 at 1, 1 at 1, 2 at 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func ExampleParallel() {
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Last(), "Broke") {
			return llmtest.Reply{Text: `{"mood": "bad", "score": 0.9}`}, nil
		}
		return llmtest.Reply{Text: `{"mood": "good", "score": 0.7}`}, nil
	})
	reviews := []Review{{"Broke twice."}, {"Nice."}, {"Broke."}}
	results, err := module.Parallel(context.Background(), module.NewPredict(judge, model, nil), reviews,
		&module.ParallelOptions{Workers: 2, Collect: true})
	if err != nil {
		log.Print(err) // of those without an answer
	}
	for i, r := range results {
		if r.Err == nil {
			fmt.Println(reviews[i].Text, r.Prediction.Output.Mood)
		}
	}
	// Output:
	// Broke twice. bad
	// Nice. good
	// Broke. bad
}

// Run gives predictors their paths, and survives modules that break their contract.
func TestRunOfModule(t *testing.T) {
	t.Parallel()
	m := &struct {
		own
		Part *module.Predict[orders, sum]
	}{Part: module.NewPredict(adding, echo(), nil)}
	m.own = func(ctx context.Context, in orders) (*module.Prediction[sum], error) {
		p, err := m.Part.Run(ctx, in)
		if err != nil {
			return nil, err
		}
		return &module.Prediction[sum]{Output: p.Output}, nil
	}
	p, err := module.Run[orders, sum](t.Context(), m, orders{Limit: 3})
	if err != nil || len(p.Trajectory.Steps) != 1 || p.Trajectory.Steps[0].Predictor != "Part" ||
		!strings.Contains(p.Trajectory.Inputs.String(), "3") {
		t.Errorf("got %v, %v", p, err)
	}
	p, err = module.Run[orders, sum](t.Context(), m, orders{Limit: 13})
	if err == nil || p != nil || p.TrajectoryOf(err).Steps[0].Predictor != "Part" {
		t.Errorf("got %v, %v", p, err)
	}
	boom := own(func(context.Context, orders) (*module.Prediction[sum], error) { panic("boom") })
	_, err = module.Run[orders, sum](t.Context(), boom, orders{})
	if err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
}
