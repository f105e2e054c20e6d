// Optimize improves a prompt with examples, from the shell:
//
//	go run ./examples/optimize -signature 'ticket -> team' -instructions 'Choose the team.' \
//		-train train.jsonl -dev dev.jsonl -test test.jsonl -metric exact -feedback note \
//		-optimizer gepa -calls 800 -model openai:gpt-5-mini -reflection openai:gpt-5.1 -save program.json
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
	"github.com/writ-go/writ/signature"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "optimize:", err)
		os.Exit(1)
	}
}

// The program has inputs and outputs that are known only at run time.
type (
	values  = signature.Values
	predict = module.Predict[values, values]
)

// config is what the flags say.
type config struct {
	signature, instructions, load string
	train, dev, test, feedback    string
	metric, model, reflection     string
	optimizer, save, dir          string
	calls, workers                int
	seed                          uint64
	asJSON                        bool
	reflectionModel               llms.Model
	program                       *predict
	examples                      data
	stdout, stderr                io.Writer
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := config{stdout: stdout, stderr: stderr}
	if err := c.parse(args); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	if c.optimizer == "" {
		return c.measure(ctx)
	}
	return c.improve(ctx)
}

func (c *config) parse(args []string) error {
	flags := flag.NewFlagSet("optimize", flag.ContinueOnError)
	flags.SetOutput(c.stderr)
	flags.StringVar(&c.signature, "signature", "", "inputs and outputs in DSPy's notation, such as 'question -> answer'")
	flags.StringVar(&c.instructions, "instructions", "", "what the model is to do, in a `sentence`")
	flags.StringVar(&c.load, "load", "", "a `file` that -save wrote, to measure it or to improve it further")
	flags.StringVar(&c.train, "train", "", "a `file` (.jsonl, .json or .csv) with the examples that a search learns from")
	flags.StringVar(&c.dev, "dev", "", "a `file` with the examples that decide between candidates")
	flags.StringVar(&c.test, "test", "", "a `file` with examples that are scored once before the search and once after it")
	flags.StringVar(&c.metric, "metric", "exact", metricUsage)
	flags.StringVar(&c.feedback, "feedback", "", "the `column` whose text is the feedback on a wrong answer")
	flags.StringVar(&c.optimizer, "optimizer", "",
		"`one` of "+optimizerNames()+"; without it, the command only scores -dev")
	flags.IntVar(&c.calls, "calls", 500, "the maximum number of calls of the model in the search; 0 is no limit")
	flags.Uint64Var(&c.seed, "seed", 0, "searches with the same seed and the same replies have the same result")
	flags.StringVar(&c.model, "model", "", models.Usage+"; student is a simulated model for examples/optimize/data")
	flags.StringVar(&c.reflection, "reflection", "", "the `model` that writes instructions for gepa and mipro; as -model")
	flags.IntVar(&c.workers, "workers", 8, "how many examples are run at the same time")
	flags.StringVar(&c.dir, "dir", "", "a `directory` for the replies, from which a search that was killed continues")
	flags.StringVar(&c.save, "save", "", "a `file` for the improved program")
	flags.BoolVar(&c.asJSON, "json", false, "print one JSON object")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q is not a flag; write the signature in quotes, after -signature", flags.Arg(0))
	}
	required := []string{"signature", "model", "dev"}
	if c.optimizer != "" {
		required = append(required, "train", "test")
	}
	for _, name := range required {
		if f := flags.Lookup(name); f.Value.String() == "" {
			return fmt.Errorf("-%s is missing: %s", name, strings.ReplaceAll(f.Usage, "`", ""))
		}
	}
	return nil
}

// open prepares everything that can fail before a model is asked.
func (c *config) open() error {
	sig, err := signature.Parse(c.signature, c.instructions)
	if err != nil {
		return err
	}
	model, err := c.openModel(c.model, student)
	if err != nil {
		return err
	}
	if c.reflection != "" {
		if c.reflectionModel, err = c.openModel(c.reflection, reflection); err != nil {
			return err
		}
	}
	c.program = module.NewPredict(sig, model, nil)
	if c.load != "" {
		if err := load(c.load, c.program); err != nil {
			return err
		}
	}
	return c.examples.read(sig, c)
}

func (c *config) openModel(name string, simulated func() llms.Model) (llms.Model, error) {
	if name == "student" {
		return simulated(), nil
	}
	return models.Open(name, models.Options{Progress: c.stderr})
}

func load(file string, program *predict) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return module.Load(f, program)
}
