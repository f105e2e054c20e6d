package module

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools/journal"
)

// Module answers questions. The modules in this package implement it, and so does any of your types that has this
// method, such as a struct of modules. If Run returns an error, the prediction is nil.
//
// The Run methods in this package do not panic. If code that the caller passed to a module panics, such as an adapter,
// a reward or an observer, Run returns an error that wraps a *[models.PanicError]. If your own module panics, the
// function or module that runs it, such as [Start], [Parallel] or [BestOfN], returns such an error.
type Module[In, Out any] interface {
	Run(ctx context.Context, in In) (*Prediction[Out], error)
}

// run is one run of a module that asks a predictor.
type run struct {
	*recorder
	allowance
	predictor    *Predictor
	conversation conversation.Conversation
	spec         *signature.Spec // the outputs requested from the model
	path         string          // the predictor's path
	asked        conversation.Question
	outcome      *sandbox.Outcome // how the last step's program ended, or nil after the step
	wrote        *lm.Message      // the last reply, as its provider wrote it, or nil
	toolCalls    []llms.ToolCall  // the tool calls in the last reply
	results      []string         // the results of toolCalls, as the model sees them
	purse        purse            // the budget of the last step
	fallback     string           // why the compiled program gave no answer, until the next request
	live         *live            // the stream that reads the replies, or nil
	needed       *signature.Spec  // the outputs that it reads
}

// newRun begins a run for a module that asks one predictor. It returns the context for everything within the run.
func newRun(ctx context.Context, module string, p *Predictor, q conversation.Question) (context.Context, *run, error) {
	if ctx == nil {
		return nil, nil, errNoContext
	}
	path := scopeOf(ctx).paths[p]
	name := path
	if name == ownField {
		name = ""
	}
	p, err := p.forQuestion(ctx, q.Inputs)
	if err != nil {
		return nil, nil, err
	}
	if p.calling != nil {
		p = p.Clone() // keep the form of calls, even if other runs find that the model does not support tools
		p.calling, p.decided = p.toolCalling(), true
	}
	opening, err := p.opening(q)
	if err != nil {
		return nil, nil, err
	}
	s := scopeOf(ctx)
	s.asks = p
	ctx, r := begin(s.in(ctx), cmp.Or(p.kind, module), name, p.onEvent)
	made := r.newRun(path, p, q, opening)
	return ctx, made, made.compact(ctx)
}

// newRun returns a run that is recorded by r and asks p. The path is p's.
func (r *recorder) newRun(path string, p *Predictor, q conversation.Question, opening []conversation.Message) *run {
	return &run{
		recorder: r, predictor: p, spec: p.Spec, path: cmp.Or(path, ownField), asked: q,
		conversation: conversation.Conversation{Opening: opening},
	}
}

// openJournal opens the journal for the run's calls. Programs says whether programs make them.
func (r *run) openJournal(ctx context.Context, o *journal.Options, programs bool) error {
	j, turn, err := durable.Journal(ctx, r.path, []any{r.asked.Inputs, r.predictor.Rollout}, o)
	if err != nil {
		return r.incomplete(fmt.Errorf("module: the journal of %s: %w", r.path, err))
	}
	r.keepCalls(j, turn)
	if turn > 0 {
		question := &r.conversation.Opening[len(r.conversation.Opening)-1]
		question.Text += prompt.Continued(j.Open(), programs)
	}
	return nil
}

// allowance limits a run's steps.
type allowance struct {
	steps int
	free  int  // free turns that are left
	late  bool // no additional step for an answer with the wrong shape is left
}

func (o Options) allowance() allowance { return allowance{o.MaxIters, o.FreeTurns, o.Extract} }

// forgive makes the last step free, if there are free turns left.
func (a *allowance) forgive() bool {
	if a.free <= 0 {
		return false
	}
	a.free, a.steps = a.free-1, a.steps+1
	return true
}

// allowMisshapen allows one more step, once in a run, if no step is left and only the shape of the answer is wrong.
func (r *run) allowMisshapen(task *signature.Spec, answer json.RawMessage) {
	if r.left() == 0 && !r.late && replies.Misshapen(task, answer) {
		r.late = true
		r.steps++
	}
}

// left returns how many steps the run may still take.
func (r *run) left() int { return r.steps - len(r.Steps) }

// usedUp returns the error for a run that has used up its steps.
func (r *run) usedUp() error {
	return fmt.Errorf("%w; the last step: %s", ErrMaxIters, prompt.FirstLine(r.last().Observation))
}

// callsBefore returns the calls that were made before the step with the given index.
func (r *run) callsBefore(step int) []journal.Entry {
	if r.journal == nil {
		return nil
	}
	return r.ofTurn(r.journal.Entries())[:r.Steps[step].before]
}

// observe ends a step with an observation for the model. Brief, if set, replaces the observation in prompts after the
// next step.
func (r *run) observe(text, brief string) {
	r.conversation.Add(conversation.Reply(r.last().Reply, r.wrote, r.toolCalls, r.results, text), brief)
	if r.outcome == nil {
		r.emit(event.ReplyRejected{Origin: r.at(len(r.Steps)), Observation: text})
		return
	}
	r.emit(event.ProgramEnd{Origin: r.at(len(r.Steps)), Outcome: r.outcome, Observation: text})
}

// endStep ends a step that has no observation.
func (r *run) endStep() {
	if r.outcome != nil {
		r.emit(event.ProgramEnd{Origin: r.at(len(r.Steps)), Outcome: r.outcome})
	}
}

// accept ends the last step with an answer, and closes the journal's attempt.
func (r *run) accept() *recorder {
	r.keepOrphans(r.journal.Accept())
	r.endStep()
	return r.recorder
}

// complete ends a run with its answer.
func complete[Out any](r *recorder, out Out, raw json.RawMessage, reasoning string) (*Prediction[Out], error) {
	if r.journal != nil {
		r.journal.End()
	}
	r.emit(event.RunEnd{Origin: r.at(0), Output: raw, Reasoning: reasoning, Fallback: r.Fallback})
	if err := r.fault(); err != nil {
		return nil, r.incomplete(err)
	}
	return &Prediction[Out]{Output: out, Trajectory: r.trajectory()}, nil
}

// extract asks for sig's outputs in one more step without further actions, in the reply format of the predictor's
// adapter. The error says why the model could not be asked, or wraps [ErrMaxIters] and says what is wrong with the
// reply.
func extract[In, Out any](
	ctx context.Context, r *run, sig *signature.Signature[In, Out],
) (out Out, raw json.RawMessage, err error) {
	spec := sig.Spec()
	adapter := r.predictor.adapterFor(spec)
	r.spec = spec
	follow(r, sig)
	r.conversation.Closing = prompt.LastReply + adapter.System(outputsOf(spec), "")
	if err = r.ask(ctx); err != nil {
		return out, nil, err
	}
	last := r.last()
	values, err := adapter.Read(spec, last.Reply, last.Truncated)
	if err == nil {
		raw, err = values.MarshalJSON()
	}
	if err == nil {
		out, err = decode(ctx, sig, raw)
	}
	if end, ends := fromCheck(err); ends {
		return out, nil, end
	}
	if err != nil {
		return out, nil, fmt.Errorf("%w, and no answer could be extracted: %w", ErrMaxIters, err)
	}
	return out, raw, nil
}

// outputsOf returns a spec that has only spec's outputs.
func outputsOf(spec *signature.Spec) *signature.Spec {
	if alone, err := signature.NewSpec("", nil, spec.Outputs()); err == nil {
		return alone
	}
	return spec
}
