package module

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/notebook"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/state"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Chat is a conversation of several turns with a [CodeAct]. Each Run is a turn: its input is the next question.
// Programs can use the variables that programs in earlier turns declared, and the model sees a list of these variables.
//
// For each earlier turn, the model sees the question, the programs that ran to completion (shortened), and the answer
// or the reason why there is no answer. When the turns exceed Options.HistoryBytes, the older ones are left out, and a
// model's summary replaces them (see Options.Compact). The effects of these turns and the questions without an answer
// are kept word for word, up to 1/8 of HistoryBytes. The variables are kept.
//
// The variables are kept in a session, which records the programs and their calls' results, up to 1/32 of
// [sandbox.Limits].Memory. When the record is full, the next program is not run, the variables are lost, and the model
// is told to load the data that it needs again.
//
// All turns have one journal. A call that was done in an earlier turn is made again if a program asks for it: to ask
// again is a new wish. So before you repeat a question after an error, check the Calls of the Trajectory in the
// *[IncompleteError]. A call of an earlier turn that failed is held until a program names it, and a call whose outcome
// is unknown is not made again; each question lists these calls for the model.
//
// A Chat is safe for concurrent use; turns run one after another. A [Clone] continues the same conversation. [BestOfN]
// and other modules that make several attempts reject a Chat. The conversation is kept in memory: [Chat.Record] and
// [Chat.Restore] move it to another process.
//
// To manage the conversation yourself, use another module and a signature with a [signature.History].
type Chat[In, Out any] struct {
	// Predictor asks for the next program. It is the same in all turns.
	Predictor *Predictor

	coder   coder[In, Out]
	history *chatHistory // shared with clones
}

// chatHistory is what a [Chat] keeps between turns.
type chatHistory struct {
	notebook *notebook.Notebook
	busy     chan struct{} // full while a turn is in progress; only that turn may change past
	past     conversation.Past
	journal  *journal.Journal // only the turn in progress, and Restore, may use it
}

// NewChat returns a conversation that answers sig's questions with programs, which may call the tools in set; a nil set
// has no tools. Programs have their turn's inputs as constants. Nil options mean the defaults. Run reports missing or
// incompatible parts before it calls the model.
func NewChat[In, Out any](
	sig *signature.Signature[In, Out], model llms.Model, box *sandbox.Sandbox, set *tools.Set, o *Options,
) *Chat[In, Out] {
	if o == nil {
		o = &Options{}
	}
	c := &Chat[In, Out]{coder: coder[In, Out]{
		name:        "Chat",
		signature:   sig,
		environment: environment{box: box, set: set, options: o.orDefault(8), session: true, chat: true},
	}}
	c.history = &chatHistory{
		notebook: notebook.New(box), busy: make(chan struct{}, 1), journal: journal.New(o.Journal),
	}
	c.Predictor = c.coder.question(model, "")
	return c
}

// Run waits until the previous turn has ended, and answers the next question. It returns what [CodeAct.Run] returns.
// Once the model has been called, the turn is part of the conversation, even if it has no answer.
func (c *Chat[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of Chat", &err)
	leave, err := c.enter(ctx, "the turn was not started")
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := c.Predictor.usable(); err != nil {
		return nil, err
	}
	turn := CodeAct[In, Out]{Predictor: c.Predictor, coder: c.coder}
	turn.coder.box, turn.coder.talk = c.history.notebook, c.history.journal
	turn.coder.past = &c.history.past
	pred, err = turn.Run(ctx, in)
	if pred != nil {
		c.addTurn(in, pred.Trajectory, nil)
	} else if incomplete := incompleteIn(err); incomplete != nil {
		c.addTurn(in, incomplete.Trajectory, incomplete.Err)
	}
	return pred, err
}

func (c *Chat[In, Out]) addTurn(in In, t Trajectory, err error) {
	inputs, _ := c.coder.signature.Encode(in) // Run has encoded them before
	c.history.past.Turns = append(c.history.past.Turns, newTurn(c.coder.signature.Spec(), inputs, t, err))
}

// newTurn summarizes a run for later turns. Err is the reason why the run has no answer, or nil.
func newTurn(spec *signature.Spec, inputs signature.Values, t Trajectory, err error) conversation.Turn {
	made := conversation.Turn{Inputs: conversation.PastValues(spec, inputs, true)}
	failed := 0
	for _, s := range t.Steps {
		switch {
		case s.Outcome == nil:
		case s.Outcome.Failure != nil:
			failed++
		default:
			made.Programs = append(made.Programs, conversation.PastStep{
				Reasoning: display.Cut(s.Reasoning, prompt.PastReasoning), Code: prompt.PastProgram(s.Code),
				Result: pastResult(s),
			})
		}
	}
	end := prompt.PastTurn{Failed: failed, Answer: t.Answer(), Calls: t.Calls, Orphans: t.Orphans}
	if err != nil {
		end.Why = whyUnanswered(err)
	}
	made.End = end.String()
	asked, _ := made.Inputs.MarshalJSON() // they have been encoded before
	made.Record = end.Record(asked)
	return made
}

// whyUnanswered returns the reason why a turn has no answer, in words for the model.
func whyUnanswered(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the deadline was exceeded"
	case errors.Is(err, context.Canceled):
		return "it was canceled"
	case tools.IsFatal(err):
		return "a tool ended it"
	}
	return wording(err)
}

// pastResult returns the result of a program that ran to completion, as later turns show it.
func pastResult(s Step) string {
	if s.Outcome.Submitted {
		return prompt.FirstLine(s.Observation)
	}
	return prompt.PastResult(s.Outcome)
}

// enter waits until no turn is in progress. The caller must call leave. If the context is done first, the error begins
// with failure, such as "the turn was not started".
func (c *Chat[In, Out]) enter(ctx context.Context, failure string) (leave func(), err error) {
	switch {
	case c == nil || c.coder.name == "":
		return nil, notMade("Chat")
	case ctx == nil:
		return nil, errNoContext
	case c.coder.err != nil:
		return nil, c.coder.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case c.history.busy <- struct{}{}:
		return func() { <-c.history.busy }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("module: %s: another turn is still in progress: %w", failure, context.Cause(ctx))
	}
}

// chatFormat is the name and version of the record format.
const chatFormat = "writ chat 1"

// chatRecord is the JSON form of a conversation.
type chatRecord struct {
	Format    string            `json:"format"`
	Signature string            `json:"signature"`
	Fields    map[string]string `json:"fields"` // a hash of each field
	conversation.LeftOut
	Turns   []conversation.Turn `json:"turns"`
	Session string              `json:"session,omitempty"` // the session's record
	Journal json.RawMessage     `json:"journal,omitempty"` // the journal's record
}

// Record waits for the turn in progress and returns the conversation as JSON: the turns as the model sees them, and the
// session's record, which [sandbox.Session.AppendRecord] describes. Anyone who can read the record can read the
// conversation and its tool results. The record has the calls that are uncertain, which stay open when the conversation
// is restored.
func (c *Chat[In, Out]) Record(ctx context.Context) ([]byte, error) {
	leave, err := c.enter(ctx, "the chat was not recorded")
	if err != nil {
		return nil, err
	}
	defer leave()
	fields, err := state.FieldsOf(c.coder.signature.Spec(), nil)
	if err != nil {
		return nil, err
	}
	session, err := c.history.notebook.Record()
	if err != nil {
		return nil, err
	}
	open, err := c.history.journal.Record()
	if err != nil {
		return nil, err
	}
	return jsonvalue.Marshal(chatRecord{ // escaping would change the session's record, which has a checksum
		Format: chatFormat, Signature: fields.Hash(), Fields: fields.Hashes(),
		LeftOut: c.history.past.LeftOut, Turns: c.history.past.Turns, Session: string(session),
		Journal: open,
	})
}

// Restore replaces the conversation with one that [Chat.Record] returned, in this process or another one. The
// signatures must be the same.
//
// If the record is damaged, the conversation does not change. If the turns can be read but the session cannot be
// restored, for example after an update of Writ, the error wraps [sandbox.ErrSessionLost]; then the conversation
// continues without the variables, and the next question tells the model that they are lost.
func (c *Chat[In, Out]) Restore(ctx context.Context, record []byte) error {
	leave, err := c.enter(ctx, "the chat was not restored")
	if err != nil {
		return err
	}
	defer leave()
	if len(bytes.TrimSpace(record)) == 0 {
		return errors.New("module: restore the chat: the record is empty")
	}
	fields, err := state.FieldsOf(c.coder.signature.Spec(), nil)
	if err != nil {
		return err
	}
	var r chatRecord
	if err := jsonvalue.Strictly(record, &r); err != nil {
		return fmt.Errorf("module: restore the chat: %w", err)
	}
	switch {
	case r.Format != chatFormat || r.LeftOut.Turns < 0:
		return fmt.Errorf("module: restore the chat: the record is damaged, or its format is %.50q instead of %q",
			r.Format, chatFormat)
	case fields.Hash() != r.Signature:
		return fmt.Errorf("module: restore the chat: the record has a different signature: %s",
			fields.Differ(r.Fields))
	}
	for i, t := range r.Turns {
		for _, v := range t.Inputs {
			if _, known := c.coder.signature.Spec().Field(v.Name); !known {
				return fmt.Errorf("module: restore the chat: turn %d has the input %.50q, which the signature lacks",
					i+1, v.Name)
			}
		}
	}
	open, err := journal.Restore(r.Journal, c.coder.options.Journal)
	if err != nil {
		return fmt.Errorf("module: restore the chat: %w", err)
	}
	c.history.past, c.history.journal = conversation.Past{LeftOut: r.LeftOut, Turns: r.Turns}, open
	return c.history.notebook.Restore([]byte(r.Session))
}
