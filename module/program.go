package module

import (
	"slices"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// program is the adapter for programs: the reasoning as plain text and the program in one fenced block, which is the
// form in which models write programs by themselves.
type program struct{}

// form returns the adapter for the predictor's questions. It is program if the predictor asks for a program and
// nothing else but reasoning, and no adapter was set.
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

// System implements [Adapter].
func (program) System(spec *signature.Spec, briefing string) string {
	return prompt.Program(spec, briefing)
}

// Question implements [Adapter].
func (program) Question(spec *signature.Spec, inputs signature.Values) string {
	return prompt.Question(inputs, prompt.ProgramReminder(spec))
}

// Answer implements [Adapter].
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

// Read implements [Adapter].
func (program) Read(_ *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	found, err := replies.ReadProgram(reply, truncated)
	if err != nil {
		return nil, readError(err)
	}
	return programValues(found), nil
}

// programValues returns a program as the outputs of its predictor.
func programValues(p replies.Program) signature.Values {
	values := signature.Values{{Name: "code", JSON: replies.Quote(p.Code)}}
	if p.Reasoning != "" {
		values = slices.Insert(values, 0, signature.Value{Name: "reasoning", JSON: replies.Quote(p.Reasoning)})
	}
	return values
}
