package optimize

import (
	"encoding/json"
	"slices"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

// setKeys sets the keys of all examples.
func (t *task) setKeys() {
	for _, set := range [][]item{t.train, t.val} {
		for i := range set {
			set[i].key = t.keyOf(set[i].Inputs)
		}
	}
}

// keyOf returns the same string for equal inputs. It fills in the defaults that the predictors declare, so that inputs
// are equal even if only one of them spells out a default.
func (t *task) keyOf(inputs json.RawMessage) string {
	for _, p := range t.predictors {
		if s := p.Spec.InputSchema(); s != nil {
			inputs = s.Complete(inputs)
		}
	}
	var members signature.Values
	if json.Unmarshal(inputs, &members) == nil { // null is a missing value
		members = slices.DeleteFunc(members, func(v signature.Value) bool { return string(v.JSON) == "null" })
		inputs, _ = members.MarshalJSON()
	}
	return canonical.JSON(inputs)
}

// repeats reports whether an example of Train has the same inputs as one of the others. It takes indices in Train.
func (t *task) repeats(index int, others []int) bool {
	return slices.ContainsFunc(others, func(other int) bool { return t.train[index].key == t.train[other].key })
}

// demoKey identifies a demo.
func demoKey(d module.Demo) string {
	raw, _ := json.Marshal(d)
	return string(raw)
}

// madeOf records that d was made from the example of Train with the key, and returns d.
func (t *task) madeOf(d module.Demo, key string) module.Demo {
	demo := demoKey(d)
	if t.sources[demo] == nil {
		t.sources[demo] = map[string]bool{}
	}
	t.sources[demo][key] = true
	return d
}

// warnOfRepeats warns of examples of Val that are also in Train or among the demos of the original module. It records
// which of these demos were made from examples of Train.
func (t *task) warnOfRepeats() {
	train, demos := map[string]bool{}, map[string]bool{}
	for _, item := range t.train {
		train[item.key] = true
	}
	own := t.inputNames()
	isOther := func(v signature.Value) bool { return !own[v.Name] } // an input of an inner predictor
	for _, p := range t.predictors {
		for _, d := range p.Demos {
			inputs, _ := json.Marshal(slices.DeleteFunc(slices.Clone(d.Inputs), isOther))
			key := t.keyOf(inputs)
			if demos[key] = true; train[key] {
				t.madeOf(d, key)
			}
		}
	}
	if n := t.inVal(train); n > 0 {
		t.warn("Train has the inputs of %d of %d examples of Val, so prompts may contain the answers, and the scores "+
			"are too high; remove these examples, or split the examples with a Group for each input", n, len(t.val))
	}
	if n := t.inVal(demos); n > 0 {
		t.warn("the original module has demos with the inputs of %d of %d examples of Val, so the scores are too "+
			"high; use other examples", n, len(t.val))
	}
}

// inVal returns the number of examples of Val whose keys are in known.
func (t *task) inVal(known map[string]bool) (n int) {
	for _, item := range t.val {
		if known[item.key] {
			n++
		}
	}
	return n
}

// inputNames returns the names of the module's inputs, as far as the examples have them.
func (t *task) inputNames() map[string]bool {
	names := map[string]bool{}
	for _, item := range slices.Concat(t.train, t.val) {
		var inputs signature.Values
		_ = json.Unmarshal(item.Inputs, &inputs)
		for _, v := range inputs {
			names[v.Name] = true
		}
	}
	return names
}
