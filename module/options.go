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
	// MaxIters is how many steps a module that works in steps may take, each
	// one call of the model. Zero, or less, is the module's own default: 8 for
	// CodeAct and Chat, 3 for ProgramOfThought, 20 for ReAct and RLM. Predict ignores it.
	MaxIters int

	// Extract asks the model once more, when the steps are used up, for an answer
	// from what is known; without it that is an error. [Step.Extracted]
	// marks that step.
	Extract bool

	// FreeTurns is how many replies of a run do not count as steps:
	//
	//   - programs that the check refused, that only looked for tools, or that were stopped
	//     because a call resembles an earlier one
	//   - replies that cannot be read
	//   - an answer that is asked for once more, because it may rest on values that were not
	//     there, or because earlier programs did what the last one did not call
	//
	// The same reply or program again counts as a step. Zero means as many as MaxIters, and a
	// negative number none.
	FreeTurns int

	// Journal configures the record of each run's calls. Nil is the defaults.
	Journal *journal.Options

	// DeclarationTokens is how many tokens the declarations of the tools may take
	// in the prompt. Zero is the default of declare.Markdown.
	DeclarationTokens int

	// Compiler translates programs to JavaScript: sandbox/esbuild does so for TypeScript
	// and imports of npm packages. If it is a [sandbox.Describer], the prompt says what it
	// does; otherwise say so in Predictor.Briefing. Nil means that programs are JavaScript.
	Compiler sandbox.Compiler

	// Adapter is how questions are put and replies are read: see [Predictor]. Nil is right
	// for most.
	Adapter Adapter

	// Temperature is what the model is asked for: see [Predictor]. Nil leaves it to
	// the provider.
	Temperature *float64

	// CallOptions go with every call of the model, such as
	// llms.WithMaxTokens(4000).
	CallOptions []llms.CallOption

	// OnEvent, if set, is told what happens in every run. It is called
	// concurrently, by tool calls and by other runs, and should return soon: the
	// run waits for it. The context is that of the run. [Observe] and [Start] are for a
	// single run.
	OnEvent func(context.Context, Event)

	// Logger is told, when a module is made, what [tools.Set.Warnings] has to
	// say of its tools. Nil is slog.Default().
	Logger *slog.Logger
}

// orDefault returns a copy in which a module's own default is filled in.
func (o *Options) orDefault(iters int) Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.MaxIters <= 0 {
		c.MaxIters = iters
	}
	if c.FreeTurns = cmp.Or(c.FreeTurns, c.MaxIters); c.FreeTurns < 0 {
		c.FreeTurns = 0
	}
	return c
}

func (o *Options) warn(set *tools.Set) {
	for _, w := range set.Warnings() {
		cmp.Or(o.Logger, slog.Default()).Warn(w)
	}
}

// predictor makes the question of a module.
func (o *Options) predictor(model llms.Model) *Predictor {
	return &Predictor{
		Model: model, Adapter: o.Adapter, Temperature: o.Temperature, CallOptions: o.CallOptions,
		onEvent: o.OnEvent,
	}
}

// declarations shows the tools of a set to a model, as Markdown.
func (o Options) declarations(set *tools.Set) string {
	return declare.Markdown(set, o.DeclarationTokens)
}
