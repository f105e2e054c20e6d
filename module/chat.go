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
// Earlier turns are shown to the model as the question, the programs that ran to their
// end (shortened) and the answer. A turn without an answer is shown, too, with the
// reason. When the turns exceed HistoryBytes, the older half is replaced by a line that
// says so; the variables stay.
//
// The session that holds the variables records the programs and the results of their
// calls, up to a 32nd of [sandbox.Limits].Memory. When it is full, the next program is
// not run, the variables are gone, and the model is told to load again what it needs.
//
// Each turn has a journal of its own, so a turn does not know the calls of the turns
// before it: if a question is asked again after an error, calls that had taken effect, or
// may have, can be made again. The model is shown those calls as long as it is shown the
// turn. Before you repeat a question, look at the Calls of the *[IncompleteError]'s
// Trajectory.
//
// A Chat is safe for concurrent use; turns run one after the other. A [Clone] continues
// the same conversation. [BestOfN] and other modules that make several attempts refuse
// a Chat. It lives in memory: [Chat.Record] and [Chat.Restore] take it to another
// process.
//
// To keep the conversation yourself, give the signature of another module a
// [signature.History].
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

	// HistoryBytes is roughly how many bytes of earlier turns the prompt shows. The last
	// turn is always shown. Zero or less means 24,000.
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

// Run answers the next question. It waits for the turn before, and returns what
// [CodeAct.Run] does. Once the model has been asked, the turn is part of the
// conversation, with or without an answer.
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
