package module

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// CodeAct answers by acting: it asks the model for a JavaScript program, checks and runs it, and shows the model what
// happened. It repeats these steps until a program submits an answer that is valid against the signature, with
// submit({name: value, …}). It is safe for concurrent use.
//
// The method was published by Wang et al., "Executable Code Actions Elicit Better LLM Agents" (ICML 2024).
type CodeAct[In, Out any] struct {
	// Predictor asks for the next program.
	Predictor *Predictor

	coder coder[In, Out]
}

// Sandbox checks and runs programs. A *[sandbox.Sandbox] runs each program independently. A *[sandbox.Session] keeps a
// program's variables for later programs, even in later runs of the module; the question to the model lists these
// variables. Runs that share a session should not be concurrent; a [Chat] prevents that.
//
// A Sandbox may have two more methods, as both of these types do. If it has Ready() error, a module calls Ready at the
// beginning of each run and returns its error. If it has Check, a module runs a reply without a code fence if Check
// finds that the reply is a program.
type Sandbox interface {
	// Run checks and runs a program: see [sandbox.Sandbox.Run].
	Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error)
}

// NewCodeAct returns a module that answers sig with programs that may call the tools in set; a nil set has no tools.
// Programs have sig's inputs as constants. Nil options mean the defaults. Run reports missing or incompatible parts
// before it calls the model.
func NewCodeAct[In, Out any](
	sig *signature.Signature[In, Out], model llms.Model, box Sandbox, set *tools.Set, o *Options,
) *CodeAct[In, Out] {
	c := &CodeAct[In, Out]{coder: coder[In, Out]{
		name: "CodeAct", signature: sig, environment: environment{box: box, set: set, options: o.orDefault(8)},
	}}
	c.Predictor = c.coder.question(model, "")
	return c
}

// Run asks for programs, checks them and runs them until one submits a valid answer. If the steps are used up and
// Options.Extract is set, Run asks the model for an answer from what it knows.
//
// The prediction is nil if there is an error. If the module is incomplete, or an input violates the signature, the
// error says so. Every other error is an *[IncompleteError], which holds everything that was done and wraps the reason:
// [ErrMaxIters], an error from the context, the model or the sandbox, or the error with which a tool ended the run.
func (c *CodeAct[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of CodeAct", &err)
	ctx, r, err := c.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	defer r.rescue(&err)
	// Of the methods that follow, ask is in program.go and ask.go, program is in coderun.go, execute is below, and
	// question is in gate.go. Those that write the next message to the model are in report.go: unread, report, rejected
	// and askAboutOrphans.
	var valid *candidate[Out] // a valid answer that the model has to confirm
	for r.left() > 0 {
		// Ask the model for the next program. In a run of a [Program], the first one is its compiled program.
		if err := r.ask(ctx); err != nil {
			return valid.orFail(r, err)
		}
		program, err := r.program(ctx)
		if err != nil {
			r.observe(r.unread(err))
			continue
		}
		// Check it and, if the check finds no errors, run it. Program errors are part of the outcome.
		outcome, err := r.execute(ctx, program)
		if err != nil {
			return nil, r.incomplete(err)
		}
		// Tell the model what happened, unless the program has a valid answer.
		if !c.coder.hasAnswer(outcome, r.isCompiled()) {
			r.observe(r.report(outcome))
			continue
		}
		answer := c.coder.answer(outcome)
		out, err := decode(ctx, c.coder.signature, answer)
		if end, ends := fromCheck(err); ends {
			r.endStep()
			return nil, r.incomplete(end)
		}
		if err != nil {
			r.observe(r.rejected(c.coder.signature.Spec(), outcome, err))
			continue
		}
		if r.holdBack(answer) {
			continue
		}
		// Ask the model to confirm an answer that facts of the run contradict, or that ignores the effects of earlier
		// programs.
		if valid = (&candidate[Out]{out, answer}); r.question(outcome, answer) || r.askAboutOrphans(answer) {
			continue
		}
		return complete(r.accept(answer), out, answer, "")
	}
	if valid != nil || !c.coder.options.Extract {
		return valid.orFail(r, r.usedUp())
	}
	out, raw, err := c.extract(ctx, r)
	if err != nil {
		return nil, r.incomplete(err)
	}
	return complete(r.accept(raw), out, raw, "")
}

// candidate is a valid answer and its JSON.
type candidate[Out any] struct {
	out Out
	raw json.RawMessage
}

// orFail ends the run with the answer, or with err if a is nil.
func (a *candidate[Out]) orFail(r *codeRun, err error) (*Prediction[Out], error) {
	if a == nil {
		return nil, r.incomplete(err)
	}
	return complete(r.accept(a.raw), a.out, a.raw, "")
}

// execute checks and runs the last step's program.
//
// The tools are globals of the program. A call leaves the sandbox as JSON and reaches the [dispatch.Dispatcher] of the
// set in this process. The dispatcher validates the call, looks it up in the journal's attempt, applies the policies,
// records the intent, calls the Go function (the Handler of the [tools.Tool]) and records the result. The result goes
// back into the sandbox as JSON, and the program's promise resolves with it. Since all programs in a run share its
// journal, a rewritten program does not repeat the effects of the previous one.
func (r *codeRun) execute(ctx context.Context, p replies.ProgramReply) (*sandbox.Outcome, error) {
	step := max(len(r.Steps), 1) // a compiled program has no step yet
	r.emit(event.ProgramStart{Origin: r.at(step), Code: p.Code, Reasoning: p.Reasoning, Compiled: r.isCompiled()})
	if r.outcome = r.outdated(); r.outcome != nil {
		return r.outcome, nil
	}
	if err := r.journal.Reconcile(ctx); err != nil {
		r.endStep()
		return nil, err
	}
	r.lists.Next()
	program := sandbox.Program{
		Source: p.Code, Inputs: r.inputs, Tools: r.programTools(), Submit: true,
		Attempt:   guardedAttempt{r.journal.Attempt(), r},
		Compiler:  r.options.Compiler,
		Earlier:   r.earlier(),
		OnCalling: func(c sandbox.Call) { r.emit(event.ToolCallStart{Origin: r.at(step), Call: c}) },
		OnCall: func(c sandbox.Call) {
			r.lists.Add(c, r.find(c.Tool))
			r.emit(event.ToolCallEnd{Origin: r.at(step), Call: c})
		},
	}
	ctx = r.withSub(ctx, &program)
	outcome, err := r.box.Run(ctx, program)
	r.journal.End()
	r.outcome = outcome
	switch {
	case outcome == nil && err == nil:
		return nil, errors.New("the sandbox returned neither an outcome nor an error")
	case outcome != nil:
		for _, c := range outcome.Calls {
			if c.Pending { // the program no longer waits for it
				r.emit(event.ToolCallEnd{Origin: r.at(step), Call: c})
			}
		}
	}
	if err != nil {
		r.endStep()
		return nil, err
	}
	r.judge(r.run, outcome, nil)
	r.learn(ctx, outcome)
	return outcome, nil
}
