// Optimize improves a prompt with examples, from the shell:
//
//	go run ./examples/optimize -signature 'ticket -> team' -instructions 'Choose the team.' \
//		-train train.jsonl -dev dev.jsonl -test test.jsonl -metric exact -optimizer gepa \
//		-calls 800 -model openai:gpt-5-mini -reflection openai:gpt-5.1 -save program.json
//
// It scores the test set before and after the search, and never shows it to a model otherwise. Without -optimizer, it
// only scores the examples of -dev.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/signature"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, flagNames.Replace("optimize: "+err.Error()))
		os.Exit(1)
	}
}

// flagNames replaces Go names in messages of the packages by the flags that a user of the command knows.
var flagNames = strings.NewReplacer(
	"optimize: optimize: ", "optimize: ", "Options.MaxErrors", "the limit", "Options.Dir", "-dir",
	" ReadOptions.Fields can name it", "", "; raise ReadOptions.MaxRow", "", "ReadOptions.Note", "-feedback",
	"Options.Teacher, more Rounds, or a lower Threshold", "-model",
	"examples of Train", "examples of -train", "examples of Val", "examples of -dev", " on Train", " on -train",
	" on Val", " on -dev", "Val has", "-dev has",
)

// The fields of the signature are known only at run time.
type (
	values  = signature.Values
	example = evaluate.Example[values, values]
	metric  = evaluate.Metric[values, values]
	program = module.Module[values, values]
)

// command is what the flags say, and what they name.
type command struct {
	signature, instructions, load string
	train, dev, test, feedback    string
	metric, model, reflection     string
	optimizer, save, dir          string
	calls, workers                int
	seed                          uint64
	asJSON                        bool
	stdout, stderr                io.Writer

	sig                *signature.Signature[values, values]
	student, reflector llms.Model
	program            program
	data               data
	score              metric
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := &command{stdout: stdout, stderr: stderr}
	if err := c.parse(args); err != nil {
		return err
	}
	if err := c.open(ctx); err != nil {
		return err
	}
	if c.optimizer == "" {
		return c.measure(ctx)
	}
	return c.improve(ctx)
}

const modelUsage = models.Usage + "; student is a simulated model for examples/optimize/data"

func (c *command) parse(args []string) error {
	flags := flag.NewFlagSet("optimize", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run returns the error
	flags.StringVar(&c.signature, "signature", "", "inputs and outputs in DSPy's notation, such as 'question -> answer'")
	flags.StringVar(&c.instructions, "instructions", "", "what the model is to do, in a `sentence`")
	flags.StringVar(&c.load, "load", "", "a `file` that -save wrote, to measure it or to improve it further")
	flags.StringVar(&c.train, "train", "", "a `file` (.jsonl, .json or .csv) with the examples that a search learns from")
	flags.StringVar(&c.dev, "dev", "", "a `file` with the examples that decide between candidates; without a search, "+
		"they are scored")
	flags.StringVar(&c.test, "test", "", "a `file` with examples that are scored once before the search and once after it")
	flags.StringVar(&c.metric, "metric", "exact", "how answers are scored: "+metricUsage)
	flags.StringVar(&c.feedback, "feedback", "", "the `column` whose text is added to the feedback on a wrong answer; "+
		"by default note, which may be missing")
	flags.StringVar(&c.optimizer, "optimizer", "",
		"the `name` of a search: "+optimizerNames()+"; without it, only -dev is scored")
	flags.IntVar(&c.calls, "calls", 500, "the most calls of -model in the search; -reflection is called at most a "+
		"quarter as often; the two evaluations of -test are not counted; 0 means no limit")
	flags.Uint64Var(&c.seed, "seed", 0, "searches with the same seed and the same replies have the same result")
	flags.StringVar(&c.model, "model", "", modelUsage)
	flags.StringVar(&c.reflection, "reflection", "", "the `model` that writes instructions for gepa and mipro; as -model")
	flags.IntVar(&c.workers, "workers", 8, "how many examples are run at the same time")
	flags.StringVar(&c.dir, "dir", "", "a `directory` for the replies, from which a search that was killed continues")
	flags.StringVar(&c.save, "save", "", "a `file` for the improved program")
	flags.BoolVar(&c.asJSON, "json", false, "print one JSON object, for programs")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(c.stderr)
		flags.PrintDefaults()
		return err
	case err != nil:
		return fmt.Errorf("%w; -h describes the flags", err)
	case flags.NArg() > 0:
		return fmt.Errorf("argument %q is not a flag; write the signature in quotes, after -signature", flags.Arg(0))
	}
	return c.check(flags)
}

// check returns what is missing or wrong.
func (c *command) check(flags *flag.FlagSet) error {
	switch search := c.optimizer != ""; {
	case search && optimizers[c.optimizer] == nil:
		return fmt.Errorf("no optimizer is named %q; -optimizer is one of %s", c.optimizer, optimizerNames())
	case !search && c.train+c.test != "":
		return errors.New("-train and -test are used only with -optimizer; to measure a file, pass it as -dev")
	case c.load != "" && c.instructions != "":
		return errors.New("-instructions would have no effect with -load: the file has instructions; change them there")
	case c.calls < 0:
		return fmt.Errorf("-calls is %d; write a positive number, or 0 for no limit", c.calls)
	case c.workers < 1:
		return fmt.Errorf("-workers is %d; write a positive number", c.workers)
	}
	required := []string{"signature", "model", "dev"}
	if c.optimizer != "" {
		required = append(required, "train", "test")
	}
	if c.optimizer == "gepa" || c.optimizer == "mipro" {
		required = append(required, "reflection")
	}
	for _, name := range required {
		if f := flags.Lookup(name); f.Value.String() == "" {
			return fmt.Errorf("-%s is missing: %s", name, strings.ReplaceAll(f.Usage, "`", ""))
		}
	}
	return nil
}
