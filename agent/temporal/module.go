package temporal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"go.temporal.io/sdk/client"
)

// Module returns a module whose runs are workflows of an agent, with random IDs that begin with prefix. With it,
// package evaluate runs examples on all workers, and package optimize runs candidates on them. If the context of a run
// ends, its workflow is canceled. The budgets of the context are charged for the requests to models once a run has
// ended, but optimize.Budget is not. If the worker is lost after it has recorded the answer, the trajectory is empty.
//
// The module has copies of the predictors of the agent's module, whose paths begin with "Agent". If they are changed,
// runs send their state, as [module.Save] writes it, to the workers. A model that differs from the agent's, and a new
// PickDemos, cannot be sent, and are errors. Load puts a state that was saved into the agent's module:
//
//	err := module.Load(file, &struct{ Agent *agent.Agent }{bot})
//
// Policies in a context, such as the fakes of an evaluation, do not reach the workers. That is why a run with such
// policies is an error if the agent has tools whose class is not Read: evaluate an agent whose tools are fakes of class
// Read. Limits of the context's budgets on Steps and ToolCalls are errors, too.
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

// Run implements [module.Module]. The module that contains r gets the trajectory, even if it does not return it.
func (r *remote[In, Out]) Run(ctx context.Context, in In) (*module.Prediction[Out], error) {
	return module.Run(ctx, (*workflowOf[In, Out])(r), in)
}

type workflowOf[In, Out any] remote[In, Out]

// Run implements [module.Module].
func (w *workflowOf[In, Out]) Run(ctx context.Context, in In) (*module.Prediction[Out], error) {
	r := (*remote[In, Out])(w)
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
	if left := budget.Of(ctx).Left(); left.Steps < math.MaxInt || left.ToolCalls < math.MaxInt {
		return nil, errors.New("temporal: the limits Steps and ToolCalls of a budget do not reach the workers; " +
			"limit Calls, Tokens, Cost or Time, or give the agent a module that sets the budget")
	}
	if err := budget.Of(ctx).Err(); err != nil {
		return nil, err
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
	end, err := r.runs.result(ctx, run)
	if err == nil {
		err = r.runs.decode(ctx, end.Output, &p.Output)
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, r.client.CancelWorkflow(context.WithoutCancel(ctx), run.GetID(), run.GetRunID()))
	}
	if err != nil && end.Trajectory.Key == "" { // it has not ended
		return nil, err
	}
	if bad := r.runs.decode(ctx, end.Trajectory, &p.Trajectory); bad != nil { // the answer counts nevertheless
		p.Trajectory = module.Trajectory{Err: bad}
	}
	r.account(ctx, &p.Trajectory, maps.Collect(module.Predictors(r.Agent)))
	if err != nil {
		return nil, &module.IncompleteError{Err: err, Trajectory: p.Trajectory}
	}
	return p, nil
}

// account charges the budgets of ctx for a trajectory of the agent's module, and gives the predictors in it the paths
// that they have in the module that runs. Own has the predictors by their paths in the agent's module.
func (r *remote[In, Out]) account(ctx context.Context, t *module.Trajectory, own map[string]*module.Predictor) {
	for i, s := range t.Steps {
		name := s.Model
		if p := own[s.Predictor]; p != nil {
			name = models.CapabilitiesOf(p.Model).Model // the provider may report another one
			t.Steps[i].Predictor = module.PathOf(ctx, p)
		}
		budget.Charge(ctx, name, s.Usage)
	}
	for name, used := range t.Spent {
		budget.Charge(ctx, name, used)
	}
	for i := range t.Runs {
		r.account(ctx, &t.Runs[i], own)
	}
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
