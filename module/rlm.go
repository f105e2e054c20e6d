package module

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/notebook"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// RLM answers questions about more text than a model can read. Programs have the inputs as variables; the model that
// writes the programs sees the length of each input, but only part of a long one. The programs take the inputs apart
// and ask a model about the parts: about one part with await llm(prompt), or about many at the same time with await
// llm([prompt, …]). With an Embedder, await nearest({query, texts}) finds parts by their meaning. Programs can use
// earlier programs' variables. Otherwise an RLM works like a [CodeAct]. It is safe
// for concurrent use.
//
// There is no need to raise the sandbox's limits. Since a program waits for the models that it calls, its time limit
// is extended by MaxCalls/Concurrency minutes, and the arguments of a call and its result may each take 1/16 of the
// sandbox's Limits.Memory. Calls of llm and rlm (see [RLMOptions].Depth) count against MaxCalls first, and against the
// sandbox's Limits.Calls after that. Within a run, a repeated prompt gets the same reply and is paid for once.
//
// The method was published by Zhang, Kraska and Khattab, "Recursive Language Models" (2025).
type RLM[In, Out any] struct {
	// Predictor asks for the next program.
	Predictor *Predictor

	// Sub answers calls to llm. The prompt is sent unchanged, and the reply is returned unchanged.
	Sub *Predictor

	// Nested answers calls to rlm: its programs submit {reply: string}, and rlm returns that string. Nested is nil if
	// Depth is 1.
	Nested *RLM[subTask, subReply]

	coder   coder[In, Out]
	box     *sandbox.Sandbox
	options RLMOptions
}

// RLMOptions configures an [RLM]. The zero value and nil mean the defaults.
type RLMOptions struct {
	// Options are the options that every module has. MaxIters is 20 by default. CallOptions apply only to the model
	// that writes the programs.
	Options

	// Sub is the model that answers calls to llm, usually a cheaper one. Nil means the model that writes the programs.
	Sub llms.Model

	// MaxCalls limits the model calls that the programs of a run cause, including failed attempts: through llm, in runs
	// of rlm, and through modules that tools run. If it is not positive, the limit is 50.
	//
	// One program may call llm and rlm MaxCalls times each, but at most 10,000 times, in addition to the calls that the
	// sandbox's Limits.Calls allows. Repeated prompts cost nothing, but count as calls by the program.
	MaxCalls int

	// MaxTokens limits the tokens in these model calls, prompts and replies together, as [budget.Limits] describes:
	// calls wait while calls in progress may use the rest. If MaxTokens is not positive, there is no limit.
	MaxTokens int

	// Depth is the number of nesting levels. With 1, the default, programs have only llm. With 2, they also have
	// rlm({prompt, context}), which runs an RLM that has the model Sub, the context as its variable, and no tools; its
	// programs have llm. While a program waits only for nested runs, the time does not count against its limit.
	Depth int

	// Concurrency limits the model calls that are made at the same time; further calls wait. If it is not
	// positive, the limit is Limits.Concurrency of the sandbox, which limits each program in any case.
	Concurrency int
}

func (o *RLMOptions) orDefault(limits sandbox.Limits) RLMOptions {
	var c RLMOptions
	if o != nil {
		c = *o
	}
	c.Options = c.Options.orDefault(20)
	c.MaxCalls, c.MaxTokens, c.Depth = cmp.Or(max(c.MaxCalls, 0), 50), max(c.MaxTokens, 0), max(c.Depth, 1)
	c.Concurrency = max(cmp.Or(max(c.Concurrency, 0), limits.Concurrency), 1)
	return c
}

func (o RLMOptions) budget() budget.Limits {
	return budget.Limits{Calls: o.MaxCalls, Tokens: o.MaxTokens, Concurrency: o.Concurrency}
}

func (o RLMOptions) strategy() prompt.RLM {
	return prompt.RLM{Calls: o.MaxCalls, Tokens: o.MaxTokens, Nested: o.Depth > 1, Nearest: o.Embedder != nil}
}

// uncounted returns how often a program may call llm and rlm in addition to the sandbox's Limits.Calls.
func (o RLMOptions) uncounted() map[string]int {
	const limit = 10_000 // limits the work that a program can cause with repeated prompts
	calls := map[string]int{llmTool.Name: min(o.MaxCalls, limit)}
	if o.Depth > 1 {
		calls[rlmTool.Name] = calls[llmTool.Name]
	}
	return calls
}

// NewRLM returns a module that answers sig with programs that may call models and the tools in set; a nil set has no
// tools. The set's policies also apply to llm and rlm. The programs run in sessions, so box must be a
// *[sandbox.Sandbox]. Nil options mean the defaults. Run reports missing or incompatible parts before it calls the
// model.
func NewRLM[In, Out any](
	sig *signature.Signature[In, Out], model llms.Model, box *sandbox.Sandbox, set *tools.Set, o *RLMOptions,
) *RLM[In, Out] {
	m := &RLM[In, Out]{box: box}
	m.coder = coder[In, Out]{name: "RLM", signature: sig, environment: environment{box: box, session: true}}
	c := &m.coder
	if box != nil {
		c.limits = box.Limits()
	}
	m.options = o.orDefault(c.limits)
	c.options, c.uncounted = m.options.Options, m.options.uncounted()
	c.set, c.err = withModels(set, m.options)
	if c.limits != (sandbox.Limits{}) && c.err == nil { // otherwise there is no sandbox
		c.limits, c.err = m.options.programs(c.limits)
	}
	if m.Predictor = c.question(model, m.options.strategy().String()); c.err != nil {
		return m
	}
	m.Sub = c.options.sub(cmp.Or(m.options.Sub, model))
	m.Sub.Adapter = prompt.Verbatim{}
	if nested := m.options; nested.Depth > 1 {
		nested.Depth--
		nested.CallOptions = nil // they are meant for another model
		m.Nested = NewRLM(taskQuestion, m.Sub.Model, box, nil, &nested)
	}
	return m
}

// withModels adds llm, rlm and nearest to the programs' tools.
func withModels(set *tools.Set, o RLMOptions) (*tools.Set, error) {
	set, err := set.Plus(llmTool)
	if err == nil && o.Depth > 1 {
		set, err = set.Plus(rlmTool)
	}
	if err == nil && o.Embedder != nil {
		set, err = set.Plus(nearestTool(o.Embedder))
	}
	if err != nil {
		return nil, fmt.Errorf("module: cannot add the functions of an RLM to the tools: %w", err)
	}
	return set, nil
}

// Run asks for programs and runs them until one submits an answer. It returns what [CodeAct.Run] returns. The usage of
// llm is in Trajectory.Spent, and runs of rlm are in Trajectory.Runs.
//
// A program that calls a model when the budget is used up gets a ToolError of the kind "budget", and may continue
// without the model.
func (m *RLM[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of RLM", &err)
	switch {
	case m == nil || m.coder.name == "":
		return nil, notMade("RLM")
	case ctx == nil:
		return nil, errNoContext
	case m.coder.err != nil:
		return nil, m.coder.err
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	limit, within := m.options.strategy(), budget.With(lm.CountAll(ctx, true), m.options.budget())
	calls := &subCalls{
		budget: lm.MeterOf(within), width: m.options.Concurrency,
		room: int64(m.coder.limits.Result / 2), sub: m.Sub, nested: m.Nested,
	}
	act := CodeAct[In, Out]{Predictor: m.Predictor, coder: m.coder}
	act.coder.box = &rlmSession{notebook.New(m.box), calls, act.coder.uncounted, act.coder.limits}
	act.coder.budget = func() string {
		left := budget.Of(within).Left()
		return limit.Left(left.Calls, left.Tokens)
	}
	return act.Run(ctx, in)
}

// usable returns an error if the RLM, or an RLM nested in it, cannot run.
func (m *RLM[In, Out]) usable() error {
	if err := cmp.Or(m.Predictor.usable(), m.Sub.usable()); err != nil || m.Nested == nil {
		return err
	}
	return m.Nested.usable()
}

// rlmSession is the session in which a run's programs call models.
type rlmSession struct {
	*notebook.Notebook
	calls     *subCalls
	uncounted map[string]int
	limits    sandbox.Limits
}

// Limits returns each program's limits.
func (s *rlmSession) Limits() sandbox.Limits { return s.limits }

// Run runs the next program. The inputs are sent once, to the session, and not with every program.
func (s *rlmSession) Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	inputs := p.Inputs
	p.Inputs, p.Uncounted, p.Limits = nil, s.uncounted, s.limits
	p.Limits.Memory = 0 // zero means the sandbox's limit
	ctx = context.WithValue(lm.WithMeter(ctx, s.calls.budget), subCallsKey{}, s.calls)
	out, lost, err := s.RunIn(ctx, p, inputs)
	if lost {
		f := &out.Failure.Findings[0]
		f.Hint += "; prompts that were answered before are answered again at once and for free"
		out.Failure.Finding = *f
	}
	return out, err
}
