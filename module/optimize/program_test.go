package optimize_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/optimize"
)

// deaf is a module that ignores its context, and answers one of the questions a day later.
type deaf struct{ Predict predict }

func (d *deaf) Run(ctx context.Context, in question) (*module.Prediction[answer], error) {
	if in.Number == 105 {
		time.Sleep(24 * time.Hour)
	}
	return d.Predict.Run(ctx, in)
}

// A run that does not end in time counts as failed, and does not affect the search when it ends.
func TestSlowRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := optimize.Run(t.Context(), &deaf{module.NewPredict(spelled, learner(), nil)},
			proposing("Predict", "Use sevenths."), numbersData(), evaluate.ExactMatch[question, answer](), nil)
		if err != nil || r.Candidates[1].Failed != 1 || r.Best.Score != 0.95 {
			t.Errorf("got %+v, %v", r, err)
		}
		if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "the run was stopped after 10m0s") {
			t.Errorf("warnings %q", r.Warnings)
		}
		time.Sleep(48 * time.Hour)
	})
}
