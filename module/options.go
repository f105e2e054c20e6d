package module

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/journal"
)

// Options configures a module. The zero value, and nil, are the defaults.
type Options struct {
	// MaxIters limits the steps of a module that works in steps, each of which is one model call. If it
	// is not positive, the limit is 8 for CodeAct and Chat, 3 for ProgramOfThought, and 20 for ReAct and
	// RLM. Predict ignores it.
	MaxIters int

	// Extract asks the model for an answer from what it knows when the steps are used up. Otherwise that
	// is an error. [Step.Extracted] marks the additional step.
	Extract bool

	// FreeTurns is how many replies of a run do not count as steps:
	//
	//   - programs that the check refused, that only searched for tools, or that were stopped because a
	//     call resembles an earlier one, or before the first effect because they read lists in part
	//   - replies that cannot be read
	//   - answers that the model is asked to confirm, because facts of the run contradict them (at most three
	//     times; see [Trajectory]), or because earlier programs had effects that the last program did not ask for
	//
	// A repeated reply or program counts as a step. Zero means MaxIters, and a negative number means none.
	FreeTurns int

	// HistoryBytes is the approximate maximum size of the earlier turns in the prompt of a Chat. The last turn is always
	// shown. If HistoryBytes is not positive, it is 24,000.
	HistoryBytes int

	// Journal configures the record of each run's calls. Nil means the defaults.
	Journal *journal.Options

	// DeclarationTokens limits the tokens of the tool declarations in the prompt, with those of the tools that match
	// the question if not all can be declared. Zero means the default of declare.New, and of declare.Markdown in ReAct.
	DeclarationTokens int

	// LearnedTypes, if set, are the types of results of tools that declare no output schema. The modules that run
	// programs declare the types that are known when a run begins, and add what they see, except in an evaluation.
	// Use different ones for different tenants. Without LearnedTypes, a type is shown only in the run that has seen it.
	LearnedTypes *declare.LearnedTypes

	// Compiler translates programs to JavaScript: sandbox/typescript does so for TypeScript.
	// If it has a method Describe() string, the prompt includes the result; otherwise describe the language in
	// Predictor.Briefing. Nil means that programs are JavaScript.
	Compiler sandbox.Compiler

	// Adapter is the form of questions and replies; see [Predictor]. Nil is best for most models.
	Adapter Adapter

	// Temperature is sent to the model; see [Predictor]. Nil leaves it to the provider.
	Temperature *float64

	// CallOptions are passed to every call of the model, such as llms.WithMaxTokens(4000).
	CallOptions []llms.CallOption

	// OnEvent, if set, is called for the events of every run, with the context of the run. Runs and tool
	// calls call it concurrently, and wait for it, so it should return soon. [Observe] and [Start] are for
	// a single run.
	OnEvent func(context.Context, Event)

	// Logger logs [tools.Set.Warnings] when a module is made. Nil means slog.Default().
	Logger *slog.Logger
}

// orDefault returns a copy with the default limits of a module.
func (o *Options) orDefault(iters int) Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.MaxIters <= 0 {
		c.MaxIters = iters
	}
	c.FreeTurns = max(cmp.Or(c.FreeTurns, c.MaxIters), 0)
	return c
}

func (o *Options) logWarnings(set *tools.Set) {
	for _, w := range set.Warnings() {
		cmp.Or(o.Logger, slog.Default()).Warn(w)
	}
}

// predictor returns a predictor without a spec.
func (o *Options) predictor(model llms.Model) *Predictor {
	if o == nil {
		o = &Options{}
	}
	return &Predictor{
		Model: model, Adapter: o.Adapter, Temperature: o.Temperature, CallOptions: o.CallOptions,
		onEvent: o.OnEvent,
	}
}

// declarations returns the tools of a set as Markdown for a model.
func (o Options) declarations(set *tools.Set) string {
	return declare.Markdown(set, o.DeclarationTokens)
}
