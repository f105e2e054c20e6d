package optimize_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/optimize"
)

// improving accepts better and better candidates, and then ends with an error if there is one.
func improving(n int, err error) optimize.OptimizerFunc {
	return func(ctx context.Context, t *optimize.Task) error {
		for i := range n {
			c := t.New(t.Start(), "improving")
			s := c.States()["Predictor"]
			s.Demos = t.Labeled("Predictor", []int{0, 1, 2, 3, 4, 5, 6}[:2*i+1])
			c.States()["Predictor"] = s
			if err := t.Accept(ctx, c); err != nil {
				return err
			}
		}
		return err
	}
}

// A best.json is as good as any candidate that was paid for, also if its search is run again and ends early.
func TestBest(t *testing.T) {
	t.Parallel()
	dir, stop := t.TempDir(), errors.New("stop")
	path := filepath.Join(dir, "best.json")
	search := func(by optimize.Optimizer, b optimize.Budget) error {
		_, err := optimize.Run(t.Context(), newStudent(), by, numbersData(), right, &optimize.Options{Dir: dir, Budget: b})
		return err
	}
	demos := func() int {
		file, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return -1
		}
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		m := newStudent()
		if err := module.Load(file, m); err != nil {
			t.Fatal(err)
		}
		return len(m.Predictor.Demos)
	}
	for _, c := range []struct {
		what string
		by   optimize.Optimizer
		err  error
		b    optimize.Budget
		want int
	}{
		{"nothing better", improving(0, nil), nil, optimize.Budget{}, -1},
		{"stopped after two candidates", improving(2, stop), stop, optimize.Budget{}, 3},
		{"continued", improving(4, nil), nil, optimize.Budget{}, 7},
		{"stopped while it takes the same steps", improving(2, stop), stop, optimize.Budget{}, 7},
		{"another search without a candidate", optimize.LabeledFewShot{K: 1}, nil, optimize.Budget{StudentCalls: 20}, 7},
	} {
		if err := search(c.by, c.b); !errors.Is(err, c.err) {
			t.Fatal(c.what, err)
		}
		if got := demos(); got != c.want {
			t.Errorf("%s: best.json has %d demos, want %d", c.what, got, c.want)
		}
	}
	if err := os.Remove(path); err != nil { // as if it was killed before best.json was written
		t.Fatal(err)
	}
	if err := search(improving(4, nil), optimize.Budget{}); err != nil || demos() != 7 {
		t.Errorf("all replies were known: best.json has %d demos, %v", demos(), err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if names := strings.Join(files, " "); err != nil || len(files) != 2 {
		t.Errorf("the directory has %s, %v", names, err)
	}
}

// A search saves its best candidate even if the log has replies that it does not ask for, such as those to discarded
// proposals.
func TestBestWithUnusedReplies(t *testing.T) {
	t.Parallel()
	dir, stop := t.TempDir(), errors.New("stop")
	discarding := optimize.OptimizerFunc(func(ctx context.Context, task *optimize.Task) error {
		c := task.New(task.Start(), "discarded")
		c.States()["Predictor"].Instructions = "Say it."
		_, err := task.Evaluate(ctx, c, optimize.TrainSplit, nil)
		return errors.Join(err, stop)
	})
	for _, by := range []optimize.Optimizer{discarding, improving(1, stop)} {
		_, err := optimize.Run(t.Context(), newStudent(), by, numbersData(), right, &optimize.Options{Dir: dir})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "best.json")); err != nil {
		t.Error(err)
	}
}

// failing is a model that fails on one question while it is down.
type failing struct {
	llms.Model
	question string
	down     *atomic.Bool
}

func (f failing) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	if f.down.Load() && strings.Contains(fmt.Sprint(messages), f.question) {
		return nil, errors.New("overloaded")
	}
	return f.Model.GenerateContent(ctx, messages, options...)
}

// A request that failed is made again when a search continues. That does not mean that the log has no more replies.
func TestBestAfterFailures(t *testing.T) {
	t.Parallel()
	dir, stop := t.TempDir(), errors.New("stop")
	var down atomic.Bool
	down.Store(true)
	m := module.NewPredict(spelled, failing{learner(), "[[ ## number ## ]]\n100\n", &down}, nil)
	var saved [2]string
	for i, candidates := range []int{3, 1} {
		_, err := optimize.Run(t.Context(), m, improving(candidates, stop), numbersData(), right, &optimize.Options{Dir: dir})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "best.json"))
		if err != nil {
			t.Fatal(err)
		}
		saved[i] = string(text)
		down.Store(false)
	}
	if !strings.Contains(saved[0], "scored 0.65") || saved[1] != saved[0] {
		t.Errorf("best.json was\n%s\nand is\n%s", saved[0], saved[1])
	}
}
