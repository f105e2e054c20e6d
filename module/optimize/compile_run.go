package optimize

import (
	"context"
	"fmt"

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

// worseThan returns why a program is worse than the CodeAct on the same examples, or "" if it is not. A program is
// worse if it fails on an example, or if its mean score is lower on the examples that the CodeAct answered.
func worseThan(program, act *evaluate.Report, kind string) string {
	if failed := program.Errors + program.NoAnswers; failed > 0 {
		return fmt.Sprintf("it fails on %d of %d %s examples%s", failed, len(program.Results), kind,
			firstError(program))
	}
	scores := map[string]evaluate.Result{}
	for _, r := range act.Results {
		if r.Err == "" {
			scores[r.ID] = r
		}
	}
	const tolerance = 1e-9
	var sum, of, weights float64
	for _, r := range program.Results {
		if was, answered := scores[r.ID]; answered {
			sum, of, weights = sum+r.Weight*r.Score.Value, of+r.Weight*was.Score.Value, weights+r.Weight
		}
	}
	switch {
	case weights == 0:
		return fmt.Sprintf("the CodeAct answered none of the %s examples, so it cannot be compared with the program",
			kind)
	case sum >= of-tolerance:
		return ""
	}
	return fmt.Sprintf("its score on the %s examples is %.4g, but that of the CodeAct is %.4g",
		kind, sum/weights, of/weights)
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
