package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// How much of an earlier turn the model is shown.
const (
	pastInput     = 1000 // bytes of each input
	pastReasoning = 300  // bytes
	pastProgram   = 2000 // bytes
	pastResult    = 400  // bytes of a program's value, and of its console output
	pastAnswer    = 1500 // bytes
	pastCalls     = 10   // calls of each kind
)

// chatHistory is what a [Chat] remembers.
type chatHistory struct {
	maxBytes int
	notebook *notebook
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
				Reasoning: shorten(s.Reasoning, pastReasoning), Code: shortProgram(s.Code), Result: shortResult(s),
			})
		}
	}
	made.End = ending(t, failed, err)
	return made
}

// shortInput shortens an input. Of images and files it keeps the number and the names.
func shortInput(kind signature.Kind, value json.RawMessage) json.RawMessage {
	if parts, names, err := attachments(kind, value); err == nil && len(parts) > 0 {
		text := plural(len(parts), "attachment") + ", not shown again"
		if len(names) > 0 {
			text += ": " + strings.Join(names, ", ")
		}
		return replies.Quote(text)
	}
	if len(value) > pastInput {
		return replies.Quote(inPart(value, pastInput/2))
	}
	return value
}

// ending tells the model how a turn ended.
func ending(t Trajectory, failed int, err error) string {
	var b strings.Builder
	if failed > 0 {
		fmt.Fprintf(&b, "Not shown: %s.\n", plural(failed, "failed, refused or stopped program"))
	}
	did := sortEffects(t.Calls)
	if err == nil {
		b.WriteString("The answer was accepted:\n")
		sketch(&b, t.Answer(), pastAnswer)
		writePast(&b, "Effects of failed programs that still count:", t.Orphans)
	} else {
		fmt.Fprintf(&b, "This question was not answered: %s.", strings.TrimSuffix(whyUnanswered(err), "."))
		writePast(&b, "Calls that were made:", did.done)
	}
	writePast(&b, "Calls that reported an error, but may have taken effect:", did.failed)
	writePast(&b, "Calls that may or may not have happened:", did.unknown)
	if len(did.failed)+len(did.unknown) > 0 {
		b.WriteString("\nCheck whether such a call took effect before you make it again.")
	}
	return b.String()
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

// writePast lists calls of an earlier turn without their numbers, which later turns cannot refer to.
func writePast(b *strings.Builder, title string, entries []journal.Entry) {
	if len(entries) == 0 {
		return
	}
	b.WriteString("\n" + title)
	for i, e := range entries {
		if i == pastCalls {
			fmt.Fprintf(b, "\n- and %d more", len(entries)-i)
			return
		}
		writeCall(b, e.Tool, e.Args, 200)
		writeEnd(b, e, 200)
	}
}

// shortProgram omits the middle of a long program.
func shortProgram(code string) string {
	if len(code) <= pastProgram {
		return code
	}
	head, tail := ends(code, pastProgram)
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	return fmt.Sprintf("%s\n// … %d bytes omitted …\n%s", head, len(code)-len(head)-len(tail), tail)
}

// shortResult tells the model the result of a program that ran to its end.
func shortResult(s Step) string {
	o := s.Outcome
	if o.Submitted {
		return firstLine(s.Observation)
	}
	var b strings.Builder
	b.WriteString("The program ran to its end.")
	if o.Value != nil {
		b.WriteString(" Its value:\n" + shorten(string(o.Value), pastResult))
	}
	if text := strings.TrimSpace(o.Stdout.Text); text != "" {
		b.WriteString("\nconsole:\n" + fenced(shorten(text, pastResult)))
	}
	return b.String()
}

// messages shows the turns to the model. If they are too long, the older half is omitted. Omitting one at a time
// would change the beginning of the conversation, which providers cache, in every turn.
func (h *chatHistory) messages(p *Predictor) []message {
	var shown [][]message
	size := 0
	for i := range h.turns {
		m := h.turns[i].messages(p)
		shown = append(shown, m)
		size += bytesOf(m)
	}
	for size > h.maxBytes && len(shown) > 1 {
		half := len(shown) / 2
		for _, m := range shown[:half] {
			size -= bytesOf(m)
		}
		shown, h.turns = shown[half:], slices.Clone(h.turns[half:])
		h.leftOut += half
	}
	var list []message
	if h.leftOut > 0 {
		text := fmt.Sprintf("Not shown: %s.", plural(h.leftOut, "earlier turn"))
		list = append(list, message{role: llms.ChatMessageTypeHuman, text: text})
	}
	for _, m := range slices.Concat(shown...) {
		list = withMessage(list, m)
	}
	return list
}

// messages shows a turn to the model.
func (t *turn) messages(p *Predictor) []message {
	list := []message{p.message(question{inputs: t.Inputs}, "")}
	for _, s := range t.Programs {
		reply := programValues(replies.Program{Reasoning: s.Reasoning, Code: s.Code})
		list = append(list, exampleOf(p.form(), p.Spec, len(list), reply)...)
		if s.Result != "" {
			list = append(list, message{role: llms.ChatMessageTypeHuman, text: s.Result})
		}
	}
	return withMessage(list, message{role: llms.ChatMessageTypeHuman, text: t.End})
}
