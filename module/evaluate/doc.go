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
// An [Example] is a question with its expected answer. [Read] supports JSON Lines, JSON and CSV, and [Split] divides a
// set into parts.
//
// # Metrics
//
// A [Metric] is a function that scores an answer and says in words what is wrong. [Judge] asks a model.
//
// [ExactMatch], [TextMatch], [F1], [Contains], [Within], [JSONFields] and [SetMatch] compare outputs with the expected
// ones: those that are named, or all that the expected answer has. If they compare several outputs, the score has the
// value of each as a part. If the answer is wrong, the feedback names the outputs that differ, and ends with
// Example.Note.
//
// # Results
//
// [Evaluate] returns a [Report]: the score with its 95 % interval, every result, latency and usage. A result with
// an error is not a wrong answer: errors are counted separately, and too many of them end the evaluation. [Compare]
// says whether two reports differ by more than chance.
//
// # Agents
//
// An evaluation does not act unless it is told to. If a module has tools with effects, Options.Policy must say what
// happens to their calls: [Fakes] answers them with functions, [Recorded] answers them from a recording, [Refuse] tells
// the model that they are not possible, and [Act] makes them. ExampleFakes in module/evaluate/example_test.go evaluates
// an agent that can refund orders.
package evaluate
