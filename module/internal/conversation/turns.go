package conversation

import (
	"slices"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// Past has the earlier turns of a conversation.
type Past struct {
	LeftOut
	Turns []Turn
}

// Turn is a turn of a conversation, shortened for later turns.
type Turn struct {
	Inputs   signature.Values `json:"inputs"`
	Programs []PastStep       `json:"programs,omitempty"` // the programs that ran to their end
	End      string           `json:"end"`                // how the turn ended, for the model
	Record   string           `json:"record,omitempty"`   // what is kept word for word when the turn is left out
}

// PastStep is a program and its result.
type PastStep struct {
	Reasoning string `json:"reasoning,omitempty"`
	Code      string `json:"code"`
	Result    string `json:"result"` // "" if its answer was accepted
}

// Messages returns the messages for the turns, after a note about those that are left out.
func (p *Past) Messages(f Formatter) []Message {
	var list []Message
	if note := p.note(); note != "" {
		list = append(list, Human(note))
	}
	for i := range p.Turns {
		list = Append(list, p.Turns[i].messages(f)...)
	}
	return list
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
