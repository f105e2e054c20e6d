package module

import (
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/signature"
)

// opening returns the first messages of a conversation: the system prompt, the demos, earlier turns, and the
// question. Messages that are the same for every question come first.
func (p *Predictor) opening(q conversation.Question) ([]conversation.Message, error) {
	list := make([]conversation.Message, 0, 2+2*len(p.Demos)+2*len(q.History))
	list = append(list, conversation.System(p.systemPrompt()))
	earlier := slices.Clone(p.Demos)
	for _, turn := range q.History {
		inputs, outputs := conversation.Sides(p.Spec, turn)
		earlier = append(earlier, Demo{inputs, outputs})
	}
	for _, d := range earlier {
		asked, err := conversation.NewQuestion(p.Spec, d.Inputs)
		if err != nil {
			return nil, err
		}
		list = append(list, p.message(asked, ""))
		list = append(list, p.example(len(list), d.Outputs)...)
	}
	return conversation.Append(list, append(slices.Clip(q.Past), p.message(q, p.Hint))...), nil
}

// example returns a reply with the outputs as the n-th message. A tool call is followed by its result.
func (p *Predictor) example(n int, outputs signature.Values) []conversation.Message {
	adapter := p.adapter()
	if c, calls := adapter.(*conversation.Calling); calls {
		return c.Example(n, outputs)
	}
	return []conversation.Message{conversation.Model(adapter.Answer(p.Spec, outputs))}
}

// message returns a question as a message.
func (p *Predictor) message(q conversation.Question, hint string) conversation.Message {
	text := p.adapter().Question(p.Spec, q.Inputs)
	if q.Note != "" {
		text = q.Note + "\n\n" + text
	}
	if !blank(hint) {
		text = hint + "\n\n" + text
	}
	m := conversation.Human(text)
	m.Parts = q.Parts
	return m
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
