package optimize

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/writ-go/writ/module/event"
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

// callRecorder converts the events of a run of a module, and of the runs within it, to calls.
type callRecorder struct {
	specs map[string]*signature.Spec // by path

	mu    sync.Mutex
	calls []*predictorCall
	last  map[uint64]*predictorCall // the last call of each run
}

// observe records an event.
func (r *callRecorder) observe(_ context.Context, e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := e.From()
	if e, ok := e.(event.ModelRequest); ok {
		if c := r.last[from.Run]; c != nil && c.step == from.Step {
			return // the step was repeated with a shorter prompt
		}
		c := &predictorCall{Path: e.Predictor, Inputs: e.Inputs, run: from.Run, step: from.Step}
		r.calls, r.last[from.Run] = append(r.calls, c), c
		return
	}
	if c := r.last[from.Run]; c != nil {
		r.extend(c, e)
	}
}

// extend updates a call from an event.
func (r *callRecorder) extend(c *predictorCall, e event.Event) {
	switch e := e.(type) {
	case event.ModelResponse:
		c.Reply = e.Text
		if e.Err != nil {
			c.Problem = e.Err.Error()
		}
	case event.ReplyRejected:
		c.Problem, c.Outputs = e.Observation, nil
	case event.ProgramStart:
		c.Reasoning = cmp.Or(e.Reasoning, c.Reasoning)
		r.set(c, "code", quoted(e.Code))
		r.explain(c)
	case event.ToolCallStart:
		if c.parallel = has(c.Outputs, "tool"); !c.parallel {
			r.set(c, "tool", quoted(e.Call.Tool))
			r.set(c, "args", e.Call.Args)
		}
	case event.ToolCallEnd:
		c.ToolCalls = append(c.ToolCalls, e.Call)
	case event.ProgramEnd:
		c.Problem, c.failed = e.Observation, e.Outcome != nil && e.Outcome.Failure != nil
	case event.RunEnd:
		c.Reasoning = cmp.Or(e.Reasoning, c.Reasoning)
		r.answered(c, e.Output)
	}
}

// answered completes the call that gave the answer.
func (r *callRecorder) answered(c *predictorCall, output json.RawMessage) {
	var values signature.Values
	if json.Unmarshal(output, &values) != nil {
		return
	}
	for _, v := range values {
		r.set(c, v.Name, v.JSON)
	}
	if !has(c.Outputs, "tool") {
		r.set(c, "tool", quoted("submit"))
		r.set(c, "args", output)
	}
	r.explain(c)
}

// explain sets the output that holds the reasoning, whatever name the predictor gives it.
func (r *callRecorder) explain(c *predictorCall) {
	if c.Reasoning == "" {
		return
	}
	for _, name := range []string{"reasoning", "reasoning_", "thought"} {
		r.set(c, name, quoted(c.Reasoning))
	}
}

// set sets an output if the predictor has an output with this name. It keeps the outputs in the order of the fields.
func (r *callRecorder) set(c *predictorCall, name string, value json.RawMessage) {
	spec := r.specs[c.Path]
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

// list returns the calls in an order that does not depend on when they were made, since concurrent calls come in a
// random order.
func (r *callRecorder) list() []predictorCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]predictorCall, len(r.calls))
	for i, c := range r.calls {
		list[i] = *c
		slices.SortStableFunc(list[i].ToolCalls, func(a, b sandbox.Call) int { return cmp.Compare(a.ID, b.ID) })
	}
	slices.SortStableFunc(list, func(a, b predictorCall) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Inputs.String(), b.Inputs.String()),
			cmp.Compare(a.step, b.step), strings.Compare(a.Reply, b.Reply))
	})
	return list
}

func has(values signature.Values, name string) bool {
	_, ok := values.Get(name)
	return ok
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s)
	return raw
}
