// Package models opens language models and wraps them: it asks them again, keeps
// their replies, bounds what they may cost, and says in one way how they fail. Every
// wrapper takes an llms.Model and is one, so that modules know nothing of it.
//
//	package main
//
//	import (
//		"context"
//		"errors"
//		"fmt"
//		"log"
//
//		"github.com/writ-go/writ/module"
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
//		provider, err := models.Open("openai:gpt-5.1", nil) // the key is in OPENAI_API_KEY
//		if err != nil {
//			log.Fatal(err)
//		}
//		cache, err := models.NewCache(&models.CacheOptions{Dir: "replies"})
//		if err != nil {
//			log.Fatal(err)
//		}
//		budget := models.NewBudget(models.Limits{
//			Cost:   2.50,
//			Prices: map[string]models.Price{"gpt-5.1": {Input: 1.25, CachedInput: 0.125, Output: 10}},
//		})
//		limited := models.RateLimit(provider, &models.Rates{RequestsPerMinute: 500})
//		model := cache.Model(budget.Model(limited, "gpt-5.1"), "gpt-5.1 at openai")
//
//		answers := signature.Must(signature.New[Question, Answer]("Answer the question."))
//		pred, err := module.NewPredict(answers, model, nil).Run(context.Background(), Question{"What is a writ?"})
//		if e := (*models.Error)(nil); errors.As(err, &e) && e.Kind == models.KindOverBudget {
//			log.Fatal("that was enough for today: ", e)
//		}
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(pred.Output.Text)
//		fmt.Println("spent:", budget.Spent())
//		fmt.Println("questions:", cache.Stats())
//	}
//
// Any other llms.Model can take the place of the one that [Open] returns, such as
// those of langchaingo.
//
// # Order
//
// Wrappers can be put together in any order, and the order matters. From the
// outside to the inside, this one is right for most:
//
//	cache   → hits use no budget and no rate
//	budget  → what it refuses does not wait for its turn
//	rates   → a question takes its turn
//	retry   → next to the provider; [Open] has it already
//
// To count every attempt by the budget and the rates, put a [Retry] around them and
// open the model with one attempt: RetryOptions{Attempts: 1}.
//
// A [Fallback] stands within the cache and around whole such chains, one for each
// of its models. [Record] stands where the recording is to be made: outside of
// all, it has what the module saw; next to the provider, every attempt.
//
// # Capabilities
//
// A model that [Open] returns states its [Capabilities], and modules use what it can
// do. A wrapper has the capabilities of its model, a [Fallback] those that all of its
// models have, and a [Replay] those that were recorded. A model of langchaingo states
// none.
//
// # Streams
//
// Wrappers pass streams on. [Retry] and [Fallback] don't begin anew once part of a
// reply has been streamed, and what a [Cache] or a recording has comes in one
// piece.
package models
