package module

import (
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// A module may ask for more than it needs: for thoughts, which make the rest
// better. A reply that lacks them, or has them in another shape, is not worth
// another question: what is thought after the answer does not change it.

// leniency is a spec, and the one by which replies are read.
type leniency struct{ spec, lenient *signature.Spec }

// read finds outputs in a reply. Those that are not needed may be missing, and
// may be anything.
func (p *Predictor) read(s *Step, needed func(name string) bool) (signature.Values, error) {
	spec, err := p.leniently(needed)
	if err != nil {
		return nil, err
	}
	return p.form().Read(spec, s.Reply, s.Truncated)
}

// leniently makes the spec once, as long as the field Spec stays the same: who
// reads the replies of a predictor always needs the same.
func (p *Predictor) leniently(needed func(name string) bool) (*signature.Spec, error) {
	if made := p.lenient.Load(); made != nil && made.spec == p.Spec {
		return made.lenient, nil
	}
	lenient, outputs, all := p.Spec, p.Spec.Outputs(), true
	for i, f := range outputs {
		if !needed(f.Name) {
			outputs[i], all = signature.Field{Name: f.Name, Description: f.Description}, false
		}
	}
	if !all {
		var err error
		if lenient, err = signature.NewSpec(p.Spec.Instructions(), p.Spec.Inputs(), outputs); err != nil {
			return nil, err
		}
	}
	p.lenient.Store(&leniency{p.Spec, lenient})
	return lenient, nil
}

// explained returns the values that answer spec, and as text those that explain
// them.
func (p *Predictor) explained(spec *signature.Spec, values signature.Values) (outputs signature.Values, reasoning string) {
	beside := func(v signature.Value) bool {
		_, asked := p.Spec.Field(v.Name)
		_, own := spec.Field(v.Name)
		return asked && !own
	}
	var texts []string
	for _, v := range values {
		if strings.EqualFold(v.Name, "reasoning") || p.Spec != spec && beside(v) {
			texts = append(texts, replies.PlainText(v.JSON))
		}
	}
	if p.Spec != spec {
		values = slices.DeleteFunc(slices.Clone(values), beside)
	}
	return values, strings.Join(texts, "\n\n")
}
