package optimize

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/kinds"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// CompileOptions configures [Compile]. The zero value, and nil, are the defaults.
type CompileOptions struct {
	// Model writes the programs. Nil means the model of the CodeAct.
	Model llms.Model

	// Programs is the maximum number of programs that the model writes. Zero means 6.
	Programs int

	// Threshold is the lowest score of a right answer. The model learns from the runs with right answers. Zero means 1.
	Threshold float64

	// HeldOut is the fraction of the examples that the model does not see: the validation examples, which choose the
	// program, and as many test examples. Zero means one half.
	HeldOut float64

	// Seed decides which examples are held out.
	Seed uint64

	// Workers is the maximum number of examples that are run at the same time. Zero means 8.
	Workers int

	// RunTimeout limits each run, as in [evaluate.Options]. Zero means 10 minutes.
	RunTimeout time.Duration

	// Policy replaces or refuses calls of tools with effects, as in [evaluate.Options]. It is required if the CodeAct
	// has such tools. Compile never has effects: if a call would reach such a tool, even through [evaluate.Act], the
	// tool is not called, and the run ends with an error. A fake whose name is almost that of a tool is an error.
	Policy tools.Policy

	// Progress, if set, receives a line about each evaluation and each program.
	Progress io.Writer
}

// CompileReport is the record of a call of [Compile].
type CompileReport struct {
	// Programs are the programs that the model wrote, in order.
	Programs []CompileTry `json:"programs"`

	// Train, Val and Test are the evaluations of the CodeAct. Val and Test are nil if no program got that far.
	Train *evaluate.Report `json:"train,omitempty"`
	Val   *evaluate.Report `json:"val,omitempty"`
	Test  *evaluate.Report `json:"test,omitempty"`

	// Usage is the usage of the model that wrote the programs.
	Usage event.ModelUsage `json:"usage,omitempty"`
}

// CompileTry is a program that was tried.
type CompileTry struct {
	Code string `json:"code"`

	// Problem is the reason why the program was rejected, or empty if it was accepted.
	Problem string `json:"problem,omitempty"`

	// Train, Val and Test are the evaluations of the program, or nil if an earlier check failed. Only the score of Test
	// is an unbiased estimate.
	Train *evaluate.Report `json:"train,omitempty"`
	Val   *evaluate.Report `json:"val,omitempty"`
	Test  *evaluate.Report `json:"test,omitempty"`

	// Bound says what the test shows: "20 of 20 right; up to 14 % of all answers may be wrong". This is the one-sided
	// 95% bound of Clopper and Pearson ("The Use of Confidence or Fiducial Limits", 1934), for independent examples.
	Bound string `json:"bound,omitempty"`

	told string // the problem, as the model is told
}

// String returns the report as text.
func (r *CompileReport) String() string {
	var b strings.Builder
	line := func(name string, report *evaluate.Report, more string) {
		if report != nil {
			fmt.Fprintf(&b, "%s examples: %s%s\n", name, scoreText(report), more)
		}
	}
	line("CodeAct, training", r.Train, "")
	line("CodeAct, validation", r.Val, "")
	line("CodeAct, test", r.Test, "")
	for i, try := range r.Programs {
		fmt.Fprintf(&b, "program %d: %s\n", i+1, cmp.Or(try.Problem, "accepted"))
		line("  training", try.Train, "")
		line("  validation", try.Val, "")
		line("  test", try.Test, ", "+try.Bound)
	}
	return display.Text(b.String())
}

// Compile turns the steps that a CodeAct repeats for every question into one program. It runs the CodeAct on some of
// the examples, and has a model write a program from the runs with right answers. If the program fails on these
// examples, the model repairs it. The other examples are held out: the model never sees them. The program must answer
// all validation examples, with a score that is not lower than that of the CodeAct; otherwise, the model tries again.
// The first program that does is run on the test examples. No other program is: if this one is clearly worse than the
// CodeAct, Compile returns an error. So the score on the test examples is not the best of several.
//
// The resulting module answers without a model, except where its program calls llm. If the program fails, or if an
// input is unlike all examples, the CodeAct answers; see [module.Program]. To keep the program, write its Script to a
// file.
//
// Compile rejects programs that contain expected answers: strings and numbers in Want that have at least four
// characters and do not occur in an input, in the instructions, in the declarations of the signature and the tools, or
// in what tools returned for the training examples. One number with which the program calculates is accepted. If a
// program needs to know something, such as a list of categories, put it into the instructions, or give it a tool.
//
// Use Compile for tasks whose steps are the same each time: reports, conversions, checks, lookups across tools. Provide
// at least 80 examples.
//
// The report is nil if the arguments are invalid. If no program was accepted, the error says why.
func Compile[In, Out any](
	ctx context.Context, act *module.CodeAct[In, Out], examples []evaluate.Example[In, Out],
	metric evaluate.Metric[In, Out], o *CompileOptions,
) (*module.Program[In, Out], *CompileReport, error) {
	c, err := newCompiler(act, examples, metric, o)
	if err != nil {
		return nil, nil, fmt.Errorf("optimize: compile: %w", err)
	}
	p, err := c.search(ctx)
	if err != nil {
		return nil, c.report, fmt.Errorf("optimize: compile: %w", err)
	}
	return p, c.report, nil
}

// compiler is the state of one call of Compile.
type compiler[In, Out any] struct {
	CompileOptions
	act              *module.CodeAct[In, Out]
	metric           evaluate.Metric[In, Out]
	train, val, test []evaluate.Example[In, Out]
	answers          *answers
	briefing         string // what a model must know to write programs
	report           *CompileReport
}

func newCompiler[In, Out any](
	act *module.CodeAct[In, Out], examples []evaluate.Example[In, Out], metric evaluate.Metric[In, Out],
	o *CompileOptions,
) (*compiler[In, Out], error) {
	c := &compiler[In, Out]{act: act, metric: metric, report: &CompileReport{}}
	if o != nil {
		c.CompileOptions = *o
	}
	c.Programs, c.Threshold = cmp.Or(max(c.Programs, 0), 6), cmp.Or(c.Threshold, 1)
	c.HeldOut = cmp.Or(c.HeldOut, 0.5)
	switch {
	case act == nil || act.Predictor == nil:
		var in In
		_, err := act.Run(context.Background(), in) // returns the reason why it cannot run
		return nil, err
	case len(examples) < 3:
		return nil, errors.New("there must be at least 3 examples: to learn from, to choose a program, and to test it")
	case c.HeldOut < 0 || c.HeldOut >= 1:
		return nil, fmt.Errorf("HeldOut is %v; it must be more than 0 and less than 1", c.HeldOut)
	}
	parts, err := evaluate.Split(examples, c.Seed, 1-c.HeldOut, c.HeldOut/2, c.HeldOut/2)
	if err != nil {
		return nil, err
	}
	if err := checkFakes(c.Policy, act); err != nil {
		return nil, err
	}
	c.Policy = neverActs(c.Policy)
	c.train, c.val, c.test = parts[0], parts[1], parts[2]
	p := act.Program(module.Script{Code: "0"}) // a placeholder, for its briefing and its declarations
	c.briefing, c.Model = p.Briefing(), cmp.Or(c.Model, act.Predictor.Model)
	known := strings.Join([]string{p.Script.Instructions, p.Script.Signature, c.briefing}, "\n")
	c.answers, err = expectedAnswers(known, c.train, slices.Concat(c.val, c.test))
	return c, err
}

// search writes and tries programs until one passes the validation, and tests that one.
func (c *compiler[In, Out]) search(ctx context.Context) (p *module.Program[In, Out], err error) {
	if c.report.Train, err = c.run(ctx, c.act, c.train); err != nil {
		return nil, err
	}
	c.say("CodeAct: %s on %d training examples", scoreText(c.report.Train), len(c.train))
	right := c.right(c.report.Train)
	if len(right) == 0 {
		return nil, fmt.Errorf("no run of the CodeAct on a training example has a score of at least %v, so there is "+
			"nothing to learn from%s", c.Threshold, firstError(c.report.Train))
	}
	for _, r := range c.report.Train.Results {
		for call := range r.Trajectory.AllCalls() {
			c.answers.know(call.Result) // a program may contain what tools returned
		}
	}
	task := c.task(right)
	for n := range c.Programs {
		try, err := c.try(ctx, n, task)
		if err != nil {
			return nil, err
		}
		task.Program, task.Problem = try.Code, try.told
		c.report.Programs = append(c.report.Programs, try)
		switch {
		case try.Problem == "":
			c.say("program %d: accepted, with %s on the test examples: %s", n+1, scoreText(try.Test), try.Bound)
			return c.accepted(try), nil
		case try.Test != nil:
			return nil, fmt.Errorf("program %d failed the final test (%s): %s; a second program cannot be tested on "+
				"the same examples, so call Compile with new ones", n+1, try.Bound, try.Problem)
		}
		c.say("program %d: %s", n+1, try.Problem)
	}
	tried := c.report.Programs
	return nil, fmt.Errorf("no program was accepted; the last of %d: %s", len(tried), tried[len(tried)-1].Problem)
}

// try writes the n-th program and checks it.
func (c *compiler[In, Out]) try(ctx context.Context, n int, task compileTask) (CompileTry, error) {
	code, err := c.write(ctx, n, task)
	if errors.Is(err, module.ErrNoAnswer) {
		return CompileTry{Problem: "the model wrote no program: " + err.Error()}, nil
	}
	if err != nil {
		return CompileTry{}, err
	}
	try := CompileTry{Code: code}
	for i, earlier := range c.report.Programs {
		if earlier.Code == code {
			try.Problem = fmt.Sprintf("it repeats program %d: %s", i+1, earlier.Problem)
			try.told = "This is the same program again. " + earlier.told
			return try, nil
		}
	}
	if try.told, err = c.answers.problem(ctx, code); err != nil || try.told != "" {
		try.Problem = try.told + "; if it has to know them, put them into the instructions of the CodeAct, or give " +
			"the CodeAct a tool that returns them"
		return try, err
	}
	err = c.score(ctx, &try)
	return try, err
}

// score evaluates a program on one part of the examples after another, until it is worse than the CodeAct. So only one
// program comes to the test examples: those that have tested two programs have helped to choose one.
func (c *compiler[In, Out]) score(ctx context.Context, try *CompileTry) (err error) {
	p := c.act.Program(module.Script{Code: try.Code})
	p.Predictor.Model = nil // no fallback
	for _, part := range []struct {
		name     string
		examples []evaluate.Example[In, Out]
		got, act **evaluate.Report
	}{
		{"training", c.train, &try.Train, &c.report.Train}, {"validation", c.val, &try.Val, &c.report.Val},
		{"test", c.test, &try.Test, &c.report.Test},
	} {
		if *part.got, err = c.run(ctx, p, part.examples); err != nil {
			return err
		}
		if *part.act == nil {
			if *part.act, err = c.run(ctx, c.act, part.examples); err != nil {
				return err
			}
			c.say("CodeAct: %s on %d %s examples", scoreText(*part.act), len(part.examples), part.name)
		}
		if try.Problem = worseThan(*part.got, *part.act, part.name); try.Problem != "" {
			break
		}
	}
	switch {
	case try.Test != nil:
		n, right := len(try.Test.Results), len(c.right(try.Test))
		try.Bound = fmt.Sprintf("%d of %d right; up to %d %% of all answers may be wrong", right, n,
			mayFail(n-right, n))
	case try.Val != nil:
		try.told = prompt.NotGeneral
	default:
		try.told = c.failures(try.Train)
	}
	return nil
}

// accepted returns the module of an accepted program.
func (c *compiler[In, Out]) accepted(try CompileTry) *module.Program[In, Out] {
	right := slices.Concat(c.right(try.Test), c.right(try.Val), c.right(try.Train))
	s := c.act.Program(module.Script{
		Code: try.Code,
		From: fmt.Sprintf("optimize.Compile: %d training, %d validation, %d test examples: %s (%s); CodeAct: %s",
			len(c.train), len(c.val), len(c.test), scoreText(try.Test), try.Bound, scoreText(c.report.Test)),
		Examples: examplesFrom(right),
	}).Script
	sig, _ := signature.Parse(s.Signature, "") // the signature was written by its String method
	for _, r := range right {
		s.Seen = append(s.Seen, kinds.Of(sig.Spec().InputSchema(), r.Inputs)...)
		for _, step := range r.Trajectory.Steps {
			if step.Outcome != nil {
				s.Seen = append(s.Seen, kinds.OfRun(sig.Spec().OutputSchema(), r.Got, step.Outcome.Calls)...)
			}
		}
	}
	slices.Sort(s.Seen)
	s.Seen = slices.Compact(s.Seen)
	return c.act.Program(s)
}

// examplesFrom returns the first few questions and right answers that are not long.
func examplesFrom(right []evaluate.Result) (list []module.Demo) {
	const limit, maxBytes = 10, 2000
	for _, r := range right {
		var inputs, outputs signature.Values
		if len(list) == limit || len(r.Inputs)+len(r.Got) > maxBytes ||
			json.Unmarshal(r.Inputs, &inputs) != nil || json.Unmarshal(r.Got, &outputs) != nil {
			continue
		}
		list = append(list, module.Demo{Inputs: inputs, Outputs: outputs})
	}
	return list
}

// right returns the results whose answers are right.
func (c *compiler[In, Out]) right(report *evaluate.Report) []evaluate.Result {
	isWrong := func(r evaluate.Result) bool { return !c.isRight(r) }
	return slices.DeleteFunc(slices.Clone(report.Results), isWrong)
}

func (c *compiler[In, Out]) isRight(r evaluate.Result) bool {
	return r.Err == "" && r.Score.Value >= c.Threshold
}

func (c *compiler[In, Out]) say(format string, args ...any) {
	if c.Progress != nil {
		fmt.Fprintln(c.Progress, display.Text(fmt.Sprintf(format, args...)))
	}
}
