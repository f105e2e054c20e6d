package module

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// read finds outputs in a reply. Outputs that are not needed, such as thoughts, may be missing or of any type: the
// answer does not depend on them, so they are not worth another question. A predictor always needs the same ones.
func (p *Predictor) read(s *Step, needed func(name string) bool) (signature.Values, error) {
	spec := p.lenient.Get(p.Spec, func() *signature.Spec {
		outputs, all := p.Spec.Outputs(), true
		for i, f := range outputs {
			if !needed(f.Name) {
				outputs[i], all = signature.Field{Name: f.Name, Description: f.Description}, false
			}
		}
		if all {
			return p.Spec
		}
		lenient, err := signature.NewSpec(p.Spec.Instructions(), p.Spec.Inputs(), outputs)
		if err != nil {
			return p.Spec
		}
		return lenient
	})
	return p.adapter().Read(spec, s.Reply, s.Truncated)
}

// explained separates the values that answer spec from those that explain them, which it returns as text.
func (p *Predictor) explained(
	spec *signature.Spec, values signature.Values,
) (outputs signature.Values, reasoning string) {
	explains := func(v signature.Value) bool {
		_, asked := p.Spec.Field(v.Name)
		_, own := spec.Field(v.Name)
		return p.Spec != spec && asked && !own
	}
	var texts []string
	for _, v := range values {
		if strings.EqualFold(v.Name, "reasoning") || explains(v) {
			texts = append(texts, replies.PlainText(v.JSON))
		}
	}
	return slices.DeleteFunc(slices.Clone(values), explains), strings.Join(texts, "\n\n")
}

// read finds the outputs of spec in the last reply, and returns them as an object. Other outputs of the predictor
// are the reasoning.
func (r *run) read(spec *signature.Spec) (raw json.RawMessage, reasoning string, err error) {
	values, err := r.predictor.read(r.last(), func(name string) bool { _, ok := spec.Field(name); return ok })
	if err != nil {
		return nil, "", err
	}
	values, reasoning = r.predictor.explained(spec, values)
	raw, err = values.MarshalJSON()
	return raw, reasoning, err
}
