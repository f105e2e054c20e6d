package module_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

// fairly is a reward: a tenth of the total.
func fairly(_ context.Context, _ orders, pred *module.Prediction[sum]) (module.Score, error) {
	return module.Score{Value: float64(pred.Output.Total) / 10}, nil
}

func total(n int) string { return fmt.Sprintf("[[ ## total ## ]]\n%d\n\n[[ ## completed ## ]]", n) }

func answering(replies ...string) *sumPredict {
	return module.NewPredict(adding, llmtest.New(replies...), nil)
}

// rollouts is a model that replies with total 1 and records the parameters of its calls.
type rollouts struct {
	mu   sync.Mutex
	seen []string
}

func (r *rollouts) model() *llmtest.Model {
	return llmtest.Func(func(ctx context.Context, q llmtest.Request) (llmtest.Reply, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen = append(r.seen, fmt.Sprintf("%d at %g", lm.Rollout(ctx), q.Options.Temperature))
		return llmtest.Reply{Text: total(1)}, nil
	})
}

func (r *rollouts) String() string {
	slices.Sort(r.seen)
	return strings.Join(r.seen, ", ")
}

func ofAttempts(t module.Trajectory) (list []string) {
	for _, a := range t.Runs {
		list = append(list, fmt.Sprint(len(a.Steps)))
	}
	return list
}

func TestBestOfN(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		replies   []string
		threshold float64
		want      int
		attempts  string
	}{
		{"the first is good enough", []string{total(9)}, .9, 9, "1"},
		{"until one is good enough", []string{total(3), total(8), total(9)}, .8, 8, "1 1"},
		{"the best of all", []string{total(3), total(8), total(5)}, .9, 8, "1 1 1"},
		{"the first of the best", []string{total(8), total(5), total(8)}, math.Inf(1), 8, "1 1 1"},
		{"negative scores", []string{total(-3), total(-2), total(-5)}, 0, -2, "1 1 1"},
		{"failures are skipped", []string{"?", "?", total(3), total(2)}, 1, 3, "2 1 1"},
	} {
		m := module.NewBestOfN(answering(test.replies...), 3, fairly, test.threshold, nil)
		pred, err := m.Run(t.Context(), anything)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := strings.Join(ofAttempts(pred.Trajectory), " "); pred.Output.Total != test.want || got != test.attempts {
			t.Errorf(
				"%s: got %d by attempts of %s steps, want %d by %s",
				test.name,
				pred.Output.Total,
				got,
				test.want,
				test.attempts,
			)
		}
		if u := pred.Trajectory.Usage(); u.Calls != len(test.replies) && u.Calls != strings.Count(test.attempts, " ")+1 {
			t.Errorf("%s: got %d calls", test.name, u.Calls)
		}
	}
}

// Attempts have different rollouts, even if they are nested, and the module itself stays the same.
func TestBestOfNRollouts(t *testing.T) {
	t.Parallel()
	var seen rollouts
	cold := 0.0
	predict := module.NewPredict(adding, seen.model(), nil)
	inner := module.NewBestOfN(predict, 2, fairly, 1, nil)
	mustRun(t, module.NewBestOfN(inner, 3, fairly, 1, nil), anything)
	if got, want := seen.String(), "0 at 1, 1 at 1, 2 at 1, 3 at 1, 4 at 1, 5 at 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if predict.Predictor.Rollout != 0 || predict.Predictor.Temperature != nil {
		t.Error("the module was changed")
	}
	seen.seen, predict.Predictor.Temperature, predict.Predictor.Rollout = nil, &cold, 7
	mustRun(t, inner, anything)
	if got, want := seen.String(), "14 at 0, 15 at 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Rollouts also differ if the number of attempts is so large that they would overflow.
func TestBestOfNWithoutLimit(t *testing.T) {
	t.Parallel()
	var seen rollouts
	at := 0
	third := func(context.Context, orders, *module.Prediction[sum]) (module.Score, error) {
		at = at%3 + 1
		return module.Score{Value: float64(at)}, nil // the third is good enough
	}
	unlimited := module.NewBestOfN(module.NewPredict(adding, seen.model(), nil), math.MaxInt, third, 3, nil)
	if _, err := module.Samples(t.Context(), unlimited, anything, 6, &module.ParallelOptions{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	all := len(seen.seen)
	slices.Sort(seen.seen)
	if told := len(slices.Compact(seen.seen)); told != all || all < 12 {
		t.Errorf("%d attempts have %d different rollouts", all, told)
	}
}

func TestBestOfNFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	rewarded := func(j module.Score, err error) module.Reward[orders, sum] {
		return func(context.Context, orders, *module.Prediction[sum]) (module.Score, error) { return j, err }
	}
	failing := func(err error) *sumPredict {
		return module.NewPredict(adding, llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{}, err
		}), nil)
	}
	for _, test := range []struct {
		name     string
		m        *sumPredict
		reward   module.Reward[orders, sum]
		fail     int
		reason   error
		attempts int
		want     string
	}{
		{"all attempts", failing(broken), fairly, 0, broken, 3,
			"module: no answer after 3 attempts; the last error: no answer: the model: broken"},
		{"too many failures", failing(broken), fairly, 1, broken, 2,
			"module: no answer after 2 attempts; the last error: no answer: the model: broken"},
		{"none may", failing(broken), fairly, -1, broken, 1,
			"module: no answer after 1 run: the model: broken"},
		{"an error that ends the attempts", failing(tools.Fatal(broken)), fairly, 0, broken, 1,
			"module: no answer after 1 run: the model: broken"},
		{"the reward", answering(total(1), total(2), total(3)), rewarded(module.Score{}, broken), 0, broken, 3,
			"module: no answer after 3 attempts; the last error: the reward: broken"},
		{"no number", answering(total(1)), rewarded(module.Score{Value: math.NaN()}, nil), -1, nil, 1,
			"module: no answer after 1 run: the reward: the score is not a number"},
		{"garbage", answering("?", "?"), fairly, -1, module.ErrNoAnswer, 1, ""},
	} {
		m := module.NewBestOfN(test.m, 3, test.reward, 1, &module.AttemptOptions{FailCount: test.fail})
		pred, err := m.Run(t.Context(), anything)
		var part *module.IncompleteError
		if !errors.As(err, &part) || pred != nil || test.reason != nil && !errors.Is(err, test.reason) {
			t.Errorf("%s: got %v and %v", test.name, pred, err)
			continue
		}
		if len(part.Trajectory.Runs) != test.attempts || test.want != "" && err.Error() != test.want {
			t.Errorf(
				"%s: got %d attempts and the error\n%v, want %d and\n%s",
				test.name,
				len(part.Trajectory.Runs),
				err,
				test.attempts,
				test.want,
			)
		}
	}
}

// If the context is cancelled during an attempt, no other attempt is made, and the error has the
// calls.
func TestBestOfNCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N == 2 {
			cancel()
			<-ctx.Done()
		}
		return llmtest.Reply{Text: total(1)}, nil
	})
	_, err := module.NewBestOfN(module.NewPredict(adding, model, nil), 5, fairly, 1, nil).Run(ctx, anything)
	var part *module.IncompleteError
	if !errors.As(err, &part) || !errors.Is(err, context.Canceled) || len(part.Trajectory.Runs) != 2 ||
		len(model.Requests()) != 2 {
		t.Errorf("got %v after %d requests", err, len(model.Requests()))
	}
}

type guarded struct {
	*sumPredict
	Ask  *sumPredict
	Lock sync.Mutex
}

// hidden is a module whose modules are in unexported fields.
type hidden struct{ ask *sumPredict }

func (h hidden) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	return h.ask.Run(ctx, in)
}

// empty is a module that returns neither a prediction nor an error.
type empty struct{ Ask *sumPredict }

func (empty) Run(context.Context, orders) (*module.Prediction[sum], error) { return nil, nil }

// What is missing or cannot be copied is reported before a model is called.
func TestAttemptErrors(t *testing.T) {
	t.Parallel()
	one := answering()
	best := func(m module.Module[orders, sum], n int, r module.Reward[orders, sum]) error {
		_, err := module.NewBestOfN(m, n, r, 1, nil).Run(t.Context(), anything)
		return err
	}
	sampled := func(m module.Module[orders, sum], n int) error {
		_, err := module.Samples(t.Context(), m, anything, n, nil)
		return err
	}
	_, zero := (&module.BestOfN[orders, sum]{}).Run(t.Context(), anything)
	_, none := (*module.Refine[orders, sum])(nil).Run(t.Context(), anything)
	for i, test := range []struct {
		err  error
		want string
	}{
		{zero, "module: the BestOfN is nil, or was not made by NewBestOfN"},
		{none, "module: the Refine is nil, or was not made by NewRefine"},
		{best(nil, 1, fairly), "module: the module is nil; pass a module"},
		{best(one, 0, fairly), "module: the number of attempts must be at least 1"},
		{best(one, 1, nil), "module: the reward is missing; pass a function that scores answers"},
		{best(&guarded{sumPredict: one, Ask: one}, 1, fairly),
			"module: module_test.guarded holds a sync.Mutex, so attempts cannot be made with copies of it; keep the " +
				"lock behind a pointer"},
		{best(hidden{one}, 1, fairly),
			"module: module_test.hidden has no Predictor in its exported fields, so all attempts would be the same; " +
				"export the fields that hold its modules"},
		{best(empty{one}, 2, fairly),
			"module: 2 attempts failed; the last error: module_test.empty returned neither a prediction nor an error"},
		{best(&sumPredict{Predictor: &module.Predictor{}}, 1, fairly),
			"module: the signature is missing; create one with signature.New"},
		{sampled(one, 0), "module: the number of attempts must be at least 1"},
		{best((*module.Predict[orders, sum])(nil), 2, fairly),
			"module: the module is a nil *module.Predict[github.com/writ-go/writ/module_test.orders," +
				"github.com/writ-go/writ/module_test.sum]; create it with its New function"},
		{sampled((*hidden)(nil), 2),
			"module: the module is a nil *module_test.hidden; create it with its New function"},
		{sampled(nil, 2), "module: the module is nil; pass a module"},
		{sampled(hidden{one}, 2),
			"module: module_test.hidden has no Predictor in its exported fields, so all attempts would be the same; " +
				"export the fields that hold its modules"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("%d: got %v, want %s", i, test.err, test.want)
		}
	}
}

// If several parts cannot be copied, the error always names the first.
func TestAttemptLockErrorIsDeterministic(t *testing.T) {
	t.Parallel()
	type other struct {
		Ask  *sumPredict
		Lock sync.RWMutex
	}
	one := answering()
	m := shelf{one, keyed{"a": guarded{Ask: one}, "b": other{Ask: one}}}
	for range 20 {
		want := "module: module_test.guarded holds a sync.Mutex, so attempts cannot be made with copies of it; keep " +
			"the lock behind a pointer"
		if err := second(
			module.NewBestOfN(m, 1, fairly, 1, nil).Run(t.Context(), anything),
		); err == nil ||
			err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// shelf is a module with its parts in a map.
type shelf struct {
	*sumPredict
	Parts keyed
}

// The events show attempts as runs within the run, and every score.
func TestBestOfNEvents(t *testing.T) {
	t.Parallel()
	s := module.Start(t.Context(), module.NewBestOfN(answering(total(3), total(9)), 3, fairly, .9, nil), anything)
	var got []string
	var outer uint64
	for e, err := range s.Events() {
		if err != nil {
			t.Fatal(err)
		}
		at := e.From()
		text := strings.TrimPrefix(fmt.Sprintf("%T", e), "event.")
		if j, ok := e.(event.Scored); ok {
			text, outer = fmt.Sprintf("Scored%d:%g", at.Step, j.Value), at.Run
		}
		got = append(got, at.Module+"."+text)
		if at.Module == "Predict" && outer != 0 && at.Parent != outer {
			t.Errorf("%T comes from %+v, which is not within %d", e, at, outer)
		}
	}
	want := "BestOfN.RunStart Predict.RunStart Predict.ModelRequest Predict.ModelResponse Predict.RunEnd " +
		"BestOfN.Scored1:0.3 " +
		"Predict.RunStart Predict.ModelRequest Predict.ModelResponse Predict.RunEnd BestOfN.Scored2:0.9 BestOfN.RunEnd"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

func ExampleBestOfN() {
	model := llmtest.New(
		"[[ ## mood ## ]]\nbad\n\n[[ ## score ## ]]\n0.4\n\n[[ ## completed ## ]]",
		"[[ ## mood ## ]]\nbad\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]",
	)
	sure := func(_ context.Context, _ Review, pred *module.Prediction[Verdict]) (module.Score, error) {
		return module.Score{Value: pred.Output.Score}, nil
	}
	best := module.NewBestOfN(module.NewPredict(judge, model, nil), 5, sure, 0.8, nil)
	pred, err := best.Run(context.Background(), Review{"Broke twice."})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v, of %d attempts\n", pred.Output, len(pred.Trajectory.Runs))
	// Output: {Mood:bad Score:0.9}, of 2 attempts
}

// If several answers are equally good, the first is returned.
func TestBestOfNTie(t *testing.T) {
	t.Parallel()
	model := llmtest.New(`{"total": 1}`, `{"total": 2}`, `{"total": 3}`)
	pred := mustRun(t, module.NewBestOfN(module.NewPredict(adding, model, nil), 3, never, 1, nil), anything)
	if pred.Output.Total != 1 || pred.Trajectory.Chosen != 1 || len(pred.Trajectory.Runs) != 3 {
		t.Errorf("got %+v, chosen %d of %d", pred.Output, pred.Trajectory.Chosen, len(pred.Trajectory.Runs))
	}
}
