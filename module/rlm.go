package module

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// RLM answers questions about more text than a model can read. The inputs are
// variables of programs; the model is shown how long they are, and of long ones only
// a part. Its programs take them apart and ask a model about the parts by
// await llm(prompt), or about many at the same time by await llm([prompt, …]). Programs
// see each other's variables. Otherwise it is a [CodeAct]. It is safe for concurrent use.
//
// The sandbox's limits need no changes: a program waits for the models that it
// asks, so its time limit is a minute longer for every Concurrency calls of MaxCalls, and its
// arguments may have 4 MiB. Calls of llm and rlm count against MaxCalls; calls beyond MaxCalls
// also count against Limits.Calls. Within a run, the same prompt has the same answer, which is
// paid for once.
//
// The method is that of Zhang, Kraska and Khattab, "Recursive Language Models"
// (2025).
type RLM[In, Out any] struct {
	// Predictor is the question for the next program.
	Predictor *Predictor

	// Sub is how llm asks: the prompt is sent unchanged, and the reply is returned
	// unchanged.
	Sub *Predictor

	// Nested works out what programs delegate to rlm: its programs submit
	// {reply: string}, and that text is what rlm gives. It is nil if Depth is 1.
	Nested *RLM[SubTask, SubReply]

	coder   coder[In, Out]
	box     *sandbox.Sandbox // which has sessions
	limits  sandbox.Limits   // of each program
	options RLMOptions
}

// RLMOptions configures an [RLM]. The zero value, and nil, are the defaults.
type RLMOptions struct {
	// Options are those of all modules. MaxIters is 20 by default, and
	// CallOptions go with the questions for programs alone.
	Options

	// Sub answers llm, and usually is a cheaper model. Nil is the module's own.
	Sub llms.Model

	// MaxCalls is how often models may be asked on behalf of the programs of a run:
	// by llm, in runs of rlm, and by modules that tools run. Zero, or less, is 50.
	//
	// In addition to the sandbox's Limits.Calls, one program may call llm so many times,
	// and rlm so many times, each at most 10,000 times. Here, calls that cost nothing
	// count, too.
	MaxCalls int

	// MaxTokens is how many tokens those calls may take together, prompts and
	// replies. A prompt that would not fit is not sent; replies under way may exceed
	// the limit. If a provider does not report usage, four bytes count as a token.
	// Zero, or less, is no limit.
	MaxTokens int

	// Depth is how deep runs are nested. With 1, the default, programs can ask models
	// only by llm. With 2 they also have rlm({prompt, context}): a run by the model
	// Sub, with the context as its variable and without the tools of the set. Its
	// programs have llm and submit {reply: string}; that text is what rlm gives.
	// A program that waits for another run occupies its worker: the sandbox's
	// Options.Workers should be at least Depth times the runs at the same time.
	Depth int

	// Concurrency is how many of the calls are made at the same time; the others
	// wait. Zero, or less, is the sandbox's Limits.Concurrency, which bounds each
	// program in any case.
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

// strategy is what the model is told of calling models.
func (o RLMOptions) strategy() string {
	return prompt.RLM{Calls: o.MaxCalls, Tokens: o.MaxTokens, Nested: o.Depth > 1}.String()
}

// maxFree bounds what a program costs this process that asks on and on, where
// MaxCalls does not.
const maxFree = 10_000

// free is how many calls a program may make besides those that the sandbox counts:
// as many as can be answered, those included that were answered before.
func (o RLMOptions) free() map[string]int {
	most := min(o.MaxCalls, maxFree)
	free := map[string]int{"llm": most}
	if o.Depth > 1 {
		free["rlm"] = most
	}
	return free
}

// NewRLM returns a module that answers sig by programs which may ask models and
// call the tools of set, nil for none. The set's policies stand around llm and rlm,
// too. Its programs run in sessions, which only a *[sandbox.Sandbox] has. Nil
// options are the defaults. Run reports what is missing or does not fit together,
// before it asks the model.
func NewRLM[In, Out any](sig *signature.Signature[In, Out], model llms.Model, box *sandbox.Sandbox, set *tools.Set, o *RLMOptions) *RLM[In, Out] {
	var limits sandbox.Limits
	if box != nil {
		limits = box.Limits()
	}
	options := o.orDefault(limits)
	limits, err := options.programs(limits)
	own, clash := withModels(set, options.Depth)
	m := &RLM[In, Out]{box: box, options: options, limits: limits, coder: coder[In, Out]{
		name: "RLM", signature: sig, err: cmp.Or(clash, err), kit: kit{box: box, set: own, options: options.Options, session: true},
	}}
	m.Predictor = m.coder.question(model, options.strategy())
	if m.coder.err != nil {
		return m
	}
	m.Sub = subPredictor(cmp.Or(options.Sub, model), options.OnEvent)
	if options.Depth > 1 {
		m.Nested = NewRLM(taskQuestion, m.Sub.Model, box, nil, options.nested())
	}
	return m
}

// nested are the options of the runs of rlm.
func (o RLMOptions) nested() *RLMOptions {
	o.Depth--
	o.CallOptions = nil // they are meant for another model
	return &o
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

func subPredictor(model llms.Model, onEvent func(context.Context, Event)) *Predictor {
	return &Predictor{Spec: subQuestion.Spec(), Briefing: prompt.Sub, Model: model, Adapter: verbatim{}, onEvent: onEvent}
}

// Run asks for programs and runs them until an answer is submitted. It returns
// what [CodeAct.Run] does. What the programs paid to models is in
// Trajectory.Spent, and the runs of rlm in Trajectory.Runs.
//
// A budget that is spent is a ToolError of kind "budget" for the program, which
// may go on without.
func (m *RLM[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of RLM", &err)
	switch {
	case m == nil || m.coder.name == "":
		return nil, notMade("RLM")
	case ctx == nil:
		return nil, errNoContext
	}
	c := m.coder
	if c.made() == nil {
		if err := m.usable(); err != nil {
			return nil, err
		}
		calls := &subCalls{budget: newBudget(ctx, m.options), sub: m.Sub, nested: m.Nested, turn: make(chan struct{}, 1)}
		c.box, c.budget = &asking{&notebook{box: m.box}, calls, m.options.free(), m.limits}, calls.budget.left
	}
	c.uncounted = m.options.free()
	act := CodeAct[In, Out]{Predictor: m.Predictor, coder: c}
	return act.Run(ctx, in)
}

// usable says what keeps an RLM, and those nested in it, from asking.
func (m *RLM[In, Out]) usable() error {
	for _, p := range []*Predictor{m.Predictor, m.Sub} {
		if err := p.usable(); err != nil {
			return err
		}
	}
	if m.Nested == nil {
		return nil
	}
	return m.Nested.usable()
}

// Stream is Run with its events; see [Start].
func (m *RLM[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, m, in)
}
