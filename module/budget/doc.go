// Package budget limits what work may use: time, steps, model calls, tokens, money and tool calls.
//
// [With] returns a context with a budget, which binds everything that is done with that context and with contexts
// derived from it: modules and the modules that run as their tools, llm and rlm in programs of an RLM, every attempt of
// models.Retry and every model of a models.Fallback, evaluations, optimizations, and direct calls of models of package
// models. Work is charged to all budgets of its context, so an inner budget can only narrow an outer one.
//
// A model call reserves the most that it may use before it starts, so that concurrent calls do not exceed a limit
// together: its input, estimated at 4 bytes per token, and the longest reply. The longest reply is known from
// llms.WithMaxTokens or the model's options; otherwise, 16,000 tokens are assumed. While a limit of tokens or money
// leaves less, the call waits for calls in progress. If no call is in progress, it is made with a lower
// llms.WithMaxTokens, and if that cuts the reply off, it fails with an [Error]. To run many calls at once in a small
// budget, set llms.WithMaxTokens.
//
// Replies from a cache and recorded results of tools are free. When a run is resumed, only budgets that began within
// the run count what is recorded, and what the tools of recorded calls have used, so that the run's limits hold over
// all its processes.
//
// Work is not bound if it drops the values of its context, as with context.Background. Nor are langchaingo models that
// are called directly, and not through a module, a wrapper of package models, or [Model].
package budget
