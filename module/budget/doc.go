// Package budget limits what work may use: time, steps, model calls, tokens, money and tool calls.
//
// [With] returns a context with a budget. It binds everything that is done with the context and with contexts derived
// from it: modules and the modules that run as their tools, llm and rlm in the programs of an RLM, each attempt of
// models.Retry and each model of a models.Fallback, an evaluation or an optimization, and models of package models that
// are called directly. Budgets nest: work is charged to all budgets of its context, so an inner budget can only narrow
// an outer one.
//
//	ctx = budget.With(ctx, budget.Limits{
//		Time: time.Minute, Calls: 50, Cost: 0.10,
//		Prices: map[string]budget.Price{"gpt-5.1": {Input: 1.25, CachedInput: 0.125, Output: 10}},
//	})
//	pred, err := m.Run(ctx, in)
//	if errors.Is(err, budget.ErrSpent) { … } // the work was stopped by a limit; an *Error says by which
//	fmt.Println("spent:", budget.Of(ctx).Spent())
//
// # Reservations
//
// A model call reserves the most that it may use before it starts, so that concurrent calls do not exceed a limit
// together: its input, estimated at 4 bytes per token, and the longest reply. How long a reply may be is known from
// llms.WithMaxTokens, or from the options of the model. Otherwise, 16,000 tokens are assumed. While a limit on tokens or
// money leaves less than that, the call waits for calls in progress. If none is left, the call is made with a lower
// llms.WithMaxTokens, as far as the limit allows; if that cuts the reply off, the call fails with an [Error]. To let many
// calls run at the same time within a small budget, set llms.WithMaxTokens.
//
// # What is not charged
//
// Replies from a cache and recorded results are free, and so are the replies that a resumed run gets from its record:
// only budgets that begin within that run count them again, so that the limits of a run hold over all its processes.
//
// Work is not bound if it drops the context's values, for example because a tool starts with context.Background. Nor are
// langchaingo models that are called directly, and not through a module, a wrapper of package models or [Model].
package budget
