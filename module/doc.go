// Package module asks language models: a module takes a typed question, and
// comes back with an answer that is valid, or with an error that says what was
// done.
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
//			fmt.Fprintln(os.Stderr, part.Trajectory) // what was done all the same
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
// The model answers by itself:
//
//   - [Predict] asks once and reads the outputs from the reply.
//   - [ChainOfThought] has it reason before the answer, in the same call. It is for
//     models that do not think by themselves.
//
// The model looks things up, computes, or does something:
//
//   - [CodeAct] lets it write JavaScript programs, which a [Sandbox] checks and runs
//     and which may call tools, until one submits the answer. One program does what
//     would otherwise be many calls.
//   - [ProgramOfThought] is CodeAct without tools, for what is computed: the value of
//     a program that ends well is the answer.
//   - [Chat] is a conversation of several turns with CodeAct, whose programs use what
//     those of earlier turns left in variables.
//   - [RLM] is for inputs that no model could read as a whole: they are variables of
//     programs, which ask a model about the parts by await llm(prompt), and keep what
//     they found.
//   - [ReAct] calls tools one at a time and shows the model each result before the
//     next. It needs no sandbox, and suits few calls that each depend on the one before.
//
// One answer is not enough:
//
//   - [BestOfN] and [Refine] make several attempts and take the best;
//     [MultiChainComparison] has a model compare them.
//   - [Parallel] runs a module for many inputs, [Samples] for the same one several
//     times, and [Majority] counts the answers.
//
// Each has a Run, and so is a [Module]; a struct of yours that has one is a module
// too, and works with all of the above. [Compose] accounts for all of its parts, and
// [Tool] lets the programs of another module call it. [Predictors], [Clone], [Save]
// and [Load] find what is in its exported fields.
//
// # What they are made of
//
// Modules are put together of a signature, a model and, where they need them, a
// sandbox and a set of tools; whoever opened those closes them. Any number of runs may
// go on at the same time. A module keeps nothing between runs, except a [Chat], and a
// CodeAct or ProgramOfThought whose Sandbox is a *[sandbox.Session]. What a module does
// depends on its parts:
//
//   - A [Predictor] is the question as the model is asked it. Its fields (the
//     instructions, examples, a hint, the model, how it is asked) may be changed
//     before the first run.
//   - [Options] say how many steps there may be and what goes with every call of the
//     model.
//   - An [Adapter] says how questions are put and replies are read: [Markers],
//     [JSON] or [Native].
//
// Models that retry, keep to a rate or a budget, remember replies or fall back on
// others are made by [github.com/writ-go/writ/module/models]; a module knows nothing
// of it. Scripted models, for tests and for trying without a key, are in
// [github.com/writ-go/writ/module/llmtest].
//
// # What comes back
//
// A [Prediction] is the answer, as a Go value that is valid against the
// signature, and the [Trajectory] that led to it: every [Step] with the model's
// reply, the program, its outcome, what the model was told of it, and what it
// cost; and the effects, which are the tool calls as the record has them.
//
// There is a prediction or an error, never both and never neither. Once the
// model was asked, the error is an [*IncompleteError]. It holds the trajectory,
// since effects may have happened and money was spent, and wraps the reason:
// [ErrMaxIters], [ErrNoAnswer], the context's error, or that of the model, the
// sandbox or a tool. What the model can mend goes back to it instead, as an
// observation: a program that is refused, fails or takes too long, an answer
// that violates the signature, a reply that cannot be read.
//
// While a run goes on, Options.OnEvent is told of every [Event]. [Start], and the
// method Stream of each module, give those of one run, with the model's text as it
// comes:
//
//	for event, err := range predict.Stream(ctx, in).Events() { … }
//
// # How replies are read
//
// Models are asked to put each output under a marker, [[ ## name ## ]], and programs into one
// fenced block. Replies in other forms are read as well: a JSON object in a fence or in prose, lines
// with labels, numbers that are spelled as text, thoughts before the answer. Only the form of
// a reply counts; nobody judges what it says. A reply that was cut off, gives two different answers
// or violates the signature is rejected: the model is told everything that is wrong and asked again.
package module
