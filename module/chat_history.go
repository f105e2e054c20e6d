package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/notebook"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// chatHistory is what a [Chat] remembers.
type chatHistory struct {
	maxBytes int
	notebook *notebook.Notebook
	busy     chan struct{} // held by the turn in progress, which may change the following fields

	turns   []turn
	leftOut int // the number of turns before those
}

// enter waits for the previous turn. The caller calls leave.
func (h *chatHistory) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case h.busy <- struct{}{}:
		return func() { <-h.busy }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("module: the turn was not started: %w", context.Cause(ctx))
	}
}

// turn is a turn of a conversation, shortened to what later turns show.
type turn struct {
	Inputs   signature.Values `json:"inputs"`
	Programs []pastStep       `json:"programs,omitempty"` // those that ran to their end
	End      string           `json:"end"`                // how the turn ended, for the model
}

// pastStep is a program and its result.
type pastStep struct {
	Reasoning string `json:"reasoning,omitempty"`
	Code      string `json:"code"`
	Result    string `json:"result"` // "" if its answer was accepted
}

// newTurn shortens a run; err is why it has no answer.
func newTurn(spec *signature.Spec, inputs signature.Values, t Trajectory, err error) turn {
	made := turn{Inputs: signature.Values{}}
	for _, v := range inputs {
		f, _ := spec.Field(v.Name)
		v.JSON = shortInput(f.Kind(), v.JSON)
		made.Inputs = append(made.Inputs, v)
	}
	failed := 0
	for _, s := range t.Steps {
		switch {
		case s.Outcome == nil:
		case s.Outcome.Failure != nil:
			failed++
		default:
			made.Programs = append(made.Programs, pastStep{
				Reasoning: prompt.Shorten(s.Reasoning, prompt.PastReasoning), Code: prompt.PastProgram(s.Code),
				Result: pastResult(s),
			})
		}
	}
	end := prompt.PastTurn{Failed: failed, Answer: t.Answer(), Calls: t.Calls, Orphans: t.Orphans}
	if err != nil {
		end.Why = whyUnanswered(err)
	}
	made.End = end.String()
	return made
}

// shortInput is an input of an earlier turn. Images and files are only counted.
func shortInput(kind signature.Kind, value json.RawMessage) json.RawMessage {
	if parts, names, err := conversation.Attachments(kind, value); err == nil && len(parts) > 0 {
		return replies.Quote(prompt.PastAttachments(len(parts), names))
	}
	return prompt.PastInput(value)
}

// whyUnanswered tells the model why a turn has no answer.
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

// pastResult is what later turns show of the result of a program that ran to its end.
func pastResult(s Step) string {
	if s.Outcome.Submitted {
		return prompt.FirstLine(s.Observation)
	}
	return prompt.PastResult(s.Outcome)
}

// messages shows the turns to the model. If they are too long, the older half is omitted. Omitting one at a time
// would change the beginning of the conversation, which providers cache, in every turn.
func (h *chatHistory) messages(p *Predictor) []conversation.Message {
	var shown [][]conversation.Message
	size := 0
	for i := range h.turns {
		m := h.turns[i].messages(p)
		shown = append(shown, m)
		size += conversation.Size(m)
	}
	for size > h.maxBytes && len(shown) > 1 {
		half := len(shown) / 2
		for _, m := range shown[:half] {
			size -= conversation.Size(m)
		}
		shown, h.turns = shown[half:], slices.Clone(h.turns[half:])
		h.leftOut += half
	}
	var list []conversation.Message
	if h.leftOut > 0 {
		list = append(list, conversation.Human(prompt.EarlierTurns(h.leftOut)))
	}
	return conversation.Append(list, slices.Concat(shown...)...)
}

// messages shows a turn to the model.
func (t *turn) messages(p *Predictor) []conversation.Message {
	list := []conversation.Message{p.message(conversation.Question{Inputs: t.Inputs}, "")}
	for _, s := range t.Programs {
		reply := signature.Values{{Name: "code", JSON: replies.Quote(s.Code)}}
		if s.Reasoning != "" {
			reply = slices.Insert(reply, 0, signature.Value{Name: "reasoning", JSON: replies.Quote(s.Reasoning)})
		}
		list = append(list, p.example(len(list), reply)...)
		if s.Result != "" {
			list = append(list, conversation.Human(s.Result))
		}
	}
	return conversation.Append(list, conversation.Human(t.End))
}
