package optimize

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// predictorCall is a call of a model by a predictor, with the reply.
type predictorCall struct {
	Path   string // of the predictor
	Inputs signature.Values

	// Outputs are the outputs of a demo that shows the reply: the outputs with the reasoning, a program, or a call of a
	// tool. They are nil if the reply could not be used.
	Outputs signature.Values

	Reasoning string
	Reply     string // the whole reply
	Problem   string // what the model was told: why the reply cannot be used, or how its program ended

	ToolCalls []sandbox.Call // the calls of tools that the reply led to, with their results

	run      uint64 // of its module
	step     int    // the number of the step in its run, from 1
	failed   bool   // whether its program failed
	parallel bool   // whether the reply called several tools; Outputs then has the first call
}

// callsIn returns the calls of models in a trajectory, in an order that does not depend on when they were made, since
// concurrent calls come in a random order. Specs are the signatures of the predictors, by path.
func callsIn(t module.Trajectory, specs map[string]*signature.Spec) (list []predictorCall) {
	var add func(module.Trajectory)
	add = func(run module.Trajectory) {
		for i, s := range run.Steps {
			if !s.Compiled && (run.ID != 0 || len(run.Runs) == 0) { // else the steps are those of the runs
				c := predictorCall{Path: s.Predictor, Inputs: run.Inputs, Reply: s.Reply, run: run.ID, step: i + 1}
				c.read(s, specs[s.Predictor])
				if i == len(run.Steps)-1 && run.Err != nil && s.Reply == "" {
					c.Problem = cmp.Or(c.Problem, run.Err.Error())
				}
				if !complete(run.Inputs, specs[s.Predictor]) {
					c.Outputs = nil
				}
				list = append(list, c)
			}
		}
		for _, r := range slices.Concat(run.Runs, run.Samples) {
			add(r)
		}
	}
	add(t)
	slices.SortStableFunc(list, func(a, b predictorCall) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Inputs.String(), b.Inputs.String()),
			cmp.Compare(a.step, b.step), strings.Compare(a.Reply, b.Reply))
	})
	return list
}

// read sets what the step did with the reply.
func (c *predictorCall) read(s module.Step, spec *signature.Spec) {
	c.Problem, c.Reasoning = s.Observation, s.Reasoning
	switch {
	case s.Outcome != nil:
		c.ToolCalls, c.failed = s.Outcome.Calls, s.Outcome.Failure != nil
	case s.Observation != "":
		return // the reply was rejected
	}
	set := func(name string, value json.RawMessage) { c.set(spec, name, value) }
	if s.Code != "" {
		set("code", quoted(s.Code))
	}
	if len(c.ToolCalls) > 0 {
		set("tool", quoted(c.ToolCalls[0].Tool))
		set("args", asked(s.Code, c.ToolCalls[0]))
		c.parallel = len(c.ToolCalls) > 1 && has(c.Outputs, "tool")
	}
	var answer signature.Values
	if s.Answer != nil && json.Unmarshal(s.Answer, &answer) == nil {
		for _, v := range answer {
			set(v.Name, v.JSON)
		}
		if !has(c.Outputs, "tool") {
			set("tool", quoted("submit"))
			set("args", s.Answer)
		}
	}
	if c.Reasoning != "" && len(c.Outputs) > 0 {
		for _, name := range []string{"reasoning", "reasoning_", "thought"} { // as the predictor calls it
			set(name, quoted(c.Reasoning))
		}
	}
}

// asked returns the arguments of the first call as the model wrote them. Policies may have changed those of the call.
func asked(code string, first sandbox.Call) json.RawMessage {
	args := first.Args
	if text, ok := strings.CutPrefix(code, first.Tool+"("); ok {
		_ = json.NewDecoder(strings.NewReader(text)).Decode(&args)
	}
	return args
}

// complete reports whether the inputs are there. The JSON of a trajectory leaves out large ones.
func complete(inputs signature.Values, spec *signature.Spec) bool {
	return spec == nil || !slices.ContainsFunc(spec.Inputs(), func(f signature.Field) bool {
		return f.Required && !has(inputs, f.Name)
	})
}

// set sets an output if the predictor has an output with this name. It keeps the outputs in the order of the fields.
func (c *predictorCall) set(spec *signature.Spec, name string, value json.RawMessage) {
	if spec == nil || value == nil {
		return
	}
	fields := spec.Outputs()
	position := func(name string) int {
		return slices.IndexFunc(fields, func(f signature.Field) bool { return f.Name == name })
	}
	if position(name) >= 0 {
		c.Outputs = append(c.Outputs.Without(name), signature.Value{Name: name, JSON: value})
		slices.SortFunc(c.Outputs, func(a, b signature.Value) int { return position(a.Name) - position(b.Name) })
	}
}

func has(values signature.Values, name string) bool {
	_, ok := values.Get(name)
	return ok
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s)
	return raw
}
