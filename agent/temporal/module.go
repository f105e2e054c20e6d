package temporal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools"
	"go.temporal.io/sdk/client"
)

// Module returns a module whose runs are workflows of an agent, with random IDs that begin with prefix. With it,
// package evaluate runs examples on all workers, and package optimize runs candidates on them. The predictions have no
// trajectories. If the context of a run ends, its workflow is canceled.
//
// The module has copies of the predictors of the agent's module, whose paths begin with "Agent". If they are changed,
// runs send their state, as [module.Save] writes it, to the workers. A model that differs from the agent's, and a new
// PickDemos, cannot be sent, and are errors. Load puts a state that was saved into the agent's module:
//
//	err := module.Load(file, &struct{ Agent *agent.Agent }{bot})
//
// Policies in a context do not reach the workers. That is why a run with such policies, as in an evaluation, is an
// error if the agent has tools whose class is not Read: evaluate an agent whose tools are fakes of class Read.
func Module[In, Out any](a *Agent, c client.Client, prefix string) module.Module[In, Out] {
	m, _ := a.module.(module.Module[In, Out])
	return &remote[In, Out]{a, c, prefix, module.Clone(m)}
}

type remote[In, Out any] struct {
	runs   *Agent
	client client.Client
	prefix string

	// Agent is a copy of the agent's module, for what changes its predictors. It does not run.
	Agent module.Module[In, Out]
}

// Run implements [module.Module].
func (r *remote[In, Out]) Run(ctx context.Context, in In) (*module.Prediction[Out], error) {
	if r.Agent == nil {
		return nil, fmt.Errorf("temporal: the inputs or outputs are not those of %s; use those of New", r.runs.name)
	}
	all := slices.Collect(maps.Values(r.runs.tools))
	for _, b := range module.Tools(r.Agent) {
		all = append(all, b)
	}
	for _, b := range all {
		if b.Module == nil && b.Hints.Class != tools.Read && len((*tools.Set)(nil).Policies(ctx)) > 0 {
			return nil, fmt.Errorf("temporal: the policies of the context do not reach the workers of %s, but %s may "+
				"have an effect; use an agent whose tools only read", r.runs.name, b.Path())
		}
	}
	predictors, err := r.changes()
	if err != nil {
		return nil, err
	}
	run, err := r.runs.start(ctx, r.client, r.prefix+rand.Text(), in, predictors)
	if err != nil {
		return nil, err
	}
	p := &module.Prediction[Out]{}
	if err := r.runs.Result(ctx, run, &p.Output); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, r.client.CancelWorkflow(context.WithoutCancel(ctx), run.GetID(), run.GetRunID()))
		}
		return nil, err
	}
	return p, nil
}

// changes returns the state of the predictors, or nil if it is that of the agent's module.
func (r *remote[In, Out]) changes() ([]byte, error) {
	own := maps.Collect(module.Predictors(r.runs.module))
	if len(own) == 0 {
		return nil, nil
	}
	for path, p := range module.Predictors(r.Agent) {
		if o := own[path]; o != nil && reflect.ValueOf(p.Model).Comparable() && p.Model != o.Model {
			return nil, fmt.Errorf("temporal: the model of %s is not that of %s, and cannot be sent to its workers; "+
				"use an agent with this model", path, r.runs.name)
		}
	}
	var was, is bytes.Buffer
	if err := errors.Join(module.Save(&was, r.runs.module), module.Save(&is, r.Agent)); err != nil {
		return nil, fmt.Errorf("temporal: the predictors of %s: %w", r.runs.name, err)
	}
	if bytes.Equal(was.Bytes(), is.Bytes()) {
		return nil, nil
	}
	if _, err := with(r.runs.module, is.Bytes()); err != nil { // as the workers do
		return nil, fmt.Errorf("temporal: the workers of %s cannot use the predictors: %w", r.runs.name, err)
	}
	return is.Bytes(), nil
}
