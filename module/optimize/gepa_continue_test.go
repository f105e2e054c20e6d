package optimize

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
)

// fickleSearch is a search whose models reply at random, so that it makes other decisions if a single reply differs.
type fickleSearch struct {
	dir     string
	workers int
	killAt  int64 // the call during which the search is killed; 0 for none

	calls     atomic.Int64
	writing   atomic.Int64 // calls of the reflection model in progress
	ahead     atomic.Bool  // whether several of them were in progress
	decisions []string
}

// run runs the search until it ends or is killed.
func (f *fickleSearch) run(t *testing.T) {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	answer := func(ctx context.Context, most time.Duration, text string) (llmtest.Reply, error) {
		if f.calls.Add(1) == f.killAt {
			kill()
		}
		select {
		case <-ctx.Done():
			return llmtest.Reply{}, ctx.Err()
		case <-time.After(rand.N(most)):
			return llmtest.Reply{Text: text}, nil
		}
	}
	m := newTwoSteps()
	for _, p := range module.Predictors(m) {
		p.Model = llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
			return answer(ctx, time.Millisecond, fmt.Sprintf("[[ ## %s ## ]]\n%s\n[[ ## completed ## ]]",
				p.Spec.Outputs()[0].Name, strings.Repeat("a", 1+rand.IntN(5))))
		})
	}
	reflection := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if f.writing.Add(1) > 1 {
			f.ahead.Store(true)
		}
		defer f.writing.Add(-1)
		text := fmt.Sprint("Write ", rand.IntN(5))
		if strings.Contains(r.Last(), asksForFault) {
			text = []string{"Draft", "Polish"}[rand.IntN(2)]
		}
		return answer(ctx, 5*time.Millisecond, text)
	})
	decided := func(e Event) {
		if e.Candidate != nil && e.Text != "" && ctx.Err() == nil {
			text, _, _ := strings.Cut(e.Text, "; spent")
			f.decisions = append(f.decisions, fmt.Sprintf("%s %s %s", e.Candidate.Instructions("Draft"),
				e.Candidate.Instructions("Polish"), text))
		}
	}
	_, err := Run(ctx, m, GEPA{Iterations: 20, Minibatch: 1}, Data[question, reply]{questions(2), questions(8)}, longer,
		&Options{Reflection: reflection, Dir: f.dir, Workers: f.workers, OnEvent: decided})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A search that was killed while it wrote several proposals continues with the same decisions, and pays for nothing
// again that led to one.
func TestGEPAContinues(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	t.Run("killed", func(t *testing.T) {
		step := int64(20)
		if testing.Short() {
			step = 60
		}
		for killAt := int64(40); killAt < 160; killAt += step {
			t.Run(fmt.Sprint("in call ", killAt), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				killed := &fickleSearch{dir: dir, workers: 16, killAt: killAt}
				continued := &fickleSearch{dir: dir, workers: 16}
				again := &fickleSearch{dir: dir, workers: 1}
				for _, f := range []*fickleSearch{killed, continued, again} {
					f.run(t)
				}
				if killed.ahead.Load() {
					ahead.Add(1)
				}
				n := min(len(killed.decisions), len(continued.decisions))
				if !slices.Equal(killed.decisions, continued.decisions[:n]) {
					t.Errorf("continued:\n%s\nnot\n%s", strings.Join(continued.decisions, "\n"),
						strings.Join(killed.decisions, "\n"))
				}
				if n := again.calls.Load(); n > 0 || !slices.Equal(again.decisions, continued.decisions) {
					t.Errorf("continued again: %d calls\n%s\nnot\n%s", n, strings.Join(again.decisions, "\n"),
						strings.Join(continued.decisions, "\n"))
				}
			})
		}
	})
	if ahead.Load() == 0 {
		t.Error("no proposals were begun early")
	}
}
