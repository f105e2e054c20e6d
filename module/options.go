package module

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/search"
)

// Options configures a module. The zero value and nil mean the defaults.
type Options struct {
	// Kind, if set, replaces the kind of module in events and trajectories, such as "Agent" instead of "CodeAct".
	Kind string

	// MaxIters limits the number of steps in a module that works in steps. Each step is one model call. If MaxIters is
	// not positive, the limit is 8 for CodeAct and Chat, 3 for ProgramOfThought, and 20 for ReAct and RLM. Modules that
	// ask only once, such as Predict, ignore it.
	MaxIters int

	// Retries is how often Predict, ChainOfThought and MultiChainComparison ask again if a reply cannot be used. Zero
	// means once, and a negative number never. Modules that work in steps are limited by MaxIters and FreeTurns.
	Retries int

	// Extract adds one step to a run that has used up its steps: the model is asked to answer from what it knows,
	// and [Step.Extracted] is true. Without Extract, such a run ends with [ErrMaxIters].
	Extract bool

	// FreeTurns is how many of the following replies in a run do not count as steps:
	//
	//   - programs that the check rejected, or that only searched for tools
	//   - programs that were stopped because a call resembles an earlier one, or because they had read only parts of
	//     lists before the run's first effect
	//   - replies that cannot be read
	//   - answers that a check of the signature rejects (see [signature.Signature.Check])
	//   - answers that the model is asked to confirm, because facts from the run contradict them (at most three times;
	//     see [Trajectory]), or because earlier programs had effects that the last program did not ask for
	//
	// A repeated reply or program counts as a step. Zero means MaxIters, and a negative number means none.
	FreeTurns int

	// HistoryBytes is the approximate maximum size of the earlier turns in a prompt: those of a Chat, or of a
	// [signature.History]. If they are longer, the oldest turns are left out, and a summary replaces them. The last
	// turn is always shown. If HistoryBytes is not positive, it is 24,000. Modules whose programs have the history as a
	// constant ignore it.
	HistoryBytes int

	// Compact, if set, summarizes the turns that are left out. Each line of earlier is a JSON value: the previous
	// summary, or a turn, as the people and models in the conversation wrote it. A summary longer than maxBytes is cut.
	// If the summary is "", only a note says how many turns are left out. If there is an error, the run continues with
	// the note, and the same turns are part of the next summary. In a recorded run, equal arguments must have equal
	// results, except for the replies of modules that Compact runs with ctx.
	//
	// Nil asks the predictor's model, in a run of its own in the trajectory, with the path of the predictor and
	// "Compact". Summaries are remembered for later runs. [Predictors] does not list this request.
	Compact func(ctx context.Context, earlier string, maxBytes int) (summary string, err error)

	// Journal configures the journal of each run, which records the run's calls. Nil means the defaults.
	Journal *journal.Options

	// DeclarationTokens limits the number of tokens in the prompt's tool declarations. If not all tools can be
	// declared, the limit also covers the declarations of tools that match the question. Zero means the default of
	// declare.New or, in a ReAct, of declare.Markdown.
	DeclarationTokens int

	// LearnedTypes, if set, holds the result types of tools that declare no output schema. A module that runs programs
	// declares the types that are known at the beginning of a run and, except in an evaluation, adds the types of the
	// results that its programs get. Use separate LearnedTypes for separate tenants. If it is nil, the model sees a
	// result's type only in the run in which a program got that result.
	LearnedTypes *declare.LearnedTypes

	// Embedder, if set, lets tools.search find tools by meaning in addition to words, as [search.Index.ByMeaning]
	// describes, and lets programs of an [RLM] compare texts with nearest. To embed tools only once for several
	// modules, share a [search.Cached] embedder.
	Embedder search.Embedder

	// Compiler translates programs to JavaScript; package sandbox/typescript has one for TypeScript. If it has a method
	// Describe() string, the result becomes part of the prompt; otherwise, describe the language in Predictor.Briefing.
	// Nil means that programs are JavaScript.
	Compiler sandbox.Compiler

	// Adapter defines the format of questions and replies; see [Predictor]. Nil is best for most models.
	Adapter Adapter

	// Temperature is sent to the model; see [Predictor]. Nil leaves it to the provider.
	Temperature *float64

	// CallOptions are passed to every model call, such as llms.WithMaxTokens(4000).
	CallOptions []llms.CallOption

	// OnEvent, if set, is called for the events of every run, with the run's context. Calls may be concurrent, and the
	// run waits for each of them, so OnEvent should return soon. To watch a single run, use [Observe] or [Start].
	OnEvent func(context.Context, event.Event)

	// Logger logs failures of Embedder and, once for each set of tools, [tools.Set.Warnings]. Nil means
	// slog.Default().
	Logger *slog.Logger
}

// orDefault returns a copy in which the limits that are not set have their defaults. The default of MaxIters is iters.
func (o *Options) orDefault(iters int) Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.MaxIters <= 0 {
		c.MaxIters = iters
	}
	c.Embedder = search.Cached(c.Embedder)
	c.FreeTurns = max(cmp.Or(c.FreeTurns, c.MaxIters), 0)
	return c
}

func (o *Options) logWarnings(set *tools.Set) { set.LogWarnings(cmp.Or(o.Logger, slog.Default())) }

// predictor returns a Predictor with the options, but without a Spec.
func (o *Options) predictor(model llms.Model) *Predictor {
	if o == nil {
		o = &Options{}
	}
	return &Predictor{
		Model: model, Adapter: o.Adapter, Temperature: o.Temperature, CallOptions: o.CallOptions,
		onEvent: o.OnEvent, kind: o.Kind, retries: o.Retries,
		compaction: compaction{cmp.Or(max(o.HistoryBytes, 0), 24_000), o.Compact, &lm.Memo{}},
	}
}
