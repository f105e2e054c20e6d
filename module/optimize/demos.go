package optimize

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

// labeled returns examples of Train as demos of a predictor. It leaves out examples that lack one of the predictor's
// inputs or outputs, apart from reasoning.
func (t *task) labeled(p predictor, indices []int) (demos []module.Demo) {
	for _, i := range indices {
		if d, ok := p.labeled(t.train[i]); ok && p.accepts(d) {
			demos = append(demos, t.madeOf(d, t.train[i].key))
		}
	}
	return demos
}

// labeled returns an example as a demo, and whether the example has all fields that the predictor requires.
func (p predictor) labeled(item item) (d module.Demo, ok bool) {
	var inputs, want signature.Values
	if json.Unmarshal(item.Inputs, &inputs) != nil || json.Unmarshal(item.Want, &want) != nil {
		return d, false
	}
	take := func(fields []signature.Field, from signature.Values) (taken signature.Values, ok bool) {
		for _, f := range fields {
			value, found := from.Get(f.Name)
			if found {
				taken = append(taken, signature.Value{Name: f.Name, JSON: value})
			} else if f.Required && !isReasoning(f.Name) {
				return nil, false
			}
		}
		return taken, true
	}
	asked, ok := take(p.Spec.Inputs(), inputs)
	if !ok {
		return d, false
	}
	answered, ok := take(p.Spec.Outputs(), want)
	return module.Demo{Inputs: asked, Outputs: answered}, ok && len(answered) > 0
}

func isReasoning(name string) bool { return strings.TrimSuffix(name, "_") == "reasoning" }

// traced returns the calls of a predictor in a run on an example of Train as demos.
func (t *task) traced(p predictor, o outcome) (demos []module.Demo) {
	for _, c := range o.Calls {
		d := module.Demo{Inputs: c.Inputs, Outputs: c.Outputs}
		if c.Path == p.Path && c.exemplary() && p.accepts(d) {
			demos = append(demos, t.madeOf(d, t.train[o.item].key))
		}
	}
	return demos
}

// exemplary reports whether a call can be a demo. Of the calls of a run that have a program or call a tool, only the
// first can be a demo, since later calls depend on the first.
func (c predictorCall) exemplary() bool {
	if has(c.Outputs, "code") || has(c.Outputs, "tool") {
		return c.step == 1 && !c.failed
	}
	return c.Outputs != nil && c.Problem == ""
}

// accepts reports whether a demo fits the fields of the predictor.
func (p predictor) accepts(d module.Demo) bool {
	probe := p.given.Clone()
	probe.Demos = []module.Demo{d}
	return module.Save(&bytes.Buffer{}, struct{ Predictor *module.Predictor }{probe}) == nil
}

// unfrozen returns the predictors that the search may change.
func (t *task) unfrozen() []predictor {
	return slices.DeleteFunc(slices.Clone(t.predictors), func(p predictor) bool { return p.Frozen })
}
