package module

import (
	"slices"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// program is the form of replies of a predictor that asks for programs: the reasoning as plain text, and
// the program in one fenced block, which is what models write by themselves. An adapter of the user's,
// and fields that a program does not have, are asked for as those of any question.
type program struct{}

// form is how the predictor puts its own question: in the form of programs if that is what it asks for,
// and nothing else, or by its adapter.
func (p *Predictor) form() Adapter {
	adapter := p.adapter()
	if _, ok := adapter.(markers); !ok || p.task == nil {
		return adapter
	}
	asks := false
	for _, f := range p.Spec.Outputs() {
		switch f.Name {
		case "code":
			asks = true
		case "reasoning":
		default:
			return adapter
		}
	}
	if !asks {
		return adapter
	}
	return program{}
}

// System says what the inputs are and how to answer.
func (program) System(spec *signature.Spec, briefing string) string {
	return prompt.Program(spec, briefing)
}

// Question puts the inputs under their markers.
func (program) Question(spec *signature.Spec, inputs signature.Values) string {
	return prompt.Question(inputs, prompt.ProgramReminder(spec))
}

// Answer writes a program as the model is asked to.
func (program) Answer(_ *signature.Spec, outputs signature.Values) string {
	reasoning, explained := outputs.Get("reasoning")
	code, given := outputs.Get("code")
	text := replies.NotGiven
	if given {
		text = replies.WriteProgram(replies.PlainText(code))
	}
	if !explained {
		return text
	}
	return replies.PlainText(reasoning) + "\n\n" + text
}

// Read finds the program in a reply.
func (program) Read(_ *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	found, err := replies.ReadProgram(reply, truncated)
	if err != nil {
		return nil, readError(err)
	}
	values := signature.Values{{Name: "code", JSON: replies.Quote(found.Code)}}
	if found.Reasoning != "" {
		values = slices.Insert(values, 0, signature.Value{Name: "reasoning", JSON: replies.Quote(found.Reasoning)})
	}
	return values, nil
}
