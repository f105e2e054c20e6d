package conversation

import (
	"slices"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// Past has the earlier turns of a conversation.
type Past struct {
	MaxBytes int // the approximate limit for the messages
	Turns    []Turn
	LeftOut  int // the number of omitted earlier turns
}

// Turn is a turn of a conversation, shortened for later turns.
type Turn struct {
	Inputs   signature.Values `json:"inputs"`
	Programs []PastStep       `json:"programs,omitempty"` // the programs that ran to their end
	End      string           `json:"end"`                // how the turn ended, for the model
}

// PastStep is a program and its result.
type PastStep struct {
	Reasoning string `json:"reasoning,omitempty"`
	Code      string `json:"code"`
	Result    string `json:"result"` // "" if its answer was accepted
}

// PastInputs returns an earlier turn's inputs, shortened. Images and files are only counted.
func PastInputs(spec *signature.Spec, inputs signature.Values) signature.Values {
	past := signature.Values{}
	for _, v := range inputs {
		if parts, names, err := Attachments(kindOf(spec, v), v.JSON); err == nil && len(parts) > 0 {
			v.JSON = replies.Quote(prompt.PastAttachments(len(parts), names))
		} else {
			v.JSON = prompt.PastInput(v.JSON)
		}
		past = append(past, v)
	}
	return past
}

// Messages returns the messages for the turns. If they are too long, Messages omits the older half. Omitting one turn
// at a time would change the beginning of the conversation, which providers cache, in every turn.
func (p *Past) Messages(f Formatter) []Message {
	var shown [][]Message
	size := 0
	for i := range p.Turns {
		m := p.Turns[i].messages(f)
		shown = append(shown, m)
		size += Size(m)
	}
	for size > p.MaxBytes && len(shown) > 1 {
		half := len(shown) / 2
		for _, m := range shown[:half] {
			size -= Size(m)
		}
		shown, p.Turns = shown[half:], slices.Clone(p.Turns[half:])
		p.LeftOut += half
	}
	var list []Message
	if p.LeftOut > 0 {
		list = append(list, Human(prompt.EarlierTurns(p.LeftOut)))
	}
	return Append(list, slices.Concat(shown...)...)
}

// messages returns the messages for a turn.
func (t *Turn) messages(f Formatter) []Message {
	list := []Message{f.Question(Question{Inputs: t.Inputs}, "")}
	for _, s := range t.Programs {
		reply := signature.Values{{Name: "code", JSON: replies.Quote(s.Code)}}
		if s.Reasoning != "" {
			reply = slices.Insert(reply, 0, signature.Value{Name: "reasoning", JSON: replies.Quote(s.Reasoning)})
		}
		list = append(list, f.Example(len(list), reply, s.Result)...)
	}
	return Append(list, Human(t.End))
}
