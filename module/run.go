package module

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools/journal"
)

// Module answers questions. Every module of this package is one, and so is any
// type of yours that has this method, such as a struct of modules. What it
// returns beside an error is nil.
//
// Run of the modules of this package does not panic. If something that it was
// given does, such as an adapter, a reward or an observer, that is the reason of
// its error, a *[PanicError]. A panic of a module of yours is made such an error
// by whatever runs it: [Start], [Parallel], [Samples] and modules made of modules.
type Module[In, Out any] interface {
	Run(ctx context.Context, in In) (*Prediction[Out], error)
}

// run is one run of a module that asks a predictor.
type run struct {
	*recorder
	predictor *Predictor
	spec      *signature.Spec // whose outputs are asked for
	path      string          // of the predictor
	asked     question
	opening   []message
	outcome   *sandbox.Outcome // of the program of the last step, until the step ends
	wrote     *lm.Message      // the last reply, as its provider wrote it; or nil
	toolCalls []llms.ToolCall  // of the last reply
	results   []string         // of the tool calls, as the model is told
	exchanges []exchange       // for each step that has ended
	closing   string           // what the model is told when the steps are used up
	forgotten int              // steps that are left out of the conversation, the oldest
}

// newRun begins a run of a module that asks one predictor. The context is for
// all that happens within.
func newRun(ctx context.Context, module string, p *Predictor, q question) (context.Context, *run, error) {
	if ctx == nil {
		return nil, nil, errNoContext
	}
	path := scopeOf(ctx).paths[p]
	name := path
	if name == ownField {
		name = ""
	}
	if p.calling != nil {
		p = p.forRun()
	}
	opening, err := p.opening(q)
	if err != nil {
		return nil, nil, err
	}
	ctx, r := begin(ctx, module, name, p.onEvent)
	return ctx, r.asking(path, p, q, opening), nil
}

// asking makes a run that has begun one that asks a predictor of the given path.
func (r *recorder) asking(path string, p *Predictor, q question, opening []message) *run {
	return &run{recorder: r, predictor: p, spec: p.Spec, path: cmp.Or(path, ownField), asked: q, opening: opening}
}

// ask begins a step: the model says something. As long as the conversation is
// too long for it, the older half is left out.
func (r *run) ask(ctx context.Context) error {
	r.outcome, r.results = nil, nil
	var refused error
	for step := len(r.Steps) + 1; ; {
		err := r.say(ctx, step, r.conversation(step))
		switch {
		case contextTooLong(err) && r.forget(step):
		case toolsRefused(err) && r.withoutTools(step):
			refused = err
		case refused != nil && err == nil:
			r.predictor.refused.Store(lm.CapabilitiesOf(r.predictor.Model).Model, true)
			return nil
		case refused != nil && ctx.Err() == nil:
			return refused
		default:
			return err
		}
	}
}

// withoutTools puts the question as text to a model that was thought to call tools. It
// reports whether that changes anything.
func (r *run) withoutTools(step int) bool {
	if step > 1 || r.predictor.callsTools() == nil {
		return false
	}
	r.predictor.mode = byText
	opening, err := r.predictor.opening(r.asked)
	r.opening = opening
	return err == nil
}

// toolsRefused reports whether a provider's error is that the model does not call tools.
func toolsRefused(err error) bool {
	e, ok := errors.AsType[*lm.Error](err)
	return ok && e.Kind == lm.KindInvalid && e.Err != nil && strings.Contains(e.Err.Error(), "tool")
}

// calls are those that the journal has, if there is one.
func (r *run) calls() []journal.Entry {
	if r.journal == nil {
		return nil
	}
	return r.journal.Entries()
}

// observe ends a step with what the model is told about it.
func (r *run) observe(text string) {
	r.exchanges = append(r.exchanges, r.exchange(text))
	if r.outcome == nil {
		r.emit(ReplyRejected{r.at(len(r.Steps)), text})
		return
	}
	r.emit(ProgramEnd{r.at(len(r.Steps)), r.outcome, text})
}

// exchange is a step as the model sees it: its reply, and what it was told.
type exchange struct {
	messages []message
	brief    string // what replaces the last message when it is old; or ""
}

func (r *run) exchange(told string) exchange {
	switch {
	case len(r.results) < len(r.toolCalls): // calls that nobody asked for
		reply := message{role: llms.ChatMessageTypeAI, text: r.last().Reply}
		return exchange{messages: []message{reply, {role: llms.ChatMessageTypeHuman, text: told}}}
	case len(r.results) == 0:
		reply := said(r.last().Reply, r.wrote, nil)
		return exchange{messages: []message{reply, {role: llms.ChatMessageTypeHuman, text: told}}}
	}
	list := []message{said(r.last().Reply, r.wrote, r.toolCalls)}
	for i, c := range r.toolCalls {
		list = append(list, resultOf(c, r.results[i]))
	}
	return exchange{messages: list}
}

// ended ends a step that the model is not told about.
func (r *run) ended() {
	if r.outcome != nil {
		r.emit(ProgramEnd{r.at(len(r.Steps)), r.outcome, ""})
	}
}

// accept ends the last step with an answer, and closes the journal's attempt.
func (r *run) accept() *run {
	r.keepOrphans(r.journal.Accept())
	r.ended()
	return r
}

// answered ends a run with its answer.
func answered[Out any](r *run, out Out, raw json.RawMessage, reasoning string) (*Prediction[Out], error) {
	if r.journal != nil {
		r.journal.End()
	}
	r.emit(Answered{r.at(0), raw, reasoning})
	if err := r.fault(); err != nil {
		return nil, r.incomplete(err)
	}
	return &Prediction[Out]{Output: out, Trajectory: r.trajectory()}, nil
}
