package module

import (
	"cmp"
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Chat is a conversation of several turns with a [CodeAct]. Each Run is a turn: its
// input is the next question. Programs of a turn can use the variables that programs of
// earlier turns left, and the model is shown which there are.
//
// Earlier turns are shown to the model as the question, the programs that ran, in short
// form, and the answer. A turn without an answer is shown, too, with the reason. When
// they grow too long, the older half is replaced by a line that says so; the variables
// stay.
//
// A Chat is safe for concurrent use; turns run one after the other. Since a turn changes
// the conversation, a Chat is not for modules that run another several times with the
// same question, such as [BestOfN]. It lives in memory: [Chat.Record] and [Chat.Restore]
// take it to another process.
//
// To run a module that remembers nothing with a conversation that you keep yourself, give
// its signature a [signature.History].
type Chat[In, Out any] struct {
	// Predictor is the question for the next program, the same in all turns.
	Predictor *Predictor

	coder coder[In, Out]
	box   *sandbox.Sandbox // which has sessions
	talk  *talk            // shared with clones
}

// ChatOptions configures a [Chat]. The zero value, and nil, are the defaults.
type ChatOptions struct {
	// Options are those of all modules, for each turn. MaxIters is 8 by default.
	Options

	// HistoryBytes is about how much text earlier turns may take in the prompt. The last
	// one is shown in any case. Zero, or less, is 24,000.
	HistoryBytes int
}

// NewChat returns a conversation that answers the questions of sig by programs, which may
// call the tools of set, nil for none. The inputs of a turn are constants of its programs.
// Nil options are the defaults. Run reports what is missing or does not fit together,
// before it asks the model.
func NewChat[In, Out any](sig *signature.Signature[In, Out], model llms.Model, box *sandbox.Sandbox, set *tools.Set, o *ChatOptions) *Chat[In, Out] {
	if o == nil {
		o = &ChatOptions{}
	}
	c := &Chat[In, Out]{box: box, coder: coder[In, Out]{
		name: "Chat", signature: sig, kit: kit{box: box, set: set, options: o.orDefault(8), session: true, chat: true},
	}}
	c.talk = &talk{most: cmp.Or(max(o.HistoryBytes, 0), 24_000), book: &notebook{box: box}, busy: make(chan struct{}, 1)}
	c.Predictor = c.coder.question(model, "")
	return c
}

// Run answers the next question. It waits for the turn before. It returns what
// [CodeAct.Run] does. A turn to which the model was asked is part of the conversation,
// with or without an answer.
func (c *Chat[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of Chat", &err)
	switch {
	case c == nil || c.coder.name == "":
		return nil, notMade("Chat")
	case ctx == nil:
		return nil, errNoContext
	case c.coder.err != nil:
		return nil, c.coder.err
	}
	leave, err := c.talk.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := c.Predictor.usable(); err != nil {
		return nil, err
	}
	turn := CodeAct[In, Out]{Predictor: c.Predictor, coder: c.coder}
	turn.coder.box = c.talk.book
	turn.coder.past = c.talk.messages(c.Predictor)
	pred, err = turn.Run(ctx, in)
	if pred != nil {
		c.record(in, pred.Trajectory, nil)
	} else if incomplete, ok := errors.AsType[*IncompleteError](err); ok {
		c.record(in, incomplete.Trajectory, incomplete.Err)
	}
	return pred, err
}

// record adds a turn that has ended.
func (c *Chat[In, Out]) record(in In, t Trajectory, err error) {
	inputs, invalid := c.coder.signature.Encode(in)
	if invalid != nil {
		return // Run has encoded them before
	}
	c.talk.turns = append(c.talk.turns, newTurn(c.coder.signature.Spec(), inputs, t, err))
}

// Stream is Run with its events; see [Start].
func (c *Chat[In, Out]) Stream(ctx context.Context, in In) *Stream[Out] {
	return Start[In, Out](ctx, c, in)
}
