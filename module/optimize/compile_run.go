package optimize

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
)

// run evaluates the CodeAct or a program.
func (c *compiler[In, Out]) run(
	ctx context.Context, m module.Module[In, Out], examples []evaluate.Example[In, Out],
) (*evaluate.Report, error) {
	return evaluate.Evaluate(ctx, m, examples, c.metric, &evaluate.Options{
		Workers: c.Workers, MaxErrors: -1, Policy: c.Policy,
	})
}

// worseThan returns why a program is worse than the CodeAct on the same examples, or "" if it is not. During the
// search, the program must answer all examples, and its score must not be lower. In the final test, the score must not
// be lower by more than chance explains: if only lucky programs passed, the reported score would be too high.
func worseThan(program, act *evaluate.Report, kind string) string {
	final := kind == "test"
	if failed := program.Errors + program.NoAnswers; failed > 0 && !final {
		return fmt.Sprintf("it fails on %d of %d %s examples%s", failed, len(program.Results), kind,
			firstError(program))
	}
	c, err := evaluate.Compare(act, program)
	const tolerance = 1e-9
	switch {
	case err != nil:
		return fmt.Sprintf("it cannot be compared with the CodeAct on the %s examples: %v", kind, err)
	case c.Difference.Mean >= -tolerance, final && c.Difference.High >= -tolerance && c.B.High >= c.A.Low:
		return ""
	}
	return fmt.Sprintf("its score on the %s examples is %.4g, but that of the CodeAct is %.4g%s", kind, c.B.Mean,
		c.A.Mean, firstError(program))
}

// mayFail returns how many percent of all answers may be wrong if wrong of n were: the smallest percentage at which so
// few are wrong with a probability of at most 5%.
func mayFail(wrong, n int) int {
	return sort.Search(100, func(percent int) bool {
		share, few, ways := float64(percent)/100, 0.0, 0.0 // ways is the logarithm of n over i
		for i := range wrong + 1 {
			few += math.Exp(ways + float64(i)*math.Log(share) + float64(n-i)*math.Log1p(-share))
			ways += math.Log(float64(n-i) / float64(i+1))
		}
		return few < 0.05+1e-9
	})
}

// scoreText returns the score of a report, and the number of runs without an answer or a score if there are any.
func scoreText(r *evaluate.Report) string {
	text := fmt.Sprintf("score %.4g", r.Score.Mean)
	if r.NoAnswers > 0 {
		text += fmt.Sprintf(", %d without an answer", r.NoAnswers)
	}
	if r.Errors > 0 {
		text += fmt.Sprintf(", %d with errors that it leaves out", r.Errors)
	}
	return text
}

// firstError returns the first error in a report, as the end of a message.
func firstError(report *evaluate.Report) string {
	for _, r := range report.Results {
		if r.Err != "" {
			return fmt.Sprintf("; example %s: %s", r.ID, r.Err)
		}
	}
	return ""
}
