package temporal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools"
	"go.temporal.io/sdk/client"
)

// Module returns a module whose runs are workflows of an agent, with random IDs that begin with prefix. With it,
// package evaluate runs examples on all workers. The predictions have no trajectories. If the context of a run ends,
// its workflow is canceled.
//
// Policies in a context do not reach the workers. That is why a run with such policies, as in an evaluation, is an
// error if the agent has tools whose class is not Read: evaluate an agent whose tools are fakes of class Read.
func Module[In, Out any](a *Agent, c client.Client, prefix string) module.Module[In, Out] {
	return &remote[In, Out]{a, c, prefix}
}

type remote[In, Out any] struct {
	agent  *Agent
	client client.Client
	prefix string
}

// Run implements [module.Module].
func (r *remote[In, Out]) Run(ctx context.Context, in In) (*module.Prediction[Out], error) {
	for path, b := range r.agent.tools {
		if b.Hints.Class != tools.Read && len((*tools.Set)(nil).Policies(ctx)) > 0 {
			return nil, fmt.Errorf("temporal: the policies of the context do not reach the workers of %s, but %s may "+
				"have an effect; use an agent whose tools only read", r.agent.name, path)
		}
	}
	run, err := r.agent.Start(ctx, r.client, r.prefix+rand.Text(), in)
	if err != nil {
		return nil, err
	}
	p := &module.Prediction[Out]{}
	if err := r.agent.Result(ctx, run, &p.Output); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, r.client.CancelWorkflow(context.WithoutCancel(ctx), run.GetID(), run.GetRunID()))
		}
		return nil, err
	}
	return p, nil
}
