package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/llmtest"
)

func TestMIPROv2ChoosesOnlyDemos(t *testing.T) {
	t.Parallel()
	by := MIPROv2{Instructions: 1, DemoSets: 3, Demos: 2, Threshold: 0.1, Trials: 6}
	r, err := Run(t.Context(), newTwoSteps(), by, Data[question, reply]{questions(20), questions(20)}, longer, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, s := range r.Best.states {
		if s.Instructions != path+"." || len(s.Demos) > 2 {
			t.Errorf("%s: got %q and %d demos", path, s.Instructions, len(s.Demos))
		}
	}
	if r.Spent.ReflectionCalls > 0 {
		t.Errorf("the reflection model was asked %d times", r.Spent.ReflectionCalls)
	}
}

func TestMIPROv2ChoosesOnlyInstructions(t *testing.T) {
	t.Parallel()
	r, err := optimizeTwoSteps(t, MIPROv2{Instructions: 3, DemoSets: -1, Trials: 12}, Options{},
		"a summary", "Draft more.", "Draft a lot more.", "Polish more.", "Polish a lot more.")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Draft": "Draft a lot more.", "Polish": "Polish a lot more."}
	for path, s := range r.Best.states {
		if s.Instructions != want[path] || len(s.Demos) > 0 {
			t.Errorf("%s: got %q and %d demos", path, s.Instructions, len(s.Demos))
		}
	}
}

func TestMIPROv2WithoutChoice(t *testing.T) {
	t.Parallel()
	r, err := optimizeTwoSteps(t, MIPROv2{DemoSets: -1}, Options{Frozen: []string{"Polish"}}, "Draft.")
	if err != nil {
		t.Fatal(err)
	}
	want := "MIPROv2: the reflection model proposed no new instructions for Draft; use another model or a higher " +
		"temperature"
	if !slices.Contains(r.Warnings, want) || len(r.Candidates) != 1 {
		t.Errorf("got %d candidates and the warnings %q", len(r.Candidates), r.Warnings)
	}
	if _, err := optimizeTwoSteps(t, MIPROv2{Instructions: 1, DemoSets: -1}, Options{}, ""); err == nil {
		t.Error("want an error")
	}
}

func TestReflectionIsRequired(t *testing.T) {
	t.Parallel()
	for _, by := range []Optimizer{GEPA{}, MIPROv2{}} {
		m := newTwoSteps()
		_, err := Run(t.Context(), m, by, Data[question, reply]{questions(20), questions(20)}, longer, nil)
		if err == nil || !strings.HasSuffix(err.Error(), "set Options.Reflection") {
			t.Errorf("%T: got %v", by, err)
		}
		if asked := len(m.Draft.Predictor.Model.(*llmtest.Model).Requests()); asked > 0 {
			t.Errorf("%T: the module was run %d times", by, asked)
		}
	}
}

// A search that is stopped anywhere continues to the same result.
func TestReflectiveSearchContinues(t *testing.T) {
	t.Parallel()
	replies := []string{"a", "Draft more.", "Polish it more.", "Draft long and longer.", "Polish so.", "1.", "Polish 2."}
	for name, by := range map[string]Optimizer{
		"GEPA": GEPA{Iterations: 6}, "MIPROv2": MIPROv2{Trials: 6, Threshold: 0.1, Demos: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, _, err := searchUntil(t.Context(), by, t.TempDir(), 1<<30, replies)
			if err != nil {
				t.Fatal(err)
			}
			for _, stop := range []int{47, 151} {
				dir := t.TempDir()
				_, before, err := searchUntil(t.Context(), by, dir, stop, replies)
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("stopped at call %d of %d: %v", stop, before, err)
				}
				again, after, err := searchUntil(t.Context(), by, dir, 1<<30, replies)
				if err != nil {
					t.Fatal(err)
				}
				if summary(again) != summary(whole) {
					t.Errorf("stopped at call %d: got\n%s\nwant\n%s", stop, summary(again), summary(whole))
				}
				if after >= whole.Spent.StudentCalls+whole.Spent.ReflectionCalls {
					t.Errorf("stopped at call %d: all %d calls were made again", stop, after)
				}
			}
		})
	}
}

// searchUntil runs a search that is cancelled at a call. It also returns the number of calls that reached the models.
func searchUntil(
	ctx context.Context, by Optimizer, dir string, stop int, replies []string,
) (*Result[*twoSteps], int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	calls := make(chan int, 1)
	calls <- 0
	count := func() {
		n := <-calls + 1
		if n >= stop {
			cancel()
		}
		calls <- n
	}
	m := newTwoSteps()
	echo := m.Draft.Predictor.Model
	counted := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		count()
		response, err := echo.GenerateContent(ctx, r.Messages)
		if err != nil {
			return llmtest.Reply{}, err
		}
		return llmtest.Reply{Text: response.Choices[0].Content}, nil
	})
	m.Draft.Predictor.Model, m.Polish.Predictor.Model = counted, counted
	reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		count()
		return llmtest.Reply{Text: replies[len(r.Last())%len(replies)]}, nil
	})
	r, err := Run(ctx, m, by, Data[question, reply]{questions(20), questions(20)}, longer,
		&Options{Reflection: reflection, Dir: dir, Seed: 3})
	return r, <-calls, err
}

func summary(r *Result[*twoSteps]) string {
	var lines []string
	for _, c := range r.Candidates {
		lines = append(lines, fmt.Sprint(c.ID, c.Parents, c.By, c.Score, c.states["Draft"], c.states["Polish"]))
	}
	return strings.Join(append(lines, slices.Sorted(slices.Values(r.Warnings))...), "\n")
}

// Whatever limit binds, the most promising combination is evaluated on all of Val before the budget is spent.
func TestMIPROv2ReservesTheLastEvaluation(t *testing.T) {
	t.Parallel()
	by := MIPROv2{Instructions: 3, DemoSets: -1, Trials: 50}
	for _, limits := range []Budget{{StudentCalls: 370}, {Tokens: 60_000}, {Cost: 60}} {
		r, err := Run(t.Context(), newTwoSteps(), by, Data[question, reply]{questions(5), questions(60)}, longer, &Options{
			Budget: limits, Prices: map[string]budget.Price{"": {Input: 1000, Output: 1000}},
			Reflection: replying("a summary", "Draft more.", "Draft a lot more.", "Polish more.", "Polish a lot more."),
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Best.Score <= r.Candidates[0].Score || !strings.Contains(r.Warnings[len(r.Warnings)-1], "of 50 trials") {
			t.Errorf("%+v: got the score %v, spent %v, warnings %q", limits, r.Best.Score, r.Spent, r.Warnings)
		}
	}
}

// When the reflection model may be asked no more, MIPROv2 goes on with the instructions that it has.
func TestMIPROv2WithoutMoreReflection(t *testing.T) {
	t.Parallel()
	o := Options{Budget: Budget{StudentCalls: 800, ReflectionCalls: 3}}
	r, err := optimizeTwoSteps(t, MIPROv2{DemoSets: -1}, o, "a summary", "Draft more.", "Draft a lot more.")
	if err != nil {
		t.Fatal(err)
	}
	if r.Spent.ReflectionCalls != 3 || r.Best.Score <= r.Candidates[0].Score {
		t.Errorf("got the score %v, spent %v, warnings %q", r.Best.Score, r.Spent, r.Warnings)
	}
}
