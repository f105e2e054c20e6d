package module

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Options configures a module. The zero value, and nil, are the defaults.
type Options struct {
	// MaxIters is how many steps a module that works in steps may take, each
	// one call of the model. Zero, or less, is 5. Predict has no use for it.
	MaxIters int

	// Budget is how many tokens the declarations of the tools may take in the
	// prompt. Zero is declare.DefaultBudget.
	Budget int

	// Model options go with every call of the model, such as
	// llms.WithTemperature(0.7). Nil leaves all to the provider.
	Model []llms.CallOption

	// OnEvent, if set, is told what happens. It is called concurrently, by tool
	// calls and by other runs, and should return soon: the run waits for it.
	OnEvent func(Event)

	// Logger is told, when a module is made, what [tools.Set.Warnings] has to
	// say of its tools. Nil is slog.Default().
	Logger *slog.Logger
}

func (o *Options) warn(set *tools.Set) {
	for _, w := range set.Warnings() {
		cmp.Or(o.Logger, slog.Default()).Warn(w)
	}
}

func (o *Options) orDefault() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.MaxIters <= 0 {
		c.MaxIters = 5
	}
	return c
}

func (o *Options) emit(e Event) {
	if o.OnEvent != nil {
		o.OnEvent(e)
	}
}

// Predictor is one kind of question to a model: what goes in, what must come
// out, and how it is asked. Every module is built of Predictors, which are made
// with it. It is safe for concurrent use as long as its fields are not changed.
type Predictor struct {
	// Spec is the question: instructions, inputs, outputs.
	Spec *signature.Spec

	// Briefing is what the model must know besides, the same for every
	// question. It stands between the form of replies and the instructions.
	Briefing string

	model   llms.Model
	options Options
	system  atomic.Pointer[prompt]
}

// prompt is a system prompt and what it was made of.
type prompt struct {
	spec           *signature.Spec
	briefing, text string
}

// message is one turn of a conversation.
type message struct {
	role llms.ChatMessageType
	text string
}

// systemPrompt makes the prompt once, as long as the fields stay the same.
func (p *Predictor) systemPrompt() string {
	if made := p.system.Load(); made != nil && made.spec == p.Spec && made.briefing == p.Briefing {
		return made.text
	}
	text := systemPrompt(p.Spec, p.Briefing)
	p.system.Store(&prompt{p.Spec, p.Briefing, text})
	return text
}

// opening is the beginning of a conversation: how to answer, and the question.
func (p *Predictor) opening(inputs signature.Values) []message {
	return []message{
		{llms.ChatMessageTypeSystem, p.systemPrompt()},
		{llms.ChatMessageTypeHuman, formatInputs(inputs) + replyReminder(p.Spec)},
	}
}

// errNothingSaid is the error of models that think until their tokens are used
// up. Asking again would only cost as much again.
var errNothingSaid = errors.New("the model's reply was cut off before it said anything; allow it more tokens")

// say sends a conversation to the model. It returns what the call cost also
// when it failed.
func (p *Predictor) say(ctx context.Context, step int, conversation []message) (Step, error) {
	p.options.emit(Asked{step, conversation[len(conversation)-1].text})
	start := time.Now()
	reply, err := lm.Ask(ctx, p.model, lm.Call{}, contents(conversation), p.options.Model...)
	s := Step{
		Reply: reply.Text, Truncated: reply.Truncated,
		Usage:    Usage{Calls: 1, InputTokens: reply.Usage.Input, OutputTokens: reply.Usage.Output},
		Duration: time.Since(start),
	}
	if err != nil {
		return s, err
	}
	p.options.emit(Replied{step, s.Reply, s.Usage, s.Duration})
	if s.Truncated && blank(s.Reply) {
		return s, errNothingSaid
	}
	return s, nil
}

// contents is a conversation for langchaingo. No message is empty, since
// providers refuse those.
func contents(conversation []message) []llms.MessageContent {
	list := make([]llms.MessageContent, len(conversation))
	for i, m := range conversation {
		if strings.TrimSpace(m.text) == "" {
			m.text = "(nothing)"
		}
		list[i] = llms.TextParts(m.role, m.text)
	}
	return list
}

// Errors of modules that were put together wrongly. Run returns them before
// anything is asked.
var (
	errNotMade     = errors.New("module: the module was not made by its New function")
	errNoSignature = errors.New("module: there is no signature; make one by signature.New")
	errNoModel     = errors.New("module: there is no model; pass one of langchaingo's")
	errNoSandbox   = errors.New("module: there is no sandbox; open one by sandbox.New and close it in the end")
)

// specOf returns the spec of a signature, or nil if there is none.
func specOf[In, Out any](sig *signature.Signature[In, Out]) *signature.Spec {
	if sig == nil {
		return nil
	}
	return sig.Spec()
}
