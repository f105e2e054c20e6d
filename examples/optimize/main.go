// Optimize improves a prompt with examples, from the shell:
//
//	go run ./examples/optimize -signature 'ticket -> team' -instructions 'Choose the team.' \
//		-train train.jsonl -dev dev.jsonl -test test.jsonl -metric exact -optimizer gepa \
//		-calls 800 -model openai:gpt-5-mini -reflection openai:gpt-5.1 -save program.json
//
// It scores the test set with the given prompt and with the improved one; the search does not use the test set. Without
// -optimizer, it only scores the examples in -dev.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The signature's fields are known only at run time.
type (
	values  = signature.Values
	example = evaluate.Example[values, values]
	metric  = evaluate.Metric[values, values]
	program = *module.Predict[values, values]
)

var optimizers = map[string]optimize.Optimizer{
	"labeled":   optimize.LabeledFewShot{},
	"bootstrap": optimize.BootstrapFewShot{},
	"random":    optimize.BootstrapRandomSearch{},
	"knn":       optimize.KNNFewShot{},
	"gepa":      optimize.GEPA{},
	"mipro":     optimize.MIPROv2{},
}

var metrics = map[string]metric{
	"exact":    evaluate.ExactMatch[values, values](),
	"text":     evaluate.TextMatch[values, values](),
	"f1":       evaluate.F1[values, values](),
	"contains": evaluate.Contains[values, values](),
	"fields":   evaluate.JSONFields[values, values](),
	"set":      evaluate.SetMatch[values, values](),
}

func names[V any](of map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(of)), ", ") }

// command contains the flag values.
type command struct {
	signature, instructions, load string
	train, dev, test              string
	metric, model, reflection     string
	optimizer, save, dir, report  string
	calls, workers                int
	seed                          uint64
	asJSON                        bool
	stdout, stderr                io.Writer
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := &command{stdout: stdout, stderr: stderr}
	if err := c.parse(args); err != nil {
		return fmt.Errorf("optimize: %w", err)
	}
	return c.run(ctx)
}

const modelUsage = models.Usage + "; student is a simulated model for examples/optimize/data"

func (c *command) parse(args []string) error {
	flags := flag.NewFlagSet("optimize", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run returns the error
	flags.StringVar(&c.signature, "signature", "",
		"inputs and outputs in DSPy's notation, such as 'question -> answer'")
	flags.StringVar(&c.instructions, "instructions", "", "a `sentence` that tells the model what to do")
	flags.StringVar(&c.load, "load", "", "a `file` that -save wrote, with a program to measure or to improve further")
	flags.StringVar(&c.train, "train", "",
		"a `file` (.jsonl, .json or .csv) with the examples that a search learns from")
	flags.StringVar(&c.dev, "dev", "", "a `file` with the examples that decide between candidates; without a search, "+
		"they are scored")
	flags.StringVar(&c.test, "test", "", "a `file` with examples that are scored after the search, with both programs")
	flags.StringVar(&c.metric, "metric", "exact", "how answers are scored: "+names(metrics))
	flags.StringVar(&c.optimizer, "optimizer", "",
		"the `name` of a search: "+names(optimizers)+"; without it, only -dev is scored")
	flags.IntVar(&c.calls, "calls", 500, "the maximum number of calls of -model in the search; -reflection is called "+
		"at most a quarter as often; the two evaluations of -test do not count; 0 means no limit")
	flags.Uint64Var(&c.seed, "seed", 0, "searches with the same seed and the same replies have the same result")
	flags.StringVar(&c.model, "model", "", modelUsage)
	flags.StringVar(&c.reflection, "reflection", "", "the `model` that writes instructions for gepa and mipro")
	flags.IntVar(&c.workers, "workers", 8, "how many examples are run at the same time")
	flags.StringVar(&c.dir, "dir", "", "a `directory` for the replies, with which a search that was killed continues")
	flags.StringVar(&c.save, "save", "", "a `file` for the improved program")
	flags.StringVar(&c.report, "report", "", "a `file` for a report of the search or of the scores, in HTML")
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
	case c.optimizer != "" && optimizers[c.optimizer] == nil:
		return fmt.Errorf("unknown optimizer %q; -optimizer is one of %s", c.optimizer, names(optimizers))
	case c.test != "" && (c.test == c.train || c.test == c.dev):
		return fmt.Errorf("-test is %s, which the search uses; test with examples that it has not seen", c.test)
	case metrics[c.metric] == nil:
		return fmt.Errorf("unknown metric %q; -metric is one of %s", c.metric, names(metrics))
	}
	required := []string{"signature", "model", "dev"}
	if c.optimizer != "" {
		required = append(required, "train", "test")
	}
	for _, name := range required {
		if f := flags.Lookup(name); f.Value.String() == "" {
			return fmt.Errorf("-%s is not set: %s", name, strings.ReplaceAll(f.Usage, "`", ""))
		}
	}
	return nil
}

// openModel returns the model that a flag names, or nil.
func (c *command) openModel(name string, simulated func() llms.Model) (llms.Model, error) {
	switch name {
	case "":
		return nil, nil
	case "student":
		return simulated(), nil
	}
	return models.Open(name, models.Options{Progress: c.stderr})
}
