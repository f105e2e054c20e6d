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
		Workers: c.Workers, RunTimeout: c.RunTimeout, MaxErrors: -1, Policy: c.Policy,
	})
}

// worseThan returns why a program is worse than the CodeAct on the same examples, or "" if it is not. During the
// search, the program must answer all examples, and its score must not be lower. In the final test, a lower score must
// not be explained by chance: if only lucky programs passed, the reported score would be too high.
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
	case c.Difference.Mean >= -tolerance, final && mayBeChance(program, act):
		return ""
	}
	return fmt.Sprintf("its score on the %s examples is %.4g, but that of the CodeAct is %.4g%s", kind, c.B.Mean,
		c.A.Mean, firstError(program))
}

// mayBeChance applies a sign test: it reports whether as few of the answers that differ in score would be better with a
// probability of at least 5%, if better and worse ones were equally likely.
func mayBeChance(program, act *evaluate.Report) bool {
	better, differ := 0, 0
	for i, r := range program.Results {
		switch was := act.Results[i].Score.Value; {
		case r.Score.Value > was:
			better, differ = better+1, differ+1
		case r.Score.Value < was:
			differ++
		}
	}
	return atMost(better, differ, 0.5) >= 0.05
}

// mayFail returns how many percent of all answers may be wrong if wrong of n were: the smallest percentage at which so
// few are wrong with a probability of at most 5%.
func mayFail(wrong, n int) int {
	return sort.Search(100, func(percent int) bool {
		return atMost(wrong, n, float64(percent)/100) < 0.05+1e-9
	})
}

// atMost returns the probability that at most k of n independent events with the given probability occur.
func atMost(k, n int, probability float64) (sum float64) {
	ways := 0.0 // the logarithm of n over i
	for i := range k + 1 {
		sum += math.Exp(ways + float64(i)*math.Log(probability) + float64(n-i)*math.Log1p(-probability))
		ways += math.Log(float64(n-i) / float64(i+1))
	}
	return sum
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
