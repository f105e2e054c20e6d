// Package evaluate measures how well a module answers a set of examples.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"os"
//
//		"github.com/writ-go/writ/module"
//		"github.com/writ-go/writ/module/evaluate"
//		"github.com/writ-go/writ/module/models"
//		"github.com/writ-go/writ/signature"
//	)
//
//	type Question struct {
//		Text string `json:"question"`
//	}
//
//	type Answer struct {
//		Text string `json:"answer"`
//	}
//
//	func main() {
//		if err := run(context.Background()); err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			os.Exit(1)
//		}
//	}
//
//	func run(ctx context.Context) error {
//		sig, err := signature.New[Question, Answer]("Answer the question in a few words.")
//		if err != nil {
//			return err
//		}
//		examples, err := evaluate.ReadFile("dev.csv", sig, nil) // with the columns question and answer
//		if err != nil {
//			return err
//		}
//		model, err := models.Open("openai:gpt-5.1", nil)
//		if err != nil {
//			return err
//		}
//		metric := evaluate.F1[Question, Answer]()
//		before, err := evaluate.Evaluate(ctx, module.NewPredict(sig, model, nil), examples, metric,
//			&evaluate.Options{Progress: os.Stderr, Results: "predict.jsonl"})
//		if err != nil {
//			return err
//		}
//		fmt.Println(before)
//		after, err := evaluate.Evaluate(ctx, module.NewChainOfThought(sig, model, nil), examples, metric,
//			&evaluate.Options{Progress: os.Stderr, Results: "reasoning.jsonl"})
//		if err != nil {
//			return err
//		}
//		comparison, err := evaluate.Compare(before, after)
//		if err != nil {
//			return err
//		}
//		fmt.Println(comparison) // whether reasoning helps, by how much, and on which examples
//		return nil
//	}
//
// # Examples
//
// An [Example] is a question with its expected answer. [Read] reads examples from JSON Lines, JSON or CSV, and [Split]
// divides a set of examples into parts.
//
// # Metrics
//
// A [Metric] is a function that scores an answer, and that can explain in words what is wrong with it. [Judge] returns
// a metric that asks a model.
//
// The metrics [ExactMatch], [TextMatch], [F1], [Contains], [Within], [JSONFields] and [SetMatch] compare the outputs
// that their arguments name, or all outputs of the expected answer if there are no names. If a metric compares several
// outputs, Score.Parts has the value of each output. If the answer is wrong, Score.Feedback lists the outputs that
// differ and ends with Example.Note.
//
// # Results
//
// [Evaluate] returns a [Report]: the score with its 95% confidence interval, every result, latency and usage. A run
// without an answer counts like a wrong answer. If the network, a provider or the metric fails, the run has no score:
// such errors are counted separately, and too many of them make Evaluate return an error. [Compare] shows whether two
// reports differ by more than chance.
//
// # Agents
//
// An evaluation has no effects unless you permit them. If a module has tools with effects, Options.Policy must decide
// what happens to calls of these tools: [Fakes] calls functions instead, [Recorded] returns recorded results, [Refuse]
// tells the model that the tool cannot be called, and [Act] calls the tool. The example of [Fakes] evaluates an agent
// that can refund orders.
package evaluate
