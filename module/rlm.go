package module

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// RLM answers questions about more text than a model can read: the inputs are
// variables of programs, the model is shown only what they are and how long, and
// its programs take them apart and have the parts read by a model, by
// await llm(prompt), as many at the same time as they like. Programs see each
// other's variables. In all else it is a [CodeAct]. It is safe for concurrent use.
//
// A program has to wait for the models that it asks: give the sandbox
// Limits.Time for that, and Limits.Output for long prompts, of which that is the
// limit. An answer that was paid for is not lost when its program fails: the same
// prompt again is given it.
//
// The method is that of Zhang, Kraska and Khattab, "Recursive Language Models"
// (2025).
type RLM[In, Out any] struct {
	// Predictor is the question for the next program.
	Predictor *Predictor

	// Sub is how llm asks: the prompt is the question as it is, and the reply is
	// the answer as it is.
	Sub *Predictor

	// Nested works out what programs delegate to rlm. It is nil if Depth is 1.
	Nested *RLM[subTask, subReply]

	coder[In, Out]
	opened *sandbox.Sandbox
	most   RLMOptions
}

// RLMOptions configures an [RLM]. The zero value, and nil, are the defaults.
type RLMOptions struct {
	// Options are those of all modules. MaxIters is 20 by default, and
	// CallOptions go with the questions for programs alone.
	Options

	// Sub answers llm, and usually is a cheaper model. Nil is the module's own.
	Sub llms.Model

	// MaxCalls is how often models may be asked on behalf of the programs of a run,
	// whoever asks: llm, rlm and what goes on in it, and modules that tools run.
	// Zero, or less, is 50.
	MaxCalls int

	// MaxTokens is how many tokens those calls may take together, prompts and
	// replies. What is not asked any more is a prompt that would not fit; replies
	// under way may exceed it. A provider that does not tell is reckoned to use a
	// token for four bytes. Zero, or less, is no limit.
	MaxTokens int

	// Depth is how deep runs are nested. With 1, which is the default, llm is all
	// that programs have. With 2 they also have rlm({prompt, context}): a run with
	// the context as its variable, by the model Sub, without the tools of the set,
	// whose programs have llm; and so on. A program that waits for another run keeps
	// its worker: the sandbox's Options.Workers should be at least the runs at the
	// same time, times Depth.
	Depth int

	// Concurrency is how many of the calls are made at the same time, the others
	// wait. Zero, or less, is the sandbox's Limits.Concurrency.
	Concurrency int
}

func (o *RLMOptions) orDefault(limits sandbox.Limits) RLMOptions {
	var c RLMOptions
	if o != nil {
		c = *o
	}
	c.Options = c.Options.orDefault(20)
	c.MaxCalls, c.MaxTokens, c.Depth = max(c.MaxCalls, 0), max(c.MaxTokens, 0), max(c.Depth, 1)
	c.MaxCalls = cmp.Or(c.MaxCalls, 50)
	c.Concurrency = max(cmp.Or(max(c.Concurrency, 0), limits.Concurrency), 1)
	return c
}

// NewRLM returns a module that answers sig by programs which may ask models and
// call the tools of set, nil for none. The set's policies stand around llm and rlm,
// too. Nil options are the defaults. What is missing or does not fit together, Run
// says before it asks the model anything.
func NewRLM[In, Out any](sig *signature.Signature[In, Out], model llms.Model, box *sandbox.Sandbox, set *tools.Set, o *RLMOptions) *RLM[In, Out] {
	var limits sandbox.Limits
	if box != nil {
		limits = box.Limits()
	}
	options := o.orDefault(limits)
	m := &RLM[In, Out]{opened: box, most: options}
	own, err := withModels(set, options.Depth)
	c := coder[In, Out]{name: "RLM", signature: sig, bench: bench{box: box, set: own, options: options.Options, session: true}}
	if m.Predictor, m.coder = newCoder(c, model, briefing{extra: strategy(options, limits)}); err != nil {
		m.err = err
	}
	if m.err != nil {
		return m
	}
	m.Sub = subPredictor(cmp.Or(options.Sub, model), options.OnEvent)
	if options.Depth > 1 {
		inner := options
		inner.Depth--
		inner.CallOptions = nil // they are meant for another model
		m.Nested = NewRLM(delegated, m.Sub.Model, box, nil, &inner)
	}
	return m
}

// withModels adds the models that programs ask to their tools.
func withModels(set *tools.Set, depth int) (*tools.Set, error) {
	set, err := set.Plus(llmTool)
	if err == nil && depth > 1 {
		set, err = set.Plus(rlmTool)
	}
	if err != nil {
		return nil, fmt.Errorf("module: programs of an RLM have a function of that name: %w", err)
	}
	return set, nil
}

func subPredictor(model llms.Model, onEvent func(Event)) *Predictor {
	return &Predictor{Spec: subQuestion.Spec(), Briefing: subBriefing, Model: model, Adapter: verbatim{}, onEvent: onEvent}
}

// Run asks for programs and runs them until an answer is submitted. It returns
// what [CodeAct.Run] does. What the programs paid to models is in
// Trajectory.Spent, and the runs of rlm in Trajectory.Attempts.
//
// A budget that is spent is a ToolError of kind "budget" for the program, which
// may go on without.
func (m *RLM[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	if m == nil {
		return nil, errNotMade
	}
	c := m.coder
	if c.made() == nil {
		if err := m.Sub.usable(); err != nil {
			return nil, err
		}
		calls := &subCalls{budget: newBudget(ctx, m.most), sub: m.Sub, nested: m.Nested, turn: make(chan struct{}, 1)}
		c.box, c.runs, c.left = &notebook{box: m.opened, calls: calls}, calls.runs, calls.left
	}
	act := CodeAct[In, Out]{m.Predictor, c}
	return act.Run(ctx, in)
}

// Stream is Run, of which one can see what happens: see [Start].
func (m *RLM[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, m, in)
}
