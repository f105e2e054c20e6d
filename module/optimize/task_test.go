package optimize_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/writ-go/writ/module/optimize"
)

// The IDs of candidates are their places in the result, whatever was tried in between.
func TestCandidateIDs(t *testing.T) {
	t.Parallel()
	by := optimizerFunc(func(ctx context.Context, task *optimize.Task) error {
		parent := task.Start()
		for _, text := range []string{"One.", "sevenths", "Two.", "sevenths", "Three."} {
			c := task.New(parent, "test")
			s := c.Predictors["Predictor"]
			s.Instructions = text
			c.Predictors["Predictor"] = s
			if c.ID != -1 {
				t.Errorf("the ID is %d before it is accepted", c.ID)
			}
			parent = c
			if text == "Two." {
				continue // not accepted
			}
			if err := task.Accept(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	r := run(t, by, nil)
	got := ""
	for _, c := range r.Candidates {
		got += fmt.Sprintf("%d%v%s ", c.ID, c.Parents, c.Predictors["Predictor"].Instructions)
	}
	if want := "0[]Name the number. 1[0]One. 2[1]sevenths 3[2]Three. "; got != want || r.Best.ID != 2 {
		t.Errorf("got %s, best %d, want %s", got, r.Best.ID, want)
	}
}
