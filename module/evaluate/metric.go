package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/models"
)

// Metric scores the answer to an example. A higher value is better; the metrics of this package return values from 0 to
// 1. Besides the answer, got contains the trajectory of the run with its steps, calls and usage.
//
// Evaluate calls a metric concurrently. If the metric returns an error or a value outside the range -1e9 to 1e9,
// panics, or exceeds Options.MetricTimeout, the result has an error instead of a score. After a panic, the error
// contains the file and line.
type Metric[In, Out any] func(
	ctx context.Context, e Example[In, Out], got *module.Prediction[Out],
) (module.Score, error)

// apply calls the metric as a module, so that the usage of its models is recorded and a panic becomes an error. It
// waits until the metric returns or the timeout expires. If ctx ends, the outcome is meaningless.
func (m Metric[In, Out]) apply(
	ctx context.Context, e Example[In, Out], got *module.Prediction[Out], timeout time.Duration,
) (score module.Score, usage event.ModelUsage, err error) {
	run, ended := within(ctx, timeout, scorer[In, Out]{m, got}, e)
	panicked, isPanic := errors.AsType[*models.PanicError](run.Err)
	switch {
	case errors.Is(ended, errTimeout):
		err = fmt.Errorf("the metric took longer than %v; raise Options.MetricTimeout", timeout)
	case isPanic:
		err = fmt.Errorf("%w, at %s", &models.PanicError{
			In: "the metric", Value: panicked.Value, Stack: panicked.Stack,
		}, panicLocation(panicked))
	case run.Err != nil:
		err = fmt.Errorf("the metric failed: %w", run.Err)
	case run.Prediction != nil:
		score = run.Prediction.Output
	}
	return score, run.Trajectory().UsageByModel(), err
}

// scorer is a module that applies a metric to a prediction.
type scorer[In, Out any] struct {
	metric Metric[In, Out]
	got    *module.Prediction[Out]
}

// Run implements [module.Module].
func (s scorer[In, Out]) Run(ctx context.Context, e Example[In, Out]) (*module.Prediction[module.Score], error) {
	score, err := s.metric(ctx, e, s.got)
	if err == nil {
		err = checkScore(score)
	}
	if err != nil {
		return nil, err
	}
	return &module.Prediction[module.Score]{Output: score}, nil
}

// panicLocation returns the file and line where a panic began.
func panicLocation(p *models.PanicError) string {
	_, stack, _ := strings.Cut(string(p.Stack), "\npanic(")
	lines := strings.Split(stack, "\n")
	for i := 2; i+1 < len(lines); i += 2 { // each function has two lines; the first two are of panic
		if !strings.HasPrefix(lines[i], "runtime.") {
			location, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
			return location
		}
	}
	return "an unknown location"
}

// checkScore returns an error if a value of a score is not a number, or is too large to be added up.
func checkScore(s module.Score) error {
	const limit = 1e9
	if !(math.Abs(s.Value) <= limit) {
		return fmt.Errorf("the score is %v; it must be from -1e9 to 1e9", s.Value)
	}
	for name, part := range s.Parts {
		if !(math.Abs(part) <= limit) {
			return fmt.Errorf("the part %q of the score is %v; it must be from -1e9 to 1e9", name, part)
		}
	}
	return nil
}
