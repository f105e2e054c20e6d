package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/module/internal/toolbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// ReAct answers by calling tools. In each step, the model says what it thinks and which tool to call, and then sees the
// result, until it calls submit with an answer that is valid against the signature. A ReAct needs no sandbox, but for
// many tool calls, a [CodeAct] needs fewer model calls. It is safe for concurrent use.
//
// The method was published by Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models" (ICLR 2023).
//
// Calls are validated, subject to policies and recorded like a program's calls; in the journal, all calls in a run
// count as the calls of one program. A call that reported an error, or whose result cannot be used, may have taken
// effect. If the model makes the same call again, the call is held, and the observation says why; if the model then
// repeats the call, it is made. If it is unknown whether a call took effect, repeating the call ends the run.
//
// Models that support tool calls get the tools through their provider's protocol, unless there are more than 100 tools.
// They may call several tools in one step. If all of these calls only read ([tools.Binding.ReplayClass]), they are made
// at the same time, at most 16 of them, and otherwise one after another. Other models write the tool and its
// arguments as text, with one call per step.
type ReAct[In, Out any] struct {
	// Predictor asks for the next call.
	Predictor *Predictor

	signature *signature.Signature[In, Out]
	tools     *toolbox.Toolbox
	options   Options
	err       error // why the module cannot run
}

// NewReAct returns a module that answers sig by calling the tools in set; a nil set has no tools. Nil options mean the
// defaults; MaxIters is 20. Run reports missing or incompatible parts before it calls the model.
func NewReAct[In, Out any](
	sig *signature.Signature[In, Out], model llms.Model, set *tools.Set, o *Options,
) *ReAct[In, Out] {
	a := &ReAct[In, Out]{signature: sig, options: o.orDefault(20)}
	a.tools = toolbox.New(set, a.options.Embedder, a.options.Logger)
	a.Predictor = a.options.predictor(model)
	if task := specOf(sig); task != nil {
		a.Predictor.task = task
		a.Predictor.setTools(set)
		if a.Predictor.Spec, a.err = replies.ActionSpec(task); a.err != nil {
			a.err = fmt.Errorf("module: the signature does not fit ReAct's outputs (thought, tool, args): %w",
				a.err)
		}
		declarations := declare.Markdown(set, a.options.DeclarationTokens)
		a.options.logWarnings(set) // last, since declaring the tools compiles schemas, which may add warnings
		briefing := prompt.Action{Task: task, Set: set, Tools: declarations, Steps: a.options.MaxIters}
		a.Predictor.Briefing = briefing.String()
		a.Predictor.refused = &sync.Map{}
		a.Predictor.calling = conversation.NewCalling(task, set, a.Predictor.Briefing, a.options.MaxIters)
	}
	return a
}

// Run asks the model for calls and makes them, until the model submits a valid answer. If a reply cannot be read, if a
// tool does not exist, or if arguments or an answer are invalid, Run tells the model so. Each of these mistakes takes a
// step, unless it is free (see Options.FreeTurns).
//
// The prediction is nil if there is an error. If the module is incomplete, or an input violates the signature, the
// error says so. Every other error is an *[IncompleteError], which holds everything that was done and wraps the reason:
// [ErrMaxIters], an error from the context or the model, or the error with which a tool ended the run.
func (a *ReAct[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of ReAct", &err)
	ctx, r, err := a.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	defer r.rescue(&err)
	for r.left() > 0 {
		if err := r.ask(ctx); err != nil {
			return nil, r.incomplete(err)
		}
		if r.predictor.toolCalling() != nil {
			out, answer, done, err := a.callTools(ctx, r)
			switch {
			case err != nil:
				return nil, r.incomplete(err)
			case done:
				return complete(r.accept(), out, answer, "")
			}
			continue
		}
		next, err := r.action()
		if err != nil {
			r.forgiveMistake()
			r.observe(r.predictor.repair(err))
			continue
		}
		if next.Tool != conversation.Submit {
			told, err := r.call(ctx, next)
			if err != nil {
				r.endStep()
				return nil, r.incomplete(err)
			}
			r.forgiveMistake()
			r.observe(told)
			continue
		}
		out, answer, err := a.answer(ctx, r, next.Args)
		if end, ends := fromCheck(err); ends {
			r.endStep()
			return nil, r.incomplete(end)
		}
		if err != nil {
			r.observe(r.rejected(a.signature.Spec(), answer, err))
			continue
		}
		return complete(r.accept(), out, answer, "")
	}
	if !a.options.Extract {
		return nil, r.incomplete(r.usedUp())
	}
	out, answer, err := a.extract(ctx, r)
	if err != nil {
		return nil, r.incomplete(err)
	}
	return complete(r.accept(), out, answer, "")
}

// answer parses submit's arguments as the answer.
func (a *ReAct[In, Out]) answer(
	ctx context.Context, r *reactRun, args json.RawMessage,
) (out Out, answer json.RawMessage, err error) {
	answer = r.submit(args, a.signature.Spec())
	out, err = decode(ctx, a.signature, answer)
	r.gate.judge(r.run, r.outcome, answer)
	return out, answer, err
}

// extract asks for an answer from what the model knows. It also accepts a call to submit.
func (a *ReAct[In, Out]) extract(ctx context.Context, r *reactRun) (out Out, answer json.RawMessage, err error) {
	if r.predictor.toolCalling() != nil {
		return a.extractCall(ctx, r)
	}
	if out, answer, err = extract(ctx, r.run, a.signature); !errors.Is(err, ErrMaxIters) {
		return out, answer, err
	}
	next, unread := r.action()
	if unread != nil || next.Tool != conversation.Submit {
		return out, nil, err
	}
	if out, answer, err = a.answer(ctx, r, next.Args); err != nil {
		r.endStep()
		err = fmt.Errorf("%w, and the extracted answer is not valid: %w", ErrMaxIters, err)
	}
	return out, answer, err
}

// extractCall is extract for a model that calls tools in its provider's protocol.
func (a *ReAct[In, Out]) extractCall(ctx context.Context, r *reactRun) (out Out, answer json.RawMessage, err error) {
	r.conversation.Closing = prompt.LastCall
	if err = r.ask(ctx); err != nil {
		return out, nil, err
	}
	for _, c := range r.toolCalls {
		if r.predictor.toolCalling().Path(c) != conversation.Submit || r.last().Truncated {
			continue
		}
		args, err := argumentsOf(c)
		if err == nil {
			out, answer, err = a.answer(ctx, r, args)
		}
		if err == nil {
			return out, answer, nil
		}
		r.endStep()
		return out, nil, fmt.Errorf("%w, and the extracted answer is not valid: %w", ErrMaxIters, err)
	}
	return out, nil, fmt.Errorf("%w, and no answer could be extracted: %w", ErrMaxIters, conversation.ErrNoCall)
}

func (a *ReAct[In, Out]) begin(ctx context.Context, in In) (context.Context, *reactRun, error) {
	switch {
	case a == nil:
		return nil, nil, notMade("ReAct")
	case a.err != nil:
		return nil, nil, a.err
	}
	q, err := newQuestion("ReAct", a.Predictor, a.signature, in)
	if err != nil {
		return nil, nil, err
	}
	if err := checkFields(a.Predictor.Spec, a.signature.Spec().Inputs(), replies.ActionAlone.Outputs()); err != nil {
		return nil, nil, err
	}
	if err := q.SubmitHistory(a.Predictor.Spec); err != nil {
		return nil, nil, err
	}
	r := &reactRun{
		tools: a.tools, gate: newGate(a.Predictor.set), held: map[string][]string{}, heldNow: map[string][]string{},
	}
	if ctx, r.run, err = newRun(ctx, "ReAct", a.Predictor, q); err != nil {
		return nil, nil, err
	}
	r.allowance = a.options.allowance()
	if err := r.openJournal(ctx, a.options.Journal, false); err != nil {
		return nil, nil, err
	}
	r.attempt = r.journal.Attempt()
	return ctx, r, nil
}
