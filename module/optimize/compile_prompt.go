package optimize

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// compileTask is the input of the module that writes programs.
type compileTask struct {
	Task    string `json:"task" jsonschema:"description=what the program must do"`
	Runs    string `json:"runs" jsonschema:"description=runs of an agent that wrote programs for single questions"`
	Program string `json:"program,omitempty" jsonschema:"description=your last program"`
	Problem string `json:"problem,omitempty" jsonschema:"description=what is wrong with it"`
}

// compiledCode is the output of the module that writes programs.
type compiledCode struct {
	Code string `json:"code" jsonschema:"description=the whole program"`
}

var writing = signature.Must(signature.New[compileTask, compiledCode](strings.TrimSpace(prompt.Compile)))

// write has the model write the n-th program.
func (c *compiler[In, Out]) write(ctx context.Context, n int, task compileTask) (string, error) {
	w := module.NewChainOfThought(writing, c.Model, &module.Options{Adapter: prompt.Program{}})
	w.Predictor.Briefing, w.Predictor.Rollout = c.briefing, n
	ctx = tools.WithPolicies(ctx, withoutEffects) // the model may be an agent with tools
	results, err := module.Parallel(ctx, w, []compileTask{task}, nil)
	c.report.Usage.Merge(results[0].Trajectory().UsageByModel())
	if err != nil {
		return "", results[0].Err
	}
	return strings.TrimSpace(results[0].Prediction.Output.Code), nil
}

// What the model is shown: the numbers of runs, of calls of a program and of failures, and sizes in bytes.
const (
	shownRuns, shownCalls, shownFailures = 8, 6, 5
	shownInput, shownCode, shownEvent    = 1500, 4000, 1500
)

// task returns the input for the first program.
func (c *compiler[In, Out]) task(right []evaluate.Result) compileTask {
	var b strings.Builder
	first := map[string]int{} // the number of the first run with each program
	for i, r := range right[:min(len(right), shownRuns)] {
		fmt.Fprintf(&b, "Run %d\n", i+1)
		describeExample(&b, r)
		for n, s := range r.Trajectory.Steps {
			if s.Code == "" {
				continue
			}
			if known := first[s.Code]; known > 0 {
				fmt.Fprintf(&b, "program %d: as in run %d\n", n+1, known)
			} else {
				first[s.Code] = i + 1
				fmt.Fprintf(&b, "program %d:\n%s\n", n+1, prompt.Cut(s.Code, shownCode))
			}
			if s.Observation != "" {
				fmt.Fprintf(&b, "what happened: %s\n", prompt.Cut(s.Observation, shownEvent))
			}
			if s.Outcome == nil {
				continue
			}
			for _, call := range s.Outcome.Calls[:min(len(s.Outcome.Calls), shownCalls)] {
				fmt.Fprintf(&b, "call %s\n", toolCallText(call))
			}
		}
		b.WriteString("\n")
	}
	return compileTask{Task: c.act.Predictor.Spec.Instructions(), Runs: b.String()}
}

// failures describes, for the model, the training examples on which its program failed.
func (c *compiler[In, Out]) failures(report *evaluate.Report) string {
	wrong := slices.DeleteFunc(slices.Clone(report.Results), c.isRight)
	var b strings.Builder
	fmt.Fprintf(&b, "It fails or is wrong on %d of %d questions.\n\n", len(wrong), len(report.Results))
	for i, r := range wrong[:min(len(wrong), shownFailures)] {
		fmt.Fprintf(&b, "Question %d\n", i+1)
		describeExample(&b, r)
		if r.Err == "" {
			fmt.Fprintf(&b, "the program's answer: %s\nscore: %.4g. %s\n\n", prompt.Cut(string(r.Got), shownInput),
				r.Score.Value, r.Score.Feedback)
			continue
		}
		happened := r.Err
		if steps := r.Trajectory.Steps; len(steps) > 0 {
			happened = cmp.Or(steps[0].Observation, r.Err)
		}
		fmt.Fprintf(&b, "what happened: %s\n\n", prompt.Cut(happened, shownEvent))
	}
	return b.String()
}

func describeExample(b *strings.Builder, r evaluate.Result) {
	fmt.Fprintf(b, "inputs: %s\nexpected answer: %s\n", prompt.Cut(string(r.Inputs), shownInput),
		prompt.Cut(string(r.Want), shownInput))
}
