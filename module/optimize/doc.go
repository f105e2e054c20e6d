// Package optimize improves modules with examples: it searches for better instructions and demos, and returns a clone
// of the module with the best that it found.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//		"os"
//
//		"github.com/writ-go/writ/module"
//		"github.com/writ-go/writ/module/evaluate"
//		"github.com/writ-go/writ/module/models"
//		"github.com/writ-go/writ/module/optimize"
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
//	type Example = evaluate.Example[Question, Answer]
//
//	func exact(_ context.Context, e Example, got *module.Prediction[Answer]) (module.Score, error) {
//		if got.Output.Text == e.Want.Text {
//			return module.Score{Value: 1}, nil
//		}
//		return module.Score{Feedback: "The answer is " + e.Want.Text}, nil
//	}
//
//	func main() {
//		model, err := models.Open("openai:gpt-5.1", nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		sig := signature.Must(signature.New[Question, Answer]("Answer the question."))
//		examples := []Example{{In: Question{"What is 1 + 1?"}, Want: Answer{"2"}}} // and 100 more
//		sets, err := evaluate.Split(examples, 1, 0.3, 0.4, 0.3)
//		if err != nil {
//			log.Fatal(err)
//		}
//		result, err := optimize.Run(context.Background(), module.NewChainOfThought(sig, model, nil),
//			optimize.BootstrapFewShot{}, optimize.Data[Question, Answer]{Train: sets[0], Val: sets[1]}, exact,
//			&optimize.Options{Budget: optimize.Budget{StudentCalls: 300}, Dir: "search", Progress: os.Stderr})
//		if err != nil {
//			log.Fatal(err)
//		}
//		if err := module.Save(os.Stdout, result.Module); err != nil {
//			log.Fatal(err)
//		}
//		report, err := evaluate.Evaluate(context.Background(), result.Module, sets[2], exact, nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(report.Score)
//	}
//
// # Which optimizer
//
//   - [LabeledFewShot] shows the model examples as they are. It costs almost nothing; try it first.
//   - [BootstrapFewShot] shows the model successful runs, with their reasoning, for every predictor of a module.
//   - [BootstrapRandomSearch] tries many such sets of demos and keeps the best.
//   - [GEPA] rewrites instructions with a model that reads what went wrong. It needs a metric with feedback, but only
//     few examples.
//   - [MIPROv2] searches for instructions and demos together. It needs a budget of a few hundred calls.
//   - [KNNFewShot] shows the model the examples that are most similar to each question.
//   - [Ensemble] asks several modules, such as the best ones that a search has found, and takes a vote.
//
// DSPy's COPRO, SIMBA and BetterTogether are left out on purpose: in practice, GEPA has replaced them.
//
// # Programs instead of agents
//
// [Compile] turns the steps that an agent repeats into a program. Some of the held-out examples choose the program, and
// the others test it once, so that the reported score is not the best of several; the report also says how many answers
// may nevertheless be wrong.
//
// # A fake reflection model
//
// In a test, Options.Reflection can be llmtest.New("<instructions>Be brief.</instructions>", …): a reply has the
// complete new text between these tags. If there are several, the last block counts. A reply with one fenced block, or
// with nothing but the text, is accepted as well. If a reply has no usable text, the model is asked once more.
//
// # What a search does
//
// [Run] runs an optimizer. The original module is the first candidate; another candidate replaces it only if it scores
// better on Val. With Options.Dir, every reply of a model is logged when it arrives. A search that was killed continues
// when it is run again: it takes the same steps as before, and no reply in the log is paid for twice.
package optimize
