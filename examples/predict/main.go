// Predict asks a model for typed outputs, from the shell:
//
//	go run ./examples/predict -model openai:gpt-5.1 \
//		'review -> mood: Literal["good","bad"], score: float(ge=0, le=1)' review="Broke twice."
//
// It prints a line for each output, or with -json one object. The value of an input
// name=- is read from standard input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/signature"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "predict:", err)
		os.Exit(1)
	}
}

const usage = `Usage: predict -model provider:model [flags] 'inputs -> outputs' name=value ...

The signature is in DSPy's notation, such as
	review -> mood: Literal["good","bad"], score: float(ge=0, le=1)
A value is a string, or JSON if the input is not a string; name=- reads standard input.

`

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	stdout, stderr = show.Writer(stdout), show.Writer(stderr)
	flags := flag.NewFlagSet("predict", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage); flags.PrintDefaults() }
	name := flags.String("model", "", models.Usage)
	instructions := flags.String("instructions", "", "a `sentence` that tells the model what to do")
	asJSON := flags.Bool("json", false, "print one JSON object")
	verbose := flags.Bool("v", false, "print the requests to the model and its replies to standard error")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("the signature is missing; write a signature, such as 'question -> answer', " +
			"and then its inputs, such as question=\"What is a writ?\"")
	}
	sig, err := signature.Parse(flags.Arg(0), *instructions)
	if err != nil {
		return err
	}
	in, err := inputs(sig.Spec(), flags.Args()[1:], stdin)
	if err != nil {
		return err
	}
	if *name == "" {
		return errors.New("-model is not set; write provider:model, such as -model openai:gpt-5.1")
	}
	model, err := models.Open(*name, models.Options{Progress: stderr})
	if err != nil {
		return err
	}
	if *verbose {
		ctx = module.Observe(ctx, func(_ context.Context, e event.Event) { printEvent(stderr, e) })
	}
	pred, err := module.NewPredict(sig, model, nil).Run(ctx, in)
	if err != nil {
		return err
	}
	return write(stdout, pred.Output, *asJSON)
}

// printEvent prints the requests to the model and its replies.
func printEvent(w io.Writer, e event.Event) {
	switch e := e.(type) {
	case event.ModelRequest:
		fmt.Fprintf(w, "=== request %d ===\n%s", e.Step, e.Text())
	case event.ModelResponse:
		took := e.Duration.Round(time.Millisecond)
		fmt.Fprintf(w, "=== reply %d of %s in %s ===\n%s\n", e.Step, e.Model, took, e.Text)
	case event.ReplyRejected:
		fmt.Fprintf(w, "=== rejected ===\n%s\n", e.Observation)
	}
}

// inputs reads arguments such as name=value.
func inputs(spec *signature.Spec, args []string, stdin io.Reader) (signature.Values, error) {
	var in signature.Values
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("argument %q is not an input; write name=value, and flags before the signature", arg)
		}
		if text == "-" {
			all, err := io.ReadAll(stdin)
			if err != nil {
				return nil, fmt.Errorf("input %s: standard input: %w", name, err)
			}
			text = string(all)
		}
		in = append(in, signature.Value{Name: name, JSON: value(spec, name, text)})
	}
	if _, err := spec.Encode(in); err != nil {
		return nil, fmt.Errorf("%w\nwrite each input as name=value; the signature is %s", err, spec)
	}
	return in, nil
}

// value returns an argument as a JSON string, unless the input is not a string and the argument is valid JSON.
func value(spec *signature.Spec, name, text string) json.RawMessage {
	quoted, _ := json.Marshal(text)
	field, ok := spec.Field(name)
	if !ok || field.Schema == nil || len(field.Schema.Validate(quoted)) == 0 || !json.Valid([]byte(text)) {
		return quoted
	}
	return json.RawMessage(text)
}

func write(w io.Writer, out signature.Values, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(out)
	}
	for _, v := range out {
		text := string(v.JSON)
		if s := ""; json.Unmarshal(v.JSON, &s) == nil && text != "null" {
			text = s
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", v.Name, text); err != nil {
			return err
		}
	}
	return nil
}
