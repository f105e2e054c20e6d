package optimize

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
)

// labeled returns examples of Train as demos of a predictor. It leaves out repeated inputs, and examples that lack one
// of the predictor's inputs or outputs, apart from reasoning.
func (t *task) labeled(p predictor, indices []int) (demos []module.Demo) {
	for n, i := range indices {
		if d, ok := p.labeled(t.train[i]); ok && p.accepts(d) && !t.repeats(i, indices[:n]) {
			demos = append(demos, t.madeOf(d, t.train[i].key))
		}
	}
	return demos
}

// balanced returns the indices of Train in a random order in which the labels take turns, so that any part of it from
// the beginning has about equally many examples of each label.
func (t *task) balanced() []int {
	labels := t.labels()
	var groups [][]int
	groupOf := map[string]int{}
	for _, i := range t.rand.Perm(len(t.train)) {
		g, known := groupOf[labels[i]]
		if !known {
			g, groups = len(groups), append(groups, nil)
			groupOf[labels[i]] = g
		}
		groups[g] = append(groups[g], i)
	}
	var order []int
	for n := 0; len(order) < len(t.train); n++ {
		for _, group := range groups {
			if n < len(group) {
				order = append(order, group[n])
			}
		}
	}
	return order
}

// labels returns the label of each example of Train: the values of the outputs that have at most half as many different
// values as there are examples, such as enums.
func (t *task) labels() []string {
	wants, different := make([]signature.Values, len(t.train)), map[string]map[string]bool{}
	for i, item := range t.train {
		_ = json.Unmarshal(item.Want, &wants[i])
		for _, v := range wants[i] {
			if different[v.Name] == nil {
				different[v.Name] = map[string]bool{}
			}
			different[v.Name][string(v.JSON)] = true
		}
	}
	labels := make([]string, len(t.train))
	for i, want := range wants {
		for _, v := range want {
			if 2*len(different[v.Name]) <= len(t.train) {
				labels[i] += v.Name + string(v.JSON)
			}
		}
	}
	return labels
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

// traced returns the calls of a predictor in a run on an example of Train as demos. If the predictor writes programs or
// calls tools, the only demo is the shortest of its runs, without the programs that failed.
func (t *task) traced(p predictor, o outcome) (demos []module.Demo) {
	add := func(d module.Demo) {
		if p.accepts(d) {
			demos = append(demos, t.madeOf(d, t.train[o.item].key))
		}
	}
	led := map[uint64]bool{} // the runs that led to the answer
	if o.Trajectory != nil {
		for _, run := range runsIn(*o.Trajectory) {
			led[run.ID] = run.Answer() != nil
		}
	}
	runs := map[uint64][]predictorCall{}
	var order []uint64
	for _, c := range o.Calls {
		switch {
		case c.Path != p.Path || c.Outputs == nil || c.failed || !led[c.run]:
		case !c.acts():
			if c.Problem == "" {
				add(module.Demo{Inputs: c.Inputs, Outputs: c.Outputs})
			}
		default:
			if runs[c.run] == nil {
				order = append(order, c.run)
			}
			runs[c.run] = append(runs[c.run], c)
		}
	}
	slices.SortStableFunc(order, func(a, b uint64) int { return cmp.Compare(len(runs[a]), len(runs[b])) })
	for _, run := range order[:min(1, len(order))] { // the shortest
		add(wholeRun(runs[run]))
	}
	return demos
}

// acts reports whether the reply is a program or a call of a tool.
func (c predictorCall) acts() bool { return has(c.Outputs, "code") || has(c.Outputs, "tool") }

// The maximum numbers of bytes of a demo with several steps, about 2,000 tokens, of an observation in it, and of all
// demos from runs of a predictor.
const maxRun, maxObservation, maxRuns = 8000, 1500, 4 * maxRun

// wholeRun returns a run of a module that acts as a demo. If the run is too long or its steps had calls of several
// tools at once, the demo is only the last program or the first call of a tool.
func wholeRun(calls []predictorCall) module.Demo {
	first, last := calls[0], calls[len(calls)-1]
	d := module.Demo{Inputs: first.Inputs, Outputs: last.Outputs}
	size := len(d.Outputs.String())
	whole := !last.parallel
	for _, c := range calls[:len(calls)-1] {
		step := module.DemoStep{Outputs: c.Outputs, Observation: prompt.Cut(c.Problem, maxObservation)}
		size += len(step.Outputs.String()) + len(step.Observation)
		whole = whole && !c.parallel
		d.Steps = append(d.Steps, step)
	}
	switch {
	case whole && size <= maxRun:
		return d
	case has(last.Outputs, "code"):
		return module.Demo{Inputs: d.Inputs, Outputs: last.Outputs}
	}
	return module.Demo{Inputs: d.Inputs, Outputs: first.Outputs}
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
