package module

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// question is a question to a model: values that are written as text, images and files, and earlier turns.
type question struct {
	inputs  signature.Values
	parts   []llms.ContentPart
	history signature.History
	past    []message // earlier turns of a chat, instead of a history
	note    string    // a note before the inputs, or ""
}

// newQuestion divides inputs by the kind of their fields. In the place of an image or a file, the text says which
// attachment it is.
func newQuestion(spec *signature.Spec, inputs signature.Values) (question, error) {
	q := question{inputs: make(signature.Values, 0, len(inputs))}
	for _, v := range inputs {
		f, _ := spec.Field(v.Name)
		if f.Kind() == signature.KindHistory {
			turns, err := signature.Turns(v.JSON)
			if err != nil {
				return q, fmt.Errorf("module: the input %q: %w", v.Name, err)
			}
			q.history = append(q.history, turns...)
			continue
		}
		parts, names, err := attachments(f.Kind(), v.JSON)
		if err != nil {
			return q, fmt.Errorf("module: the input %q: %w", v.Name, err)
		}
		if len(parts) > 0 {
			v.JSON = replies.Quote(prompt.Attachments(len(q.parts), len(parts), names))
		}
		q.parts = append(q.parts, parts...)
		q.inputs = append(q.inputs, v)
	}
	return q, nil
}

// newPreview returns the question of a module that writes programs: it shows the inputs, long ones in part.
// Programs have all of them as constants.
func newPreview(spec *signature.Spec, inputs signature.Values) (question, error) {
	q := question{inputs: prompt.Preview(inputs)}
	for i, v := range inputs {
		f, _ := spec.Field(v.Name)
		parts, names, err := attachments(f.Kind(), v.JSON)
		if err != nil {
			return q, fmt.Errorf("module: the input %q: %w", v.Name, err)
		}
		if len(parts) > 0 {
			shown := prompt.Attachments(len(q.parts), len(parts), names)
			q.inputs[i].JSON = replies.Quote(prompt.AttachmentConstant(shown, v.JSON))
			q.parts = append(q.parts, parts...)
		}
	}
	return q, nil
}

// attachments returns the images or files in a value, and the names of the files if there are any.
func attachments(kind signature.Kind, value json.RawMessage) (parts []llms.ContentPart, names []string, err error) {
	switch kind {
	case signature.KindImage:
		images, err := signature.Images(value)
		for _, i := range images {
			if i.URL != "" {
				parts = append(parts, llms.ImageURLPart(i.URL))
			} else {
				parts = append(parts, llms.BinaryPart(i.MIME, i.Data))
			}
		}
		return parts, nil, err
	case signature.KindFile:
		files, err := signature.Files(value)
		for _, f := range files {
			parts = append(parts, llms.BinaryPart(f.MIME, f.Data))
			names = append(names, cmp.Or(f.Name, "no name"))
		}
		if !slices.ContainsFunc(files, func(f signature.File) bool { return f.Name != "" }) {
			names = nil
		}
		return parts, names, err
	}
	return nil, nil, nil
}

// opening returns the first messages of a conversation: the system prompt, the demos, earlier turns, and the
// question. Messages that are the same for every question come first.
func (p *Predictor) opening(q question) ([]message, error) {
	adapter := p.adapter()
	list := make([]message, 0, 2+2*len(p.Demos)+2*len(q.history))
	list = append(list, message{role: llms.ChatMessageTypeSystem, text: p.systemPrompt()})
	for _, d := range p.Demos {
		asked, err := newQuestion(p.Spec, d.Inputs)
		if err != nil {
			return nil, err
		}
		list = append(list, p.message(asked, ""))
		list = append(list, exampleOf(adapter, p.Spec, len(list), d.Outputs)...)
	}
	for _, turn := range q.history {
		inputs, outputs := sides(p.Spec, turn)
		asked, err := newQuestion(p.Spec, inputs)
		if err != nil {
			return nil, err
		}
		list = append(list, p.message(asked, ""))
		list = append(list, exampleOf(adapter, p.Spec, len(list), outputs)...)
	}
	for _, m := range append(slices.Clip(q.past), p.message(q, p.Hint)) {
		list = withMessage(list, m)
	}
	return list, nil
}

// withMessage appends a message. Two human messages in a row are joined, since some providers require the roles to
// alternate.
func withMessage(list []message, m message) []message {
	last := len(list) - 1
	if last < 0 || m.role != llms.ChatMessageTypeHuman || list[last].role != m.role {
		return append(list, m)
	}
	list[last].text += "\n\n" + m.text
	list[last].parts = append(slices.Clip(list[last].parts), m.parts...)
	return list
}

// exampleOf returns a reply with the outputs as the n-th message. A tool call is followed by its result.
func exampleOf(a Adapter, spec *signature.Spec, n int, outputs signature.Values) []message {
	if c, calls := a.(*calling); calls {
		return c.example(n, outputs)
	}
	return []message{{role: llms.ChatMessageTypeAI, text: a.Answer(spec, outputs)}}
}

// message returns a question as a message.
func (p *Predictor) message(q question, hint string) message {
	text := p.adapter().Question(p.Spec, q.inputs)
	if q.note != "" {
		text = q.note + "\n\n" + text
	}
	if !blank(hint) {
		text = hint + "\n\n" + text
	}
	return message{role: llms.ChatMessageTypeHuman, text: text, parts: q.parts}
}

// sides divides the values of a turn into inputs and outputs.
func sides(spec *signature.Spec, turn signature.Values) (inputs, outputs signature.Values) {
	asked := map[string]bool{}
	for _, f := range spec.Inputs() {
		asked[f.Name] = true
	}
	for _, v := range turn {
		if asked[v.Name] {
			inputs = append(inputs, v)
		} else {
			outputs = append(outputs, v)
		}
	}
	return inputs, outputs
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
