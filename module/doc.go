// Package module answers typed questions with language models. A module takes a question and returns an answer that is
// valid against its signature, or an error that records what was done.
//
//	package main
//
//	import (
//		"context"
//		"errors"
//		"fmt"
//		"os"
//
//		"github.com/writ-go/writ/module"
//		"github.com/writ-go/writ/module/models"
//		"github.com/writ-go/writ/sandbox"
//		"github.com/writ-go/writ/signature"
//		"github.com/writ-go/writ/tools"
//	)
//
//	type Question struct {
//		City string `json:"city"`
//	}
//
//	type Answer struct {
//		Warmest string  `json:"warmest" jsonschema:"description=the warmest day of the week"`
//		Degrees float64 `json:"degrees"`
//	}
//
//	type Day struct {
//		City string `json:"city"`
//		Day  int    `json:"day" jsonschema:"minimum=1,maximum=7"`
//	}
//
//	func temperature(_ context.Context, d Day) (float64, error) { return 20 + float64(d.Day%5), nil }
//
//	func main() {
//		if err := run(context.Background()); err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			os.Exit(1)
//		}
//	}
//
//	func run(ctx context.Context) error {
//		sig, err := signature.New[Question, Answer]("Find the warmest day.")
//		if err != nil {
//			return err
//		}
//		model, err := models.Open("openai:gpt-5.1", nil)
//		if err != nil {
//			return err
//		}
//		set, err := tools.NewSet(ctx,
//			tools.Func("temperature", "The temperature of a day.", temperature, &tools.Hints{Class: tools.Read}))
//		if err != nil {
//			return err
//		}
//		box, err := sandbox.New(nil)
//		if err != nil {
//			return err
//		}
//		defer box.Close()
//		pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(ctx, Question{"Oslo"})
//		if part := (*module.IncompleteError)(nil); errors.As(err, &part) {
//			fmt.Fprintln(os.Stderr, part.Trajectory) // what was done
//		}
//		if err != nil {
//			return err
//		}
//		fmt.Println(pred.Output.Warmest, pred.Output.Degrees)
//		return nil
//	}
//
// # Which module
//
// If the model can answer by itself:
//
//   - [Predict] asks once and reads the outputs from the reply.
//   - [ChainOfThought] asks for reasoning before the answer, in the same call. It is for models that do not reason by
//     themselves.
//
// If the model needs to look something up, compute, or do something:
//
//   - [CodeAct] asks the model for JavaScript programs, which may call tools. It checks each program, runs it in a
//     [Sandbox], and shows the model what happened, until one submits the answer. One program replaces many single
//     calls.
//   - [ProgramOfThought] is a CodeAct without tools, for computations. The answer may also be a program's value.
//   - [Chat] is a conversation with a CodeAct. Programs can use the variables that programs in earlier turns declared.
//   - [RLM] is for inputs that are too long for a model. Programs have the inputs as variables, and ask a model about
//     parts of them with await llm(prompt).
//   - [ReAct] calls tools one at a time and shows the model each result before the next call. It needs no sandbox, and
//     suits a few calls that depend on each other.
//   - [Program] runs a program that was written earlier, without a model. If the program fails, a CodeAct can take over
//     in the same run.
//
// If one answer is not enough:
//
//   - [BestOfN] and [Refine] make several attempts and return the best; [MultiChainComparison] asks a model to compare
//     them.
//   - [Parallel] runs a module for many inputs, [Samples] runs it several times for the same input, and [Majority]
//     returns the most frequent answer.
//
// Each of these types implements [Module]. Your own struct with a method Run is a module too, and works with all of the
// above. Its Run returns &Prediction{Output: …}, or the error of one of its parts; the function that runs it, such as
// [Start] or [Parallel], records what the parts do. [Tool] turns a module into a tool for another module's programs.
// [Predictors], [Clone], [Save] and [Load] find modules in the exported fields of a struct.
//
// # The parts of a module
//
// A module has a signature, a model and, if it needs them, a sandbox and a set of tools, which the caller opens and
// closes. A module is safe for concurrent use and keeps no state between runs. The exceptions are a [Chat], and a
// module whose Sandbox is a *[sandbox.Session]; [Predictor.Shared] recognizes them.
//
//   - A [Predictor] is the question that a module asks the model. Its fields (instructions, demos, a hint, the model,
//     the adapter) may be changed before the first run.
//   - [Options] limit a run's steps and set the options for every model call.
//   - An [Adapter] defines the format of questions and replies: [Markers], [JSON] or [Native].
//
// Package [github.com/writ-go/writ/module/models] opens models and wraps them so that they retry, limit the rate, cache
// replies or fall back to other models. Package [github.com/writ-go/writ/module/budget] limits what runs may use.
// Package [github.com/writ-go/writ/module/llmtest] has scripted models for tests and for experiments without an API key.
//
// # Results and errors
//
// A [Prediction] holds the answer, as a Go value, and the [Trajectory] that led to it: the tool calls from the
// journal, and for every [Step] the model's reply, the program, its outcome, the observation that the model was
// shown, and the usage.
//
// Run returns either a prediction or an error. Once the model has been called, the error is an [*IncompleteError],
// which holds the trajectory, because tool calls may have had effects and model calls cost money. It wraps the reason:
// [ErrMaxIters], [ErrNoAnswer], or an error from the context, the model, the sandbox or a tool. Problems that the model
// can fix are not errors: if the check rejects a program, if a program fails or takes too long, if an answer violates
// the signature, or if a reply cannot be read, the model gets an observation.
//
// During a run, Options.OnEvent is called for every [event.Event]. [Start] begins a run and yields its events,
// including the model's text as it arrives:
//
//	for e, err := range module.Start(ctx, predict, in).Events() { … }
//
// # How replies are read
//
// Models are asked to put each output under a marker, [[ ## name ## ]], and programs into one fenced block. Other forms
// are accepted as well: a JSON object in a fence or in prose, lines with labels, numbers that are written as strings,
// thinking before the answer, a program without a fence. How a reply is parsed depends only on its form, not on its
// content. A reply that is truncated, gives two different answers or violates the signature is rejected; the next
// prompt tells the model everything that is wrong.
package module
