package module

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/signature"
)

// Options configures a module. The zero value, and nil, are the defaults.
type Options struct {
	// MaxIters is how many steps a module that works in steps may take. Zero is
	// 5.
	MaxIters int

	// Budget is how many tokens the declarations of the tools may take in the
	// prompt. Zero is declare.DefaultBudget.
	Budget int

	// Model options go with every call of the model, such as
	// llms.WithTemperature(0.7).
	Model []llms.CallOption

	// OnEvent, if set, is told what happens. It is called concurrently and
	// should return soon.
	OnEvent func(Event)
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
// out, and how it is asked. Every module is built of Predictors. It is safe for
// concurrent use as long as its fields are not changed.
type Predictor struct {
	// Spec is the question: instructions, inputs, outputs.
	Spec *signature.Spec

	// Context stands between the format of replies and the instructions: what
	// the model must know besides, the same for every question.
	Context string

	model   llms.Model
	options Options
}

// message is one turn of a conversation.
type message struct {
	role llms.ChatMessageType
	text string
}

// opening is the beginning of a conversation: how to answer, and the question.
func (p *Predictor) opening(inputs string) []message {
	return []message{
		{llms.ChatMessageTypeSystem, systemPrompt(p.Spec, p.Context)},
		{llms.ChatMessageTypeHuman, inputs + "\n\n" + replyReminder(p.Spec)},
	}
}

// say sends a conversation to the model. It returns what the call cost also
// when it failed.
func (p *Predictor) say(ctx context.Context, step int, conversation []message) (Step, error) {
	p.options.emit(Asked{step, conversation[len(conversation)-1].text})
	start := time.Now()
	reply, err := lm.Ask(ctx, p.model, contents(conversation), p.options.Model...)
	s := Step{
		Reply:    reply.Text,
		Usage:    Usage{Calls: 1, InputTokens: reply.Usage.Input, OutputTokens: reply.Usage.Output},
		Duration: time.Since(start),
	}
	if err != nil {
		return s, fmt.Errorf("module: %w", err)
	}
	p.options.emit(Replied{step, s.Reply, s.Usage, s.Duration})
	if reply.Truncated && strings.TrimSpace(reply.Text) == "" {
		return s, fmt.Errorf("module: the model's reply was cut off before it said anything; allow it more tokens")
	}
	return s, nil
}

func contents(conversation []message) []llms.MessageContent {
	list := make([]llms.MessageContent, len(conversation))
	for i, m := range conversation {
		list[i] = llms.TextParts(m.role, m.text)
	}
	return list
}
