package memo_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/writ-go/writ/module/internal/memo"
)

// TestAnswers checks that callers at the same time share one answer, and that errors are not kept.
func TestAnswers(t *testing.T) {
	t.Parallel()
	var answers memo.Answers
	asked := 0
	if _, err := answers.Once("why", func() (string, error) { asked++; return "", errors.New("busy") }); err == nil {
		t.Error("the error is lost")
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			answer, err := answers.Once("why", func() (string, error) { asked++; return "so", nil })
			if answer != "so" || err != nil {
				t.Errorf("got %q, %v", answer, err)
			}
		})
	}
	wg.Wait()
	if asked != 2 {
		t.Errorf("asked %d times, not twice", asked)
	}
}

// TestLastIncomparable checks that keys which Go cannot compare differ.
func TestLastIncomparable(t *testing.T) {
	t.Parallel()
	var last memo.Last[any, int]
	computed := 0
	compute := func() int { computed++; return computed }
	for _, c := range []struct {
		key  any
		want int
	}{{"a", 1}, {"a", 1}, {"b", 2}, {[]int{1}, 3}, {[]int{1}, 4}} {
		if got := last.Get(c.key, compute); got != c.want {
			t.Errorf("%v: got %d, want %d", c.key, got, c.want)
		}
	}
}
