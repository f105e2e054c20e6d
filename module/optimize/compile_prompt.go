package optimize

import (
	"context"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
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

// newWriter returns the module that writes programs.
func newWriter(model llms.Model, briefing string) *module.ChainOfThought[compileTask, compiledCode] {
	w := module.NewChainOfThought(writing, model, &module.Options{Adapter: prompt.Program{}})
	w.Predictor.Briefing = briefing
	return w
}

// write has the model write the n-th program.
func (c *compiler[In, Out]) write(ctx context.Context, n int, task compileTask) (string, error) {
	w := module.Clone(c.writer)
	w.Predictor.Rollout = n
	result := module.Result[compiledCode]{}
	ctx = tools.WithPolicies(ctx, withoutEffects) // the model may be an agent with tools
	result.Prediction, result.Err = w.Run(ctx, task)
	c.written = append(c.written, result.Trajectory())
	if result.Err != nil {
		return "", result.Err
	}
	return strings.TrimSpace(result.Prediction.Output.Code), nil
}

// What the model is shown: the number of runs and of failures, and the sizes of their parts in bytes.
const (
	shownRuns, shownFailures          = 8, 5
	shownInput, shownCode, shownEvent = 1500, 4000, 1500
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
			for _, call := range shownCalls(s) {
				b.WriteString(call)
			}
		}
		b.WriteString("\n")
	}
	return compileTask{Task: c.act.Predictor.Spec.Instructions(), Runs: b.String()}
}

// shownCalls returns the first calls of a program with their results, so that the model sees what tools return.
func shownCalls(s module.Step) (list []string) {
	const limit = 6
	if s.Outcome == nil {
		return nil
	}
	for _, call := range s.Outcome.Calls[:min(len(s.Outcome.Calls), limit)] {
		list = append(list, "call "+toolCallText(call)+"\n")
	}
	return list
}

// failures describes, for the model, the training examples on which its program failed.
func (c *compiler[In, Out]) failures(report *evaluate.Report) string {
	var b strings.Builder
	wrong := 0
	for _, r := range report.Results {
		if c.isRight(r) {
			continue
		}
		if wrong++; wrong > shownFailures {
			continue
		}
		fmt.Fprintf(&b, "Question %d\n", wrong)
		describeExample(&b, r)
		switch steps := r.Trajectory.Steps; {
		case r.Err == "":
			fmt.Fprintf(&b, "the program's answer: %s\nscore: %.4g. %s\n", prompt.Cut(string(r.Got), shownInput),
				r.Score.Value, r.Score.Feedback)
		case len(steps) > 0 && steps[0].Observation != "":
			fmt.Fprintf(&b, "what happened: %s\n", prompt.Cut(steps[0].Observation, shownEvent))
		default:
			fmt.Fprintf(&b, "what happened: %s\n", prompt.Cut(r.Err, shownEvent))
		}
		b.WriteString("\n")
	}
	return fmt.Sprintf("It fails or is wrong on %d of %d questions.\n\n%s", wrong, len(report.Results), b.String())
}

func describeExample(b *strings.Builder, r evaluate.Result) {
	fmt.Fprintf(b, "inputs: %s\nexpected answer: %s\n", prompt.Cut(string(r.Inputs), shownInput),
		prompt.Cut(string(r.Want), shownInput))
}
