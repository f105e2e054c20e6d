// Package models opens language models and wraps them with retries, rate limits, fallbacks and stores of
// replies. Every wrapper takes an llms.Model and returns one, and all errors have one form, [Error].
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
//		"github.com/writ-go/writ/module/budget"
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
//		cache, err := models.OpenStore(&models.StoreOptions{Path: "replies.jsonl"})
//		if err != nil {
//			log.Fatal(err)
//		}
//		limited := models.RateLimit(provider, &models.Rates{RequestsPerMinute: 500})
//		model := cache.Model(limited, "gpt-5.1 at openai")
//		ctx := budget.With(context.Background(), budget.Limits{
//			Cost:   2.50,
//			Prices: map[string]budget.Price{"gpt-5.1": {Input: 1.25, CachedInput: 0.125, Output: 10}},
//		})
//
//		answers := signature.Must(signature.New[Question, Answer]("Answer the question."))
//		pred, err := module.NewPredict(answers, model, nil).Run(ctx, Question{"What is a writ?"})
//		if errors.Is(err, budget.ErrSpent) {
//			log.Fatal("the budget is spent: ", err)
//		}
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(pred.Output.Text)
//		fmt.Println("spent:", budget.Of(ctx).Spent())
//		fmt.Println("requests:", cache.Stats())
//	}
//
// langchaingo models can be used instead of the ones that [Open] returns.
//
// # Order
//
// Wrappers can be combined in any order, and the order matters. From the outside to the
// inside, this order suits most programs:
//
//	cache   → hits do not count against the rates
//	rates   → calls wait
//	retry   → next to the provider; included in [Open]
//
// To count every attempt against the rates, put a [Retry] around these wrappers and open the model with one attempt:
// RetryOptions{Attempts: 1}. Budgets (package budget) are charged for every attempt, whatever the order.
//
// Put a [Fallback] inside the cache and around complete chains, one for each of its models. A [Store] with the mode
// [Resume] around all other wrappers has the requests and replies that the module saw; next to the provider, it has
// every attempt.
//
// # Capabilities
//
// A model opened with [Open] states its [Capabilities], and modules use them. A wrapper has the capabilities of its
// model, a [Fallback] has the capabilities that all of its models share, and a model opened with [Replay] has the
// capabilities that its file records. Models of langchaingo do not state capabilities.
//
// # Custom providers
//
// An llms.Model of your own reports its usage in the GenerationInfo of a choice:
//
//	PromptTokens              the whole prompt, including its cached part
//	CompletionTokens          everything generated, including reasoning
//	ReasoningTokens           the part of the output that was reasoning
//	PromptCachedTokens        the part of the prompt read from the provider's cache
//	CacheCreationInputTokens  the part of the prompt written to that cache
//	writ:model                the name of the model that answered, a string
//	writ:id                   the provider's id of the reply, a string
//	writ:message              a *[Message], if the provider needs the reply back in the next turn
//
// Without counts, a budget estimates them. docs/models.md has a complete provider.
//
// # Streams
//
// Wrappers pass streams on. [Retry] and [Fallback] do not start again once part of a reply
// has been streamed. A [Store] delivers a stored reply in one piece.
package models
